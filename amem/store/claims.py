"""Which boxes have a Chroma collection, as far as this process knows."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amem.store.chroma import ChromaIndex
    from amem.store.source import VectorSource


class Claims:
    """The ledger's table of collections, remembered between searches and held against what Chroma really has."""

    def __init__(self, source: VectorSource, limit: int) -> None:
        self._source = source
        self._limit = limit
        self._lock = threading.RLock()
        self._known: dict[str, str] | None = None
        self._settled: ChromaIndex | None = None

    def known(self) -> dict[str, str]:
        """Return the collection of each box that has one."""
        with self._lock:
            if self._known is None:
                self._known = self._source.collections()
            return self._known

    def settled(self, index: ChromaIndex) -> dict[str, str]:
        """Return the collections that `index` can serve; the first look takes lost and left ones out of the way.

        Raises:
            IndexUnavailable: Chroma fails.
        """
        with self._lock:
            if index is not self._settled:
                self._known = self._compared(index)
                self._settled = index
            return self.known()

    def claim(self, index: ChromaIndex, box: str) -> str | None:
        """Return the box's collection, making it where there is room for one more.

        Raises:
            IndexUnavailable: Chroma fails.
        """
        with self._lock:  # no search of this process may see the claim before the collection
            here = self.settled(index).get(box)
            if here is not None:
                return here
            self._known = None
            return self._begin(index, box)

    def _begin(self, index: ChromaIndex, box: str) -> str | None:
        name = self._source.claim_collection(box, self._room(index))
        if name is not None:
            index.create(name)
        return name

    def forget(self) -> None:
        """Read the ledger anew at the next question."""
        with self._lock:
            self._known = self._settled = None

    def _room(self, index: ChromaIndex) -> int:
        return min(self._limit, index.capacity)

    def _compared(self, index: ChromaIndex) -> dict[str, str]:
        there = index.names()
        lost = [box for box, name in self._source.collections().items() if name not in there]
        if lost:  # the folder was removed, or a process died between claim and collection: begin these anew
            self._source.release_collections(lost)
            for box in lost:
                self._begin(index, box)
        claims = self._source.collections()
        if not index.shared:
            for name in there.difference(claims.values()):
                index.drop(name)
        return dict(list(claims.items())[: self._room(index)])
