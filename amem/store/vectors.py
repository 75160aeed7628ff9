"""Finding notes by their vectors: through Chroma where there is one, else exactly, and always what the ledger says.

Chroma learns of changes in batches, from the outbox. What still waits there is scored from the ledger and takes the
place of whatever Chroma says about it, so a committed note is found at once, a changed one never by its old vector,
and a deleted one never at all.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from amem.errors import IndexUnavailable
from amem.store.access import ChromaAccess
from amem.store.claims import Claims
from amem.store.feed import Feed
from amem.store.matrix import Aligned, Match, Matrix, ranked
from amem.store.mirror import Mirror, Waiting

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from amem.settings import Settings
    from amem.store.chroma import ChromaIndex
    from amem.store.feed import Progress
    from amem.store.source import VectorSource

_CACHE_BYTES = 512 * 2**20
_SPARE = 16
"""Rows asked of Chroma beyond `k`, in place of those that are out of date."""
_ALIKE = 0.999
"""Cosine of a vector with itself, but for what rounding takes."""
_FEW = 500
"""Up to so many allowed ids are read one by one; above, the whole box is kept in memory."""


class Difference(NamedTuple):
    """How a box's collection differs from the ledger, but for what still waits in the outbox."""

    missing: tuple[str, ...]
    """Ids that Chroma should have."""
    ghosts: tuple[str, ...]
    """Ids that Chroma should not have."""
    differing: tuple[str, ...]
    """Ids of which Chroma has another vector."""


