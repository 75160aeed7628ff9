from __future__ import annotations

import pytest

from amem.interfaces.cli.shipped import benchmarks_module

refusal = benchmarks_module("metrics.refusal")
locomo = benchmarks_module("metrics.locomo")
official = benchmarks_module("metrics.official")
overlap = benchmarks_module("metrics.overlap")
data = benchmarks_module("datasets.locomo")


@pytest.mark.parametrize(
    "answer",
    [
        "Not mentioned in the conversation",
        "No information available.",
        "I don't know.",
        "I don’t know (none of the above)",
        "We do not really know that.",
        "It isn't clear from the context.",
        "The notes do not say.",
        "I don't have enough information to answer.",
        "That was never mentioned.",
        "There is no specific mention of a car.",
        "This cannot be determined.",
        "Unknown",
        "n/a",
    ],
)
def test_an_answer_that_says_nothing_is_known_is_a_refusal(answer):
    assert refusal.refuses(answer)


@pytest.mark.parametrize(
    "answer",
    ["", "No", "No, she sold it.", "red", "the unknown soldier", "He was not there.", "nothing", "Ana has no car",
     "information about boats"],
)  # fmt: skip
def test_any_other_answer_is_none(answer):
    assert not refusal.refuses(answer)


def test_what_the_official_code_takes_for_a_refusal_is_one():
    assert all(refusal.refuses(phrase) for phrase in official.REFUSALS)


def test_falling_into_a_trap_is_saying_it_and_not_refusing():
    assert refusal.trapped("It was the red boat.", "Red boat")
    assert not refusal.trapped("It was green.", "red boat")
    assert not refusal.trapped("A red boat is not mentioned.", "red boat")


def test_refusals_are_counted_by_whether_there_was_an_answer():
    found = refusal.refusals([(False, True)] * 3 + [(False, False)] + [(True, True)] * 2 + [(True, False)] * 6)
    assert (found.rightly_refused, found.wrongly_answered, found.wrongly_refused, found.answered) == (3, 1, 2, 6)
    assert (found.precision, found.recall, found.false_refusals) == (3 / 5, 3 / 4, 2 / 8)


def test_shares_of_nothing_are_none():
    found = refusal.refusals([])
    assert (found.precision, found.recall, found.false_refusals) == (None, None, None)


def question(category, answer=None, trap=None):
    return data.Question(
        index=3, question="?", category=category, answer=answer, adversarial_answer=trap, evidence=("D1:1",)
    )


def test_an_answer_to_an_answerable_question_has_both_families_of_scores():
    found = locomo.score("conv-1", question(4, "a red boat"), "red boats", overlap.Scorer())
    assert (found.conversation, found.index, found.category, found.answerable) == ("conv-1", 3, 4, True)
    assert found.official == 1.0
    assert found.overlap.f1 == pytest.approx(2 / 5)
    assert (found.refused, found.trapped, found.amem_c5_inverted) == (False, None, None)


def test_t39_a_right_answer_that_is_a_number_is_met_by_that_number_and_zero_is_an_answer():
    for number in ("2022", "0"):
        found = locomo.score("conv-26", question(2, number), number, overlap.Scorer())
        assert (found.official, found.overlap.f1, found.refused) == (1.0, 1.0, False)


def test_the_adversarial_category_is_scored_the_right_way_round_and_the_other_has_its_own_name():
    trap, refused = (
        locomo.score("conv-1", question(5, trap="a red boat"), said, overlap.Scorer())
        for said in ("a red boat", "Not mentioned in the conversation")
    )
    assert (trap.official, trap.trapped, trap.refused, trap.amem_c5_inverted) == (0.0, True, False, 1.0)
    assert (refused.official, refused.trapped, refused.refused, refused.amem_c5_inverted) == (1.0, False, True, 0.0)
    assert trap.overlap is refused.overlap is None
    assert not trap.answerable


def test_scores_hold_no_text():
    found = locomo.score("conv-1", question(4, "zebra"), "giraffe", overlap.Scorer()).model_dump_json()
    assert "zebra" not in found
    assert "giraffe" not in found
