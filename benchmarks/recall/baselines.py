"""What recall is compared with: well-known ways of ranking the same notes by the same words and vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .bm25 import BM25

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NAMES = ("bm25", "dense", "rrf_60", "rrf_10", "min_max")
"""BM25, the cosine, reciprocal rank fusion of both (Cormack, Clarke and Büttcher 2009) with k = 60 and k = 10, and the
sum of both scores, each stretched to 0…1 over all notes."""


class Baselines:
    """The baselines over the notes of one box."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._bm25 = BM25(texts)

    def rankings(self, question: str, cosines: Floats) -> dict[str, list[int]]:
        """Return each baseline's places of notes, best first, ties in order of place.

        Args:
            question: what is asked.
            cosines: of each note with the question; NaN where a note has no vector.
        """
        lexical = self._bm25.scores(question)
        known = ~np.isnan(cosines)
        dense = np.where(known, cosines, cosines[known].min() if known.any() else 0.0)
        by_words, by_vector = ranked(lexical, only=lexical > 0), ranked(dense, only=known)
        anyone = np.ones(len(dense), dtype=bool)
        return {
            "bm25": by_words.tolist(),
            "dense": by_vector.tolist(),
            "rrf_60": ranked(fused([by_words, by_vector], len(dense), k=60), anyone).tolist(),
            "rrf_10": ranked(fused([by_words, by_vector], len(dense), k=10), anyone).tolist(),
            "min_max": ranked(stretched(lexical) + stretched(dense), anyone).tolist(),
        }


def ranked(scores: Floats, only: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return places by score, best first; those outside `only` are left out."""
    order = np.argsort(-scores, kind="stable")
    return order[only[order]]


def fused(rankings: Sequence[NDArray[np.int64]], count: int, *, k: int) -> Floats:
    """Return for each place the sum of 1 / (k + rank) over the rankings that have it."""
    total = np.zeros(count)
    for places in rankings:
        total[places] += 1.0 / (k + np.arange(1, len(places) + 1))
    return total


def stretched(scores: Floats) -> Floats:
    """Return scores moved and scaled to 0…1; all 0 where they are equal."""
    low, high = (scores.min(), scores.max()) if len(scores) else (0.0, 0.0)
    return np.asarray((scores - low) / (high - low) if high > low else np.zeros_like(scores))
