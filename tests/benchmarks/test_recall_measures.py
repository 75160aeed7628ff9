from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amem.interfaces.cli.shipped import benchmarks_module

measures = benchmarks_module("recall.measures")
turns = benchmarks_module("recall.turns")
bootstrap = benchmarks_module("recall.bootstrap")


def line(turn, tokens, text=""):
    return measures.Line((turn,) if isinstance(turn, str) else tuple(turn), text, tokens)


def worth(lines, evidence, answer=None):
    return measures.worth([one.turns for one in lines], lines, evidence, answer)


def test_recall_is_the_share_of_the_evidence_among_the_first_k():
    ranked = [line(f"t{place}", 10) for place in range(30)]
    found = worth(ranked, ["t0", "t7", "t12", "t29"])
    assert found.recall_at == (1 / 4, 2 / 4, 3 / 4)  # at 5, 10 and 20


def test_a_note_of_several_turns_takes_a_place_for_each_of_them():
    ranked = [line(["a", "b", "c", "d"], 10), line(["c", "e"], 10), line("f", 10)]
    assert worth(ranked, ["e"]).recall_at[0] == 1.0
    assert worth(ranked, ["f"]).recall_at == (0.0, 1.0, 1.0)


def test_within_a_budget_lines_count_up_to_the_first_that_does_not_fit():
    ranked = [line("a", 300), line("b", 200), line("c", 501), line("d", 1)]
    assert worth(ranked, ["a"]).recall_within == (1.0, 1.0, 1.0)
    assert worth(ranked, ["b"]).recall_within == (1.0, 1.0, 1.0)  # 500 of 500
    assert worth(ranked, ["c"]).recall_within == (0.0, 0.0, 1.0)  # 1,001 of 1,000
    assert worth(ranked, ["d"]).recall_within == (0.0, 0.0, 1.0)  # though it would have fitted in


def test_lines_beyond_the_largest_budget_are_never_read():
    def lines():
        yield line("a", 2000)
        yield line("b", 1)
        raise AssertionError

    assert measures.worth([("a",), ("b",)], lines(), ["b"], None).recall_within == (0.0, 0.0, 0.0)


def test_a_ranking_of_nothing_finds_nothing():
    assert worth([], ["a"]) == ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), None)


def test_an_answer_is_in_the_context_where_its_words_stand_in_a_row():
    ranked = [line("a", 400, "[1] 2023-05-08 Ana: It's the Red boat."), line("b", 400, "[2] Ben: a harbour")]
    assert worth(ranked, ["a"], "red boat").answer_within == (True, True, True)
    assert worth(ranked, ["a"], "harbour").answer_within == (False, True, True)
    assert worth(ranked, ["a"], "boat red").answer_within == (False, False, False)
    assert worth(ranked, ["a"]).answer_within is None


@pytest.mark.parametrize(
    ("text", "answer", "said"),
    [
        ("She has a dog.", "the dog", True),
        ("She has dogs.", "dog", False),
        ("cherry, and plum", "cherry plum", True),
        ("anything", "the", False),
        ("anything", "", False),
    ],
)
def test_case_punctuation_and_articles_are_passed_over(text, answer, said):
    assert measures.says(text, answer) is said


@given(st.lists(st.integers(0, 900), max_size=12), st.sets(st.integers(0, 12), min_size=1))
def test_more_places_and_more_tokens_never_find_less(tokens, wanted):
    ranked = [line(str(place), cost) for place, cost in enumerate(tokens)]
    found = worth(ranked, [str(place) for place in wanted])
    assert list(found.recall_at) == sorted(found.recall_at)
    assert list(found.recall_within) == sorted(found.recall_within)


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


def test_the_interval_draws_whole_conversations():
    # Two conversations of 0 and 1: a draw of two of them has the mean 0, ½ or 1, each end a quarter of the time.
    assert bootstrap.interval([0, 0, 1, 1], ["a", "a", "b", "b"]) == (0.0, 1.0)
    assert bootstrap.interval([0.5] * 4, ["a", "a", "b", "b"]) == (0.5, 0.5)
    assert bootstrap.interval([0, 1], ["a", "a"]) is None


def test_the_interval_is_the_same_every_time():
    values, of = [0.1, 0.5, 0.9, 0.3, 0.7, 0.2], list("abcabc")
    assert bootstrap.interval(values, of) == bootstrap.interval(values, of)
