from __future__ import annotations

import math

import numpy as np
import pytest

from amem.interfaces.cli.shipped import benchmarks_module

bm25 = benchmarks_module("recall.bm25")
baselines = benchmarks_module("recall.baselines")

TEXTS = ["Ana painted a boat", "the boats of Ana", "Ben sings", "painting, painting and paint"]


def test_words_are_stemmed_as_in_the_ledger_and_stop_words_are_dropped():
    assert bm25.stems(["The Boats were painted", "", "naïve boat"]) == [["boat", "paint"], [], ["naiv", "boat"]]


def test_bm25_is_what_the_formula_says():
    # "boat" is in two of four texts of 3, 2, 2 and 3 words without stop words; idf = ln(1 + 2.5 / 2.5).
    scores = bm25.BM25(TEXTS, k1=1.2, b=0.75).scores("boats?")
    idf = math.log(2)
    expected = [idf * 2.2 / (1 + 1.2 * (0.25 + 0.75 * length / 2.5)) for length in (3, 2)]
    assert scores == pytest.approx([*expected, 0, 0])


def test_a_word_said_again_counts_in_a_text_and_not_in_a_question():
    index = bm25.BM25(TEXTS)
    assert index.scores("paint")[3] > index.scores("paint")[0] > 0
    assert index.scores("paint paints painting").tolist() == index.scores("paint").tolist()


@pytest.mark.parametrize("texts", [[], ["the"], ["", ""]])
def test_bm25_of_nothing_is_nothing(texts):
    assert bm25.BM25(texts).scores("boat").tolist() == [0.0] * len(texts)


def test_reciprocal_ranks_add_up_over_the_rankings_that_have_a_note():
    fused = baselines.fused([np.array([2, 0]), np.array([0, 1, 2])], 4, k=60)
    assert fused == pytest.approx([1 / 62 + 1 / 61, 1 / 62, 1 / 61 + 1 / 63, 0])


def test_scores_are_stretched_to_the_unit_interval():
    assert baselines.stretched(np.array([2.0, 4.0, 3.0])).tolist() == [0.0, 1.0, 0.5]
    assert baselines.stretched(np.array([2.0, 2.0])).tolist() == [0.0, 0.0]
    assert baselines.stretched(np.zeros(0)).tolist() == []


def test_each_baseline_ranks_in_its_own_way():
    texts, cosines = ["boat boat", "boat ship", "ship", "car"], np.array([np.nan, 0.1, 0.2, 0.9])
    rankings = baselines.Baselines(texts).rankings("boat", cosines)
    assert rankings["bm25"] == [0, 1]
    assert rankings["dense"] == [3, 2, 1]
    assert rankings["rrf_60"] == [1, 0, 3, 2]  # 1/62 + 1/63, 1/61, 1/61, 1/62
    assert rankings["min_max"] == [0, 3, 1, 2]  # 1 + 0, 0 + 1, less than 1 + 0, 0 + 1/8
    assert set(rankings) == set(baselines.NAMES)


def test_a_small_k_trusts_the_first_ranks_more():
    first_and_thirtieth = [0, *range(10, 17), 1, *range(17, 40)]
    eighth_twice = [*range(10, 17), 1, *range(17, 38), 0]
    rankings = [np.array(first_and_thirtieth), np.array(eighth_twice)]
    large, small = (baselines.fused(rankings, 50, k=k) for k in (60, 10))
    assert large[1] > large[0]
    assert small[0] > small[1]
