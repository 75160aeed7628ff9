"""`python -m soak`: says round by round what happens; the last line is the number of violations."""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from .rounds import Soak


def main():
    given = argparse.ArgumentParser(prog="soak", description=__doc__)
    given.add_argument("--seconds", type=float, default=60.0)
    given.add_argument("--seed", type=int, default=1)
    given.add_argument("--workers", type=int, default=3)
    given.add_argument("--longest", type=float, default=5.0, help="seconds of the longest round")
    given.add_argument("--no-chroma", action="store_true")
    options = given.parse_args()
    print(f"soak of {options.seconds:g} s, seed {options.seed}, {options.workers} workers", flush=True)
    with tempfile.TemporaryDirectory(prefix="amem-soak-") as directory:
        soak = Soak(
            Path(directory), options.seed, lambda line: print(line, flush=True),
            workers=options.workers, longest=options.longest, chroma=not options.no_chroma,
        )  # fmt: skip
        totals = soak.run(options.seconds)
    done = ", ".join(f"{count} {verb}" for verb, count in sorted(totals.operations.items()))
    print(f"{totals.rounds} rounds, {totals.operations.total()} operations ({done})")
    print(f"{totals.kills} kills, {totals.faults} model faults, {totals.damages} damages to Chroma")
    print(f"{totals.checked} invariants checked")
    print(f"{len(totals.violations)} violations")
    return 1 if totals.violations else 0


if __name__ == "__main__":
    sys.exit(main())
