from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amem.interfaces.cli.shipped import benchmarks_module

dialsim = benchmarks_module("metrics.dialsim")

OPTIONS = ["Crumb Street", "Owl Hours", "Pine", "Pine Road", "I don't know. (None of the above)"]


@pytest.mark.parametrize(
    ("answer", "right", "verdict"),
    [
        ("(A)", "A", "correct"),
        ("It is (A), Crumb Street.", "A", "correct"),
        ("(A) or (B)", "A", "ambiguous"),
        ("(A), not (b)", "A", "ambiguous"),
        ("(A) (a)", "A", "correct"),
        ("(a)", "A", "wrong"),
        ("Crumb Street", "A", "wrong"),
        ("I don't know.", "E", "wrong"),
        ("(B) or (C)", "A", "wrong"),
        ("", "A", "wrong"),
    ],
)
def test_the_strict_verdict_is_the_simulators(answer, right, verdict):
    assert dialsim.strict(answer, right) == verdict


@pytest.mark.parametrize(
    ("answer", "option"),
    [
        ("(A)", "A"),
        ("(a) crumb street", "A"),
        ("crumb street!", "A"),
        ("Pine Road", "D"),
        ("It was Pine.", "C"),
        ("Crumb Street, not Pine Road", None),
        ("(A) or (B)", None),
        ("(A) or (B): the answer is (B)", "B"),
        ("[Answer] (A) [Explanation] it says (B) elsewhere", "A"),
        ("I don't know.", "E"),
        ("None of the options fit", "E"),
        ("The history does not provide this.", "E"),
        ("Elsewhere", None),
        ("", None),
    ],
)
def test_the_lenient_verdict_takes_an_answer_for_what_it_means(answer, option):
    assert dialsim.chosen(answer, OPTIONS) == option
    assert [letter for letter in dialsim.LETTERS if dialsim.lenient(answer, letter, OPTIONS)] == [option] * bool(option)


@given(st.text(alphabet="(ABCDEabcde) or", max_size=16), st.sampled_from("ABCDE"))
def test_what_is_right_strictly_is_right_leniently(answer, right):
    if dialsim.strict(answer, right) == "correct":
        assert dialsim.lenient(answer, right, OPTIONS)


def test_free_answers_are_compared_as_they_are_or_by_their_words():
    assert dialsim.strict_text("Pine Road.", "Pine Road")
    assert not dialsim.strict_text("It was Pine Road", "Pine Road")
    assert dialsim.lenient_text("It was pine road", "Pine Road")
    assert dialsim.lenient_text("That was never said.", "I don't know.")
    assert not dialsim.lenient_text("Pine Road", "I don't know.")
    assert not dialsim.lenient_text("I don't know whether it was Pine Road", "Pine Road")
