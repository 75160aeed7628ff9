from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amem.errors import InputError
from amem.interfaces.cli.shipped import benchmarks_module

overlap = benchmarks_module("metrics.overlap")
libraries = benchmarks_module("metrics.libraries")
sbert = benchmarks_module("metrics.sbert")

TEXTS = st.text(alphabet="abcABN ,.!?'’-1é\n", max_size=24)


@pytest.fixture(scope="module")
def scorer():
    return overlap.Scorer()


def test_f1_is_of_sets_of_words_without_stemming():
    assert overlap.set_f1("dogs dogs dogs", "two dogs") == pytest.approx(2 / 3)
    assert overlap.set_f1("the dog", "dogs") == 0.0
    assert overlap.set_f1("Well... yes!", "yes, well?") == 1.0
    assert overlap.set_f1("...", "...") == 0.0


def test_t41_f1_and_bleu_1_have_the_published_codes_values(scorer):
    for said, wanted, f1 in (
        ("the the the", "the cat", 2 / 3), ("May 7th, 2023", "7 May 2023", 2 / 3), ("2023-05-07", "7 May 2023", 0.0),
        ("U.S.", "us", 0.0), ("", "x", 0.0),
    ):  # fmt: skip
        assert scorer.score(said, wanted).f1 == pytest.approx(f1)
    assert scorer.score("adoption", "adoption agencies").bleu1 == pytest.approx(0.3679, abs=5e-5)
    assert scorer.score("the adoption agencies in town", "adoption agencies").bleu1 == pytest.approx(0.4)


def test_nothing_said_or_nothing_expected_shares_nothing(scorer):
    for said, wanted in (("", "red"), ("red", ""), (" ", "red"), ("", "")):
        found = scorer.score(said, wanted)
        assert not any(value for value in found.model_dump().values() if value is not None)


def test_one_right_word_has_meteor_one_half_and_bleu_4_below_1(scorer):
    found = scorer.score("red", " Red ")
    assert (found.exact_match, found.f1, found.rouge1, found.bleu1) == (1.0, 1.0, 1.0, 1.0)
    assert found.meteor_nowordnet == 0.5
    assert found.bleu4 < 1.0
    assert found.rouge2 == 0.0


def test_rouge_stems_and_cuts_at_hyphens_where_f1_does_not(scorer):
    found = scorer.score("well known boats", "well-known boat")
    assert found.rouge1 == 1.0
    assert found.f1 == 0.0


@settings(deadline=None, max_examples=60)
@given(TEXTS, TEXTS)
def test_every_score_lies_between_0_and_1(said, wanted):
    found = overlap.Scorer().score(said, wanted)
    assert all(0.0 <= value <= 1.0 + 1e-12 for value in found.model_dump().values() if value is not None)


def test_a_library_that_is_not_installed_is_an_error_that_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "rouge_score", None)
    with pytest.raises(InputError, match=r"pip install 'amem\[bench\]'"):
        libraries.library("rouge_score")


async def test_similarity_is_the_cosine_by_amems_embedder_whose_name_goes_with_it():
    from amem.embedding import HashEmbedder

    pairs = [("a red boat", " a red boat"), ("a red boat", "chess"), ("", " "), ("chess", "a red boat")]
    found = await sbert.similarities(pairs, HashEmbedder())
    assert found.values[0] == pytest.approx(1.0)
    assert found.values[1] == found.values[3] < 0.9
    assert found.values[2] == 0.0
    assert (found.embedder, found.fingerprint) == ("hash", "hash-256-v1")
    assert (await sbert.similarities([], HashEmbedder())).values == ()
