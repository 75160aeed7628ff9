"""Vectors of one box in memory: a matrix that grows in place, searched exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

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


class Growing:
    """A table of numbers to which rows are added at the end, in place for as long as there is room."""

    def __init__(self, width: int, kind: type[np.generic]) -> None:
        self._rows = np.zeros((0, width), dtype=kind)
        self._used = 0

    @property
    def values(self) -> NDArray[Any]:
        """The rows so far; they stay as they are when more are added."""
        return self._rows[: self._used]

    def extend(self, rows: Sequence[Sequence[float]]) -> None:
        """Add rows."""
        wanted = self._used + len(rows)
        if wanted > len(self._rows):
            larger = np.zeros((max(wanted, 2 * len(self._rows), 16), self._rows.shape[1]), dtype=self._rows.dtype)
            larger[: self._used] = self.values
            self._rows = larger
        self._rows[self._used : wanted] = rows
        self._used = wanted


class Aligned:
    """Ids in an order of the caller's, and where a matrix has them: looked up again only when it has more of them."""

    def __init__(self, ids: Sequence[str]) -> None:
        self.ids = ids
        self._known: tuple[Matrix, int, NDArray[np.int64]] | None = None

    def places(self, matrix: Matrix) -> NDArray[np.int64]:
        """Return the place of each id in the matrix, -1 where it is not there."""
        known = self._known
        if known is None or known[0] is not matrix or known[1] != len(matrix):
            known = self._known = (matrix, len(matrix), matrix.places(self.ids))
        return known[2]


class Matrix:
    """Rows of length 1 by note id, in no particular order; an id keeps its place."""

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

    def places(self, ids: Sequence[str]) -> NDArray[np.int64]:
        """Return the place of each id, -1 where there is no row."""
        return np.array([self._place.get(note_id, -1) for note_id in ids], dtype=np.int64)

    def cosines(self, ids: Aligned, query: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the cosine of each id's row, in order; NaN where there is no row."""
        places = ids.places(self)
        found = np.full(len(places), np.nan)
        there = places >= 0
        wanted = places[there]
        if 2 * len(wanted) > len(self):  # to copy half of the rows takes longer than to multiply all of them
            found[there] = _dots(self._rows[: len(self)], query)[wanted]
        elif len(wanted):
            found[there] = _dots(self._rows[wanted], query)
        return found

    @staticmethod
    def _best(ids: Sequence[str], rows: NDArray[np.float32], queries: NDArray[np.float32], k: int) -> list[list[Match]]:
        if not ids or k < 1:
            return [[] for _ in queries]
        # Row by row: the product of two matrices would run on all processors, and wait for the busiest of them.
        return [_top(ids, np.vecdot(rows, query), k) for query in queries]


def _dots(rows: NDArray[np.float32], query: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the rounded product of each row with the query."""
    return np.asarray(np.round(np.vecdot(rows, query), _DIGITS), dtype=np.float32)


def _top(ids: Sequence[str], scores: NDArray[np.float32], k: int) -> list[Match]:
    if k < len(scores):
        # Every row that ties with the last place stays in, so that ids and not row numbers choose among them.
        last = np.partition(scores, len(scores) - k)[len(scores) - k]
        places = np.flatnonzero(scores >= last - 2 * 10.0**-_DIGITS).tolist()  # all that may tie once they are rounded
    else:
        places = list(range(len(scores)))
    return ranked((Match(ids[place], round(float(scores[place]), _DIGITS)) for place in places), k)


def ranked(matches: Iterable[Match], k: int) -> list[Match]:
    """Return the `k` best matches, best first, equal ones by id."""
    return sorted(matches, key=lambda match: (-match.similarity, match.note_id))[:k]


def similarity(distance: float) -> float:
    """Return the cosine behind a cosine distance, rounded as everything here."""
    return round(1.0 - distance, _DIGITS)
