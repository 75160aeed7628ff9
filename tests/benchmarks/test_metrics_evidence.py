from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amem.interfaces.cli.shipped import benchmarks_module

evidence = benchmarks_module("metrics.evidence")


def line(turn, tokens, text=""):
    return evidence.Line((turn,) if isinstance(turn, str) else tuple(turn), text, tokens)


def worth(lines, wanted, answer=None, **options):
    return evidence.worth([one.turns for one in lines], lines, wanted, answer, **options)


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

    assert evidence.worth([("a",), ("b",)], lines(), ["b"], None).recall_within == (0.0, 0.0, 0.0)


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
    assert evidence.says(text, answer) is said


@given(st.lists(st.integers(0, 900), max_size=12), st.sets(st.integers(0, 12), min_size=1))
def test_more_places_and_more_tokens_never_find_less(tokens, wanted):
    ranked = [line(str(place), cost) for place, cost in enumerate(tokens)]
    found = worth(ranked, [str(place) for place in wanted])
    assert list(found.recall_at) == sorted(found.recall_at)
    assert list(found.recall_within) == sorted(found.recall_within)


def test_other_places_and_budgets_can_be_asked_for():
    ranked = [line(f"t{place}", 10) for place in range(30)]
    found = worth(ranked, ["t0", "t2"], ks=(1, 3), budgets=(9, 10, 30))
    assert (found.recall_at, found.recall_within) == ((0.5, 1.0), (0.0, 0.5, 1.0))


def test_the_reciprocal_rank_is_that_of_the_first_evidence_among_distinct_turns():
    turns = [("a", "b"), ("b",), ("c",), ("d",)]
    assert evidence.reciprocal_rank(turns, ["c", "d"]) == 1 / 3
    assert evidence.reciprocal_rank(turns, ["a"]) == 1.0
    assert evidence.reciprocal_rank(turns, ["z"]) == 0.0
    assert evidence.reciprocal_rank(turns, ["d"], limit=3) == 0.0
