"""The soak: real processes do everything to one memory at once, and are killed; what is left is looked at each time.

    PYTHONPATH=tests python -m soak --seconds 1200

`worker` does random things and writes down what was acknowledged; `oracle` knows from these journals what must be
there and what must not; `inspector` opens what was left and compares; `rounds` starts, kills and damages.
"""
