"""Copies of a box's vectors in memory, in step with the ledger whoever writes to it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from amem.store.matrix import Matrix

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from amem.store.matrix import Aligned, Match
    from amem.store.source import VectorSource

    Tops = list[list[Match]]

_SLACK = 1024


class Mirror:
    """All vectors of a box. Every look first fetches what was written since the last; a removal reads all anew."""

    def __init__(self, source: VectorSource, box: str) -> None:
        self._source = source
        self._box = box
        self._lock = threading.Lock()
        self._matrix = Matrix()
        self._revision = 0
        self._epoch: int | None = None

    @property
    def nbytes(self) -> int:
        """What it takes in memory."""
        return self._matrix.nbytes

    def top(self, queries: NDArray[np.float32], k: int, among: Iterable[str] | None = None) -> Tops:
        """Return the `k` best for each query, best first; `among` restricts the ids."""
        with self._lock:
            self._follow()
            if among is None:
                return self._matrix.top(queries, k)
            return self._matrix.top_among(among, queries, k)

    def cosines(self, ids: Aligned, query: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the cosine of each id, in order; NaN where it has no vector."""
        with self._lock:
            self._follow()
            return self._matrix.cosines(ids, query)

    def __len__(self) -> int:
        return len(self._matrix)

    def ids(self) -> set[str]:
        """Return the ids of all vectors."""
        with self._lock:
            self._follow()
            return set(self._matrix.ids)

    def _follow(self) -> None:
        revision, epoch = self._source.box_state(self._box)
        if epoch != self._epoch or self._overgrown():
            self._matrix = Matrix()
            self._revision = self._load(revision)
            self._epoch = epoch
        elif revision != self._revision:
            ids, vectors, reached = self._source.vectors_since(self._box, self._revision)
            self._matrix.put(ids, vectors)
            self._revision = max(revision, reached)

    def _load(self, revision: int) -> int:
        """Read everything anew; return the revision that was read."""
        ids, vectors, reached = self._source.vectors_since(self._box, 0)
        self._matrix.put(ids, vectors)
        return max(revision, reached)

    def _overgrown(self) -> bool:
        return False


class Waiting(Mirror):
    """The vectors that Chroma does not have yet, and the ids of which it has an old one or should have none."""

    def __init__(self, source: VectorSource, box: str) -> None:
        super().__init__(source, box)
        self._gone: set[str] = set()
        self._enough = 0

    def overlay(self, queries: NDArray[np.float32], k: int) -> tuple[Tops, set[str]]:
        """Return the `k` best for each query, and all ids about which Chroma is not to be believed."""
        with self._lock:
            self._follow()
            return self._matrix.top(queries, k), self._gone.union(self._matrix.ids)

    def _load(self, revision: int) -> int:
        rows = self._source.outbox(self._box)
        latest = {row.note_id: row.vector for row in rows}
        self._gone = {note_id for note_id, vector in latest.items() if vector is None}
        kept = {note_id: vector for note_id, vector in latest.items() if vector is not None}
        if kept:
            self._matrix.put(list(kept), np.stack(list(kept.values())))
        self._enough = 2 * len(kept) + _SLACK
        return revision  # read before the rows: what came between is fetched once more, which does no harm

    def _overgrown(self) -> bool:
        """Another process may be draining what is collected here, as with a Chroma server."""
        return len(self._matrix) > self._enough
