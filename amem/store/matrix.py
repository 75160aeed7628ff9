"""Vectors of one box in memory: a matrix that grows in place, searched exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

_DIGITS = 6
"""Similarities are rounded, since the last bits depend on where a row stands; equal texts then tie, and ids decide."""


class Match(NamedTuple):
    """A note and its cosine to the query."""

    note_id: str
    similarity: float


class Matrix:
    """Rows of length 1 by note id, in no particular order."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._place: dict[str, int] = {}
        self._rows: NDArray[np.float32] = np.zeros((0, 0), dtype=np.float32)

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, note_id: object) -> bool:
        return note_id in self._place

    @property
    def ids(self) -> list[str]:
        """The ids it holds."""
        return list(self._ids)

    @property
    def nbytes(self) -> int:
        """What its rows take in memory."""
        return int(self._rows.nbytes)

    def put(self, ids: Sequence[str], vectors: NDArray[np.float32]) -> None:
        """Add rows, or replace those of ids it has."""
        if not ids:
            return
        self._reserve(len(self._ids) + sum(note_id not in self._place for note_id in set(ids)), vectors.shape[1])
        for note_id in ids:
            if note_id not in self._place:
                self._place[note_id] = len(self._ids)
                self._ids.append(note_id)
        self._rows[[self._place[note_id] for note_id in ids]] = vectors

    def _reserve(self, count: int, dimension: int) -> None:
        if count <= len(self._rows):
            return
        rows = np.zeros((max(count, 2 * len(self._rows), 16), dimension), dtype=np.float32)
        if self._ids:
            rows[: len(self._ids)] = self._rows[: len(self._ids)]
        self._rows = rows

    def top(self, queries: NDArray[np.float32], k: int) -> list[list[Match]]:
        """Return the `k` best rows for each query, best first."""
        return self._best(self._ids, self._rows[: len(self._ids)], queries, k)

    def top_among(self, wanted: Iterable[str], queries: NDArray[np.float32], k: int) -> list[list[Match]]:
        """Return the `k` best for each query among the `wanted` ids that are here."""
        places = sorted(self._place[note_id] for note_id in wanted if note_id in self._place)
        return self._best([self._ids[place] for place in places], self._rows[places], queries, k)

    def cosines(self, ids: Sequence[str], query: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the cosine of each id's row, in order; NaN where there is no row."""
        found = np.full(len(ids), np.nan)
        there = [(at, self._place[note_id]) for at, note_id in enumerate(ids) if note_id in self._place]
        if there:
            at, places = zip(*there, strict=True)
            found[list(at)] = _dots(self._rows[list(places)], query)
        return found

    @staticmethod
    def _best(ids: Sequence[str], rows: NDArray[np.float32], queries: NDArray[np.float32], k: int) -> list[list[Match]]:
        if not ids or k < 1:
            return [[] for _ in queries]
        return [_top(ids, _dots(rows, query), k) for query in queries]


def _dots(rows: NDArray[np.float32], query: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the rounded product of each row with the query.

    Row by row: the product of two matrices would run on all processors, and wait for the busiest of them.
    """
    return np.asarray(np.round(np.vecdot(rows, query), _DIGITS), dtype=np.float32)


def _top(ids: Sequence[str], scores: NDArray[np.float32], k: int) -> list[Match]:
    if k < len(scores):
        # Every row that ties with the last place stays in, so that ids and not row numbers choose among them.
        last = np.partition(scores, len(scores) - k)[len(scores) - k]
        places = np.flatnonzero(scores >= last).tolist()
    else:
        places = list(range(len(scores)))
    return ranked((Match(ids[place], round(float(scores[place]), _DIGITS)) for place in places), k)


def ranked(matches: Iterable[Match], k: int) -> list[Match]:
    """Return the `k` best matches, best first, equal ones by id."""
    return sorted(matches, key=lambda match: (-match.similarity, match.note_id))[:k]


def similarity(distance: float) -> float:
    """Return the cosine behind a cosine distance, rounded as everything here."""
    return round(1.0 - distance, _DIGITS)
