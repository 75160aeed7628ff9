from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amem.interfaces.cli.shipped import benchmarks_module

official = benchmarks_module("metrics.official")

TEXTS = st.text(alphabet="abctheADN ,.;'’-1é", max_size=24)


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("The Boat, and a Dog!", "boat dog"),
        ("red,green", "redgreen"),
        ("theatre", "theatre"),
        ("Ilse’s – boat's", "ilse’s – boats"),
        ("  a \n an\tthe ", ""),
    ],
)
def test_case_punctuation_articles_and_white_space_are_taken_away(text, normal):
    assert official.normalise(text) == normal


def test_words_are_compared_by_their_stems_as_often_as_both_have_them():
    assert official.f1("She was sailing boats", "sailed a boat") == pytest.approx(2 * 2 / (4 + 2))
    assert official.f1("boat boat boat", "two boats") == pytest.approx(2 / 5)
    assert official.f1("boat boat", "two boats, three boats") == pytest.approx(2 * 2 / (2 + 4))
    assert official.f1("", "boat") == official.f1("boat", "") == official.f1("", "") == 0.0


def test_an_answer_of_several_parts_takes_the_best_part_for_each():
    assert official.multi_f1("rowing, chess", "chess, baking, rowing, fencing") == 0.5
    assert official.multi_f1("chess", "chess,") == 0.5  # the empty part counts


def test_categories_are_scored_each_in_its_way():
    said, answer = "chess, rowing", "rowing; or rather, chess, if at all"
    assert official.score(1, said, answer) == official.multi_f1(said, answer)
    assert official.score(2, said, answer) == official.score(4, said, answer) == official.f1(said, answer)
    assert official.score(3, said, answer) == official.f1(said, "rowing")


@pytest.mark.parametrize(
    ("said", "score"),
    [("That is NOT MENTIONED here.", 1.0), ("No information available", 1.0), ("I do not know", 0.0), ("red", 0.0)],
)
def test_an_adversarial_question_is_answered_right_by_refusing_and_by_nothing_else(said, score):
    assert official.score(5, said, "red") == score
    assert official.score(5, said, None) == score


def test_the_mean_rounds_each_score_to_three_places_first():
    assert official.mean([2 / 3, 2 / 3, 0.0]) == pytest.approx(0.667 * 2 / 3, abs=1e-12)
    assert official.mean([]) == 0.0


def test_exact_match_looks_at_the_words_in_any_order():
    assert official.exact_match("7 May, the 2023", "May 7 2023")
    assert not official.exact_match("boats", "boat")


@given(TEXTS, TEXTS, st.integers(1, 5))
def test_every_score_lies_between_0_and_1(said, answer, category):
    assert 0.0 <= official.score(category, said, answer) <= 1.0
    assert official.f1(said, answer) == official.f1(answer, said)


@given(TEXTS)
def test_the_right_answer_itself_has_1_if_anything_is_left_of_it(text):
    assert official.f1(text, text) == (1.0 if official.normalise(text) else 0.0)
