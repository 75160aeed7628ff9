from __future__ import annotations

from amem.interfaces.cli.shipped import benchmarks_module

turns = benchmarks_module("recall.turns")


def test_a_distilled_note_stands_for_the_turns_behind_the_notes_it_cites():
    class Note:
        def __init__(self, *sources):
            self.sources = sources

    notes = {"n1": Note("c/D1:1"), "n2": Note("c/D1:2"), "n3": Note("n1", "n2", "c/D1:2"), "n4": Note("n5"),
             "n5": Note("n4")}  # fmt: skip
    assert turns.turns_of(notes) == {
        "n1": ("c/D1:1",),
        "n2": ("c/D1:2",),
        "n3": ("c/D1:1", "c/D1:2"),
        "n4": (),
        "n5": (),
    }
