"""From the outbox into Chroma: in batches, as often as one likes, and nothing is ticked off before Chroma has it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from amem.errors import IndexUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager

    from amem.store.access import ChromaAccess
    from amem.store.chroma import ChromaIndex
    from amem.store.claims import Claims
    from amem.store.source import VectorSource, WaitingRow

    Progress = Callable[[int, int], None]

_AMENDS = 3
_EFFORT = 4
_HOLES = 1000


class Feed:
    """Brings what waits to where it belongs; one thread at a time."""

    def __init__(
        self,
        source: VectorSource,
        access: ChromaAccess | None,
        claims: Claims,
        batch: int,
        drained: Callable[[str], None],
    ) -> None:
        self._source = source
        self._access = access
        self._claims = claims
        self._batch = batch
        self._drained = drained
        self._turn = threading.Lock()
        self._credit: dict[str, int] = {}

    def paused(self) -> AbstractContextManager[bool]:
        """Keep everything where it is meanwhile."""
        return self._turn

    def put(self, box: str, rows: int) -> int:
        """Do whole batches that wait of a box into whose outbox about `rows` rows were put; return how many rows.

        Four rows are done for each that was put, at most, so that neither a backlog nor a collection made anew holds up
        whoever writes. And as counting what waits costs as much as a look-up, it is done only for a batch's worth.
        """
        done = 0
        self._credit[box] = self._credit.get(box, 0) + _EFFORT * rows
        while self._credit[box] >= self._batch:
            self._credit[box] -= self._batch
            count = self.drain(box, force=False)
            done += count
            if not count:
                self._credit[box] = 0
        return done

    def drain(self, box: str | None, *, force: bool) -> int:
        """Do one batch of each box where a whole one waits, or everything; return how many rows were done."""
        access = self._access
        if access is not None and access.why is not None and not access.may_return:
            return 0
        done = 0
        with self._turn:
            for name, size in self._source.outbox_sizes(box).items():
                if not force and size < self._batch:
                    continue
                try:
                    done += self._drain_box(name, everything=force)
                except IndexUnavailable as error:
                    if access is not None:
                        access.failed(error)
                    break
        return done

    def rebuild(self, progress: Progress | None) -> int:
        """Begin Chroma anew and give it everything; return how many vectors that were."""
        if self._access is None:
            raise IndexUnavailable("Chroma is switched off, so there is nothing to rebuild. Nothing was changed")
        with self._turn:
            old = self._source.collections()
            index = self._access.fresh()
            try:
                for name in old.values():
                    index.drop(name)
                self._source.release_collections()
                self._claims.forget()
                for box in self._source.boxes():
                    if self._claims.claim(index, box) is None:
                        break
                return self._drain_all(progress)
            except IndexUnavailable as error:
                self._access.failed(error)
                raise

    def _drain_all(self, progress: Progress | None) -> int:
        sizes = self._source.outbox_sizes()
        total, done = sum(sizes.values()), 0
        for box in sizes:
            while count := self._drain_box(box):
                done += count
                if progress is not None:
                    progress(done, max(done, total))
        return done

    def _drain_box(self, box: str, *, everything: bool = False) -> int:
        index = self._index_for(box)
        if index is None and (self._access is not None or box in self._source.collections()):
            return 0  # these rows are for whoever can open Chroma
        done = 0
        while rows := self._source.outbox(box, limit=self._batch):
            # Asked after the rows were read: a collection that came since has its own rows for all of them.
            name = self._source.collections().get(box)
            if name is not None and index is None:
                break
            dropped = 0
            if name is not None and index is not None:
                dropped = _deliver(index, name, rows, self._source)
            holes = self._source.outbox_done(box, [row.seq for row in rows], holes=dropped)
            done += len(rows)
            if name is not None and index is not None and self._worn(index, box, holes):
                self._drop(index, box, name)
                break
            if not everything:
                break
        if done:
            self._drained(box)
        return done

    def _worn(self, index: ChromaIndex, box: str, holes: int) -> bool:
        """Whether a collection has more holes than vectors: its file would grow for ever, and its searches slow down.

        On a server other processes search it, so there it stays.
        """
        return not index.shared and holes > _HOLES and self._source.has_at_most(box, holes)

    def _drop(self, index: ChromaIndex, box: str, name: str) -> None:
        """Let a box go without its collection; the next batch begins another, and puts all vectors into the outbox."""
        self._source.release_collections([box])
        self._claims.forget()
        index.drop(name)

    def _index_for(self, box: str) -> ChromaIndex | None:
        index = None if self._access is None else self._access.get(retry=True)
        if index is not None:
            self._claims.claim(index, box)
        return index


def _deliver(index: ChromaIndex, name: str, rows: Sequence[WaitingRow], source: VectorSource) -> int:
    """Make Chroma's entries for the rows' notes what the ledger has; a note that waits twice is told once.

    Returns:
        How many places in the collection's graph have become useless.
    """
    dropped = 0
    latest = {row.note_id: row for row in rows}
    gone = [note_id for note_id, row in latest.items() if row.vector is None]
    kept = {note_id: row.vector for note_id, row in latest.items() if row.vector is not None}
    if gone:
        dropped += index.delete(name, gone)
    if kept:
        filters = [latest[note_id].filters for note_id in kept]
        dropped += index.upsert(name, list(kept), np.stack(list(kept.values())), filters)
    if index.shared:
        _amend(index, name, {i: (v, latest[i]) for i, v in kept.items()}, source)
    return dropped


def _amend(index: ChromaIndex, name: str, told: dict[str, tuple[np.ndarray, WaitingRow]], source: VectorSource) -> None:
    """Look again, since a slower process may have overwritten on the server what a faster one knew better.

    Whoever writes last has looked after writing, so what stands there in the end is the ledger's.
    """
    for _ in range(_AMENDS):
        ids, vectors = source.vectors_of(list(told))
        now = dict(zip(ids, vectors, strict=True))
        gone = [note_id for note_id in told if note_id not in now]
        moved = [note_id for note_id in ids if not np.array_equal(now[note_id], told[note_id][0])]
        if gone:
            index.delete(name, gone)
        if moved:
            rows = np.stack([now[note_id] for note_id in moved])
            index.upsert(name, moved, rows, [told[note_id][1].filters for note_id in moved])
        if not gone and not moved:
            return
        told = {note_id: (now[note_id], told[note_id][1]) for note_id in moved}
