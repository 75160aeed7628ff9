from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from amem.workbench.labelled import DateCase, EvolutionCase, load
from amem.workbench.scoring import (
    balanced_accuracy,
    best_threshold,
    date_resolved,
    evidence_recall,
    evolution_verdict,
    facts_kept,
    false_claims,
    mean,
    stands_in,
    wilson,
)

MOVED = next(case for case in load(EvolutionCase) if case.id == "evolution-001")  # a reunion moves to the rowing club
STAYS = next(case for case in load(EvolutionCase) if not case.change)


def test_wilsons_interval_is_the_one_of_the_books():
    found = wilson(8, 10)
    assert (found.value, found.count) == (0.8, 10)
    assert (found.low, found.high) == pytest.approx((0.4902, 0.9433), abs=1e-4)


def test_of_no_cases_nothing_is_known():
    assert (wilson(0, 0).low, wilson(0, 0).high) == (0.0, 1.0)
    assert (mean([]).low, mean([]).high) == (0.0, 1.0)


@given(st.integers(0, 60), st.integers(1, 60))
@example(0, 3)
def test_a_share_lies_in_its_interval_and_the_interval_between_nothing_and_all(hits, more):
    found = wilson(hits, hits + more)
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_saying_always_yes_is_worth_one_half():
    truth = [True] * 8 + [False] * 2
    assert balanced_accuracy(truth, [True] * 10).overall.value == 0.5
    assert balanced_accuracy(truth, truth).overall.value == 1.0


def test_balanced_accuracy_is_the_mean_of_the_two_shares_and_says_both():
    found = balanced_accuracy([True, True, False, False], [True, False, False, False])
    assert (found.related.value, found.unrelated.value, found.overall.value) == (0.5, 1.0, 0.75)
    assert (found.related.count, found.unrelated.count, found.overall.count) == (2, 2, 4)


def test_more_cases_make_the_interval_narrower():
    def width(times: int) -> float:
        found = balanced_accuracy([True, True, False, False] * times, [True, False, False, True] * times).overall
        return found.high - found.low

    assert width(25) < width(5) < width(1)


def test_truth_and_answers_must_be_as_many():
    with pytest.raises(ValueError, match="longer than"):
        balanced_accuracy([True], [True, False])


def test_the_best_threshold_is_looked_for_in_both_directions():
    truth = [True, True, False, False]
    assert best_threshold(truth, [0.9, 0.8, 0.2, 0.1]) == 1.0
    assert best_threshold(truth, [0.1, 0.2, 0.8, 0.9]) == 1.0
    assert best_threshold(truth, [0.5, 0.5, 0.5, 0.5]) == 0.5
    assert best_threshold(truth, [0.9, 0.1, 0.2, 0.1]) == 0.75


def test_the_interval_of_a_mean_is_the_same_every_time_and_narrower_with_more_cases():
    few, many = mean([0.0, 0.5, 1.0]), mean([0.0, 0.5, 1.0] * 12)
    assert few == mean([0.0, 0.5, 1.0])
    assert 0 <= few.low < many.low < few.value == many.value < many.high < few.high <= 1
    assert mean([0.5, 0.5]).low == mean([0.5, 0.5]).high == 0.5


@pytest.mark.parametrize(
    ("text", "wording"),
    [
        ("The OPERATION went well", "operation"),
        ("The operation went well", "operat*"),
        ("He won\u2019t apply", "*n't"),
        ("Straße", "STRASSE"),
        ("the  rowing\nclub", "rowing club"),
        ("花店を開く", "花店"),
        ("병원에서 만났다", "병원"),
        ("في الميناء", "*ميناء*"),
        ("paid ５０ euros", "50"),
        ("signed R. L. again", "R. L."),
    ],
)
def test_a_wording_is_found(text, wording):
    assert stands_in(text, wording)


@pytest.mark.parametrize(
    ("text", "wording"),
    [
        ("cooperation", "operat*"),
        ("operations", "operation"),
        ("now", "no"),
        ("2018", "18"),
        ("anything", "*"),
    ],
)
def test_a_part_of_another_word_is_not_taken_for_it(text, wording):
    assert not stands_in(text, wording)


def test_a_fact_is_kept_if_one_of_its_wordings_stands_there():
    facts = (("four", "4"), ("Friday",), ("sold",))
    assert facts_kept("4 tickets for friday", facts) == (True, True, False)
    assert false_claims("the house was sold", ("has sold", "was sold")) == ("was sold",)


def test_a_context_that_tells_both_is_right():
    found = evolution_verdict(MOVED, "The reunion on 14 June moves from the Old Mill to the rowing club.")
    assert (found.changed, found.wrong, found.missed) == (True, False, False)
    assert all(found.new)
    assert all(found.kept)


def test_a_context_that_forgets_what_was_is_wrong():
    found = evolution_verdict(MOVED, "The reunion is in the rowing club.")
    assert found.wrong
    assert all(found.new)
    assert found.kept == (False, False)


@pytest.mark.parametrize("context", [None, "", MOVED.older.context, f" {MOVED.older.context.upper()} "])
def test_the_old_context_again_is_no_change_and_here_a_missed_one(context):
    found = evolution_verdict(MOVED, context)
    assert (found.changed, found.wrong, found.missed) == (False, False, True)


def test_keywords_that_are_new_are_a_change_and_known_ones_are_none():
    assert not evolution_verdict(STAYS, None, [STAYS.older.keywords[0].upper(), *STAYS.older.tags]).changed
    assert evolution_verdict(STAYS, None, ["flood"]).wrong
    assert evolution_verdict(STAYS, "Something else entirely.").wrong
    assert not evolution_verdict(STAYS, None).wrong


def test_any_of_the_expected_dates_resolves_a_case_in_its_own_language():
    weekend = next(case for case in load(DateCase) if len(case.expected) == 2)
    assert date_resolved("on Sunday, 5 May 2024", weekend)
    assert date_resolved("on 4 May", weekend)
    assert not date_resolved("on 6 May 2024", weekend)
    polish = next(case for case in load(DateCase) if case.language == "pl" and case.granularity == "day")
    assert date_resolved("2 maja 2024", polish)


def test_evidence_recall_is_the_share_of_distinct_turns_and_unknown_without_any():
    assert evidence_recall(["a", "b", "b"], ["b", "c"]) == 0.5
    assert evidence_recall([], ["b"]) is None