class VectorIndex:
    """The vectors of all boxes of one ledger. Any thread may call it; nothing is opened before it is needed."""

    def __init__(self, source: VectorSource, directory: Path, settings: Settings) -> None:
        self._source = source
        self._settings = settings
        wanted = settings.chroma and settings.max_collections > 0
        self._access = ChromaAccess(directory, settings.chroma_url) if wanted else None
        self._claims = Claims(source, settings.max_collections)
        self._feed = Feed(source, self._access, self._claims, settings.index_batch, self._drained)
        self._caching = threading.Lock()
        self._mirrors: OrderedDict[str, Mirror] = OrderedDict()
        self._waiting: dict[str, Waiting] = {}

    # -- reading ---------------------------------------------------------------------------------

    def search(
        self, box: str, vector: NDArray[np.float32], k: int, among: Collection[str] | None = None
    ) -> list[Match]:
        """Return the `k` notes of `box` nearest to `vector`, best first; `among` restricts them to some ids."""
        return self.similar(box, vector[None, :], k, among)[0]

    def similar(
        self, box: str, queries: NDArray[np.float32], k: int, among: Collection[str] | None = None
    ) -> list[list[Match]]:
        """Return for each row of `queries` the `k` nearest notes of `box`, best first."""
        if k < 1 or not len(queries):
            return [[] for _ in queries]
        if among is not None:
            return self._among(box, queries, k, among)
        serving = self._serving(box)
        if serving is not None:
            try:
                return self._through_chroma(box, *serving, queries, k)
            except IndexUnavailable as error:
                self._failed(error)
        return self._mirror(box).top(queries, k)

    def search_exact(self, box: str, vector: NDArray[np.float32], k: int) -> list[Match]:
        """Return what an exact search over the ledger's vectors finds."""
        return self._mirror(box).top(vector[None, :], k)[0]

    def cosines(self, box: str, ids: Sequence[str], query: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the exact cosine of each note of `box`, in order; NaN where it has no vector."""
        known = self.all_cosines(box, Aligned(ids), query)
        if known is None:
            some = Matrix()
            some.put(*self._source.vectors_of(ids))
            known = some.cosines(Aligned(ids), query)
        return known

    def all_cosines(self, box: str, ids: Aligned, query: NDArray[np.float32]) -> NDArray[np.float64] | None:
        """Return the same for all notes of a box at once, or None where the box is too large to be held in memory."""
        return self._mirror(box).cosines(ids, query) if self._is_small(box) else None

    def vectors(self, ids: Sequence[str]) -> tuple[list[str], np.ndarray]:
        """Return the ledger's vectors of those `ids` that have one, in order."""
        return self._source.vectors_of(ids)

    def how(self, box: str) -> str:
        """Say how `box` is searched: `chroma`, or `exact: <why>`."""
        if self._access is None:
            return "exact: Chroma is switched off"
        if self._access.why is not None:
            return f"exact: {self._access.why}"
        claims = self._claims.known()
        if self._is_small(box):
            return f"exact: the box has at most {self._settings.exact_up_to} vectors"
        if box in claims:
            return "chroma"
        if len(claims) >= self._settings.max_collections:
            return f"exact: {len(claims)} other boxes have the collections there are"
        return f"exact: the box gets a collection when {self._settings.index_batch} notes wait for it"

    def difference(self, box: str) -> Difference | None:
        """Compare a box's collection with the ledger, id by id; None where Chroma does not serve the box."""
        serving = self._serving(box, small=True)
        if serving is None:
            return None
        before = self._awaited(box)
        try:
            there, differing = self._compared(*serving)
        except IndexUnavailable as error:
            self._failed(error)
            return None
        wanted = self._mirror(box).ids()
        waiting = before | self._awaited(box)  # others write while this compares
        return Difference(
            missing=tuple(sorted(wanted - there - waiting)),
            ghosts=tuple(sorted(there - wanted - waiting)),
            differing=tuple(sorted(differing - waiting)),
        )

    def _awaited(self, box: str) -> set[str]:
        """Return the ids about which Chroma is not to be believed."""
        return self._overlay(box).overlay(np.zeros((0, 1), dtype=np.float32), 0)[1]

    def _compared(self, index: ChromaIndex, name: str) -> tuple[set[str], set[str]]:
        """Return the ids that a collection has, and those of them with another vector than the ledger's."""
        there: set[str] = set()
        differing: set[str] = set()
        for ids, found in index.rows(name):
            there.update(ids)
            known, vectors = self._source.vectors_of(ids)
            places = {note_id: place for place, note_id in enumerate(ids)}
            rows = found[[places[note_id] for note_id in known]]
            if rows.shape != vectors.shape:
                differing.update(known)
                continue
            alike = np.einsum("ij,ij->i", rows, vectors) >= _ALIKE
            differing.update(note_id for note_id, same in zip(known, alike, strict=True) if not same)
        return there, differing

    @property
    def damage(self) -> str | None:
        """Why Chroma is given up until it is rebuilt; None where it is not."""
        return None if self._access is None else self._access.damage

    def distrust(self) -> None:
        """Have Chroma looked at from a child process before it is opened here, as after a crash."""
        if self._access is not None:
            self._access.distrust()

    def _through_chroma(
        self, box: str, index: ChromaIndex, name: str, queries: NDArray[np.float32], k: int
    ) -> list[list[Match]]:
        # The outbox is read first: a row drained in between is then known twice, never not at all.
        fresh, stale = self._overlay(box).overlay(queries, k)
        found = index.query(name, queries, k + min(len(stale), _SPARE))
        good = _without(found, stale)
        if len(stale) > _SPARE and any(len(some) < k for some in good):
            good = _without(index.query(name, queries, k + len(stale)), stale)
        return [ranked([*old, *new], k) for old, new in zip(good, fresh, strict=True)]

    def _among(self, box: str, queries: NDArray[np.float32], k: int, among: Collection[str]) -> list[list[Match]]:
        if len(among) > _FEW:
            return self._mirror(box).top(queries, k, among)
        few = Matrix()
        few.put(*self._source.vectors_of(sorted(among)))
        return few.top(queries, k)

    def _serving(self, box: str, *, small: bool = False) -> tuple[ChromaIndex, str] | None:
        """Return the open Chroma and the box's collection, or None where the box is searched exactly.

        With `small`, a box that is only searched exactly for being small counts as well.
        """
        if self._access is None or box not in self._claims.known() or (not small and self._is_small(box)):
            return None
        try:
            index = self._access.get()
            name = None if index is None else self._claims.settled(index).get(box)
        except IndexUnavailable as error:
            self._failed(error)
            return None
        return None if index is None or name is None else (index, name)

    def _is_small(self, box: str) -> bool:
        """Whether the box is searched exactly for being small: that is faster than Chroma, and never wrong."""
        limit = self._settings.exact_up_to
        with self._caching:
            mirror = self._mirrors.get(box)
        if mirror is not None and len(mirror):
            return len(mirror) <= limit
        return self._source.has_at_most(box, limit)

    # -- writing ---------------------------------------------------------------------------------

    def drain(self, box: str | None = None, *, force: bool = False) -> int:
        """Tell Chroma what waits in the outbox; return how many rows were done.

        A box is due when a whole batch waits, and one batch is done a call; `force` does everything. A failure
        costs nothing but time: the rows stay until Chroma has taken them.
        """
        return self._feed.drain(box, force=force)

    def put(self, box: str, rows: int) -> int:
        """Have Chroma told where `rows` rows at most came into a box's outbox: it is, when a whole batch waits."""
        return self._feed.put(box, rows)

    def rebuild(self, progress: Progress | None = None) -> int:
        """Make Chroma anew from the ledger; return how many vectors it was given.

        Raises:
            IndexUnavailable: Chroma is switched off, open in another process, or fails.
        """
        return self._feed.rebuild(progress)

    def close(self) -> None:
        """Close Chroma and let other processes have it; what waits in the outbox waits on."""
        if self._access is not None:
            self._access.close()
        self._forget()

    def end(self) -> None:
        """Close Chroma, and never open it again."""
        if self._access is not None:
            self._access.end()
        self._forget()

    def _forget(self) -> None:
        with self._caching:
            self._mirrors.clear()
            self._waiting.clear()

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Keep Chroma closed in this process meanwhile; it is opened again at next need, and asked what it has."""
        with self._feed.paused(), nullcontext() if self._access is None else self._access.closed():
            yield
            self._claims.forget()

    def _failed(self, error: IndexUnavailable) -> None:
        if self._access is not None:
            self._access.failed(error)

    # -- copies in memory ------------------------------------------------------------------------

    def _mirror(self, box: str) -> Mirror:
        with self._caching:
            mirror = self._mirrors.setdefault(box, Mirror(self._source, box))
            self._mirrors.move_to_end(box)
            while len(self._mirrors) > 1 and sum(m.nbytes for m in self._mirrors.values()) > _CACHE_BYTES:
                self._mirrors.popitem(last=False)
            return mirror

    def _overlay(self, box: str) -> Waiting:
        with self._caching:
            return self._waiting.setdefault(box, Waiting(self._source, box))

    def _drained(self, box: str) -> None:
        with self._caching:
            self._waiting.pop(box, None)


def _without(found: list[list[Match]], stale: set[str]) -> list[list[Match]]:
    return [[match for match in some if match.note_id not in stale] for some in found]
