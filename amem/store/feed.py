"""From the outbox into Chroma: in batches, as often as one likes, and nothing is ticked off before Chroma has it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from amem.errors import IndexUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from amem.store.access import ChromaAccess
    from amem.store.chroma import ChromaIndex
    from amem.store.claims import Claims
    from amem.store.source import VectorSource, WaitingRow

    Progress = Callable[[int, int], None]

_AMENDS = 3


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
            if name is not None and index is not None:
                _deliver(index, name, rows, self._source)
            self._source.outbox_done([row.seq for row in rows])
            done += len(rows)
            if not everything:
                break
        if done:
            self._drained(box)
        return done

    def _index_for(self, box: str) -> ChromaIndex | None:
        index = None if self._access is None else self._access.get(retry=True)
        if index is not None:
            self._claims.claim(index, box)
        return index


def _deliver(index: ChromaIndex, name: str, rows: Sequence[WaitingRow], source: VectorSource) -> None:
    """Make Chroma's entries for the rows' notes what the ledger has; a note that waits twice is told once."""
    latest = {row.note_id: row for row in rows}
    gone = [note_id for note_id, row in latest.items() if row.vector is None]
    kept = {note_id: row.vector for note_id, row in latest.items() if row.vector is not None}
    if gone:
        index.delete(name, gone)
    if kept:
        filters = [latest[note_id].filters for note_id in kept]
        index.upsert(name, list(kept), np.stack(list(kept.values())), filters)
    if index.shared:
        _amend(index, name, {i: (v, latest[i]) for i, v in kept.items()}, source)


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
