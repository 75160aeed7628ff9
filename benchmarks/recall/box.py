"""Asking one box questions: recall's ranking and the baselines', over the same notes and vectors."""

from __future__ import annotations

from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from amem.errors import EmbeddingError
from amem.filters import Filter
from amem.memory import AsyncMemory
from amem.recall.features import Question as Query
from amem.recall.reconstruction import recollection
from amem.recall.search import rank, search
from amem.recall.timefocus import time_focus
from amem.render import long_date

from .baselines import Baselines
from .reader import Reader
from .report import CUES_ALONE, OURS, WITH_CUES, Asked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray

    from amem.embedding import Embedder
    from amem.model import Note
    from amem.recall.search import Ranked, Recollect
    from amem.rooms import Rooms

    from ..datasets.conversation import Question  # noqa: TID252 - in a wheel, this package has another name
    from .options import Options

    Vector = NDArray[np.float32]

_PAGE = 1000


class Timed:
    """An embedder that remembers what it gave last, and how long that took."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.name = inner.name
        self.fingerprint = inner.fingerprint
        self.last: Vector | None = None
        self.seconds = 0.0

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._inner.dimension

    async def embed(self, texts: Sequence[str]) -> Vector:
        """Embed texts."""
        self.last = None
        start = perf_counter()
        self.last = await self._inner.embed(texts)
        self.seconds = perf_counter() - start
        return self.last


class Searched(NamedTuple):
    """A question, searched for as users do it."""

    query: Query
    now: datetime
    vector: Vector
    seconds: dict[str, float]


class Box:
    """A box whose notes are known, with the baselines over them; asking changes nothing in it."""

    def __init__(self, rooms: Rooms, name: str, notes: Sequence[Note]) -> None:
        self.name = name
        self.notes = notes
        self._embedder = Timed(rooms.embedder)
        self._rooms = replace(rooms, embedder=self._embedder)
        self._ids = [note.id for note in notes]
        evolved = rooms.ledger.evolved_contexts(self._ids)
        self.reader = Reader({note.id: note for note in notes}, evolved, rooms.tokenizer)
        self._baselines = Baselines([f"{long_date(note.occurred_at)} {rooms.render(note)}" for note in notes])

    @classmethod
    async def read(cls, rooms: Rooms, name: str) -> Box:
        """Read the notes of a box that are not archived."""
        memory = AsyncMemory(rooms, name, owner=False)
        page = await memory.list(limit=_PAGE)
        notes = list(page.notes)
        while page.next is not None:
            page = await memory.list(limit=_PAGE, after=page.next)
            notes += page.notes
        box = cls(rooms, name, notes)
        await box.search("warm up", rooms.now())  # the first search reads the layout and the vectors
        return box

    async def ask(self, question: Question, options: Options) -> Asked:
        """Ask a question."""
        found = await self.search(question.question, options.now or question.at)
        start = perf_counter()
        ranked = self.rank(found, weights=options.weights(), candidates=options.limit())
        seconds = found.seconds | {"rank": perf_counter() - start}
        rankings = {OURS: ids_of(ranked, ranked.rows), **self._baselines_for(found)}
        if options.reconstruct:
            recollect = recollection(self._rooms, found.query, found.now)
            ranked = self.rank(found, weights=options.weights(), candidates=options.limit(), recollect=recollect)
            assert ranked.remembered is not None
            rankings[WITH_CUES] = ids_of(ranked, ranked.rows)
            rankings[CUES_ALONE] = ids_of(ranked, ranked.remembered.rows)
        worth = {name: self.reader.worth(ids, question) for name, ids in rankings.items()}
        return Asked(question.conversation, question.category, worth, seconds)

    async def search(self, question: str, now: datetime) -> Searched:
        """Search for ten notes, and take the time of each stage.

        Raises:
            EmbeddingError: the question could not be embedded, so that only words would be searched.
        """
        start = perf_counter()
        await search(self._rooms, [self.name], question, k=10, given=Filter(), now=now)
        seconds = perf_counter() - start
        vectors = self._embedder.last
        if vectors is None:
            raise EmbeddingError(f"the question {question!r} could not be embedded. Nothing was measured.")
        embedding = self._embedder.seconds
        query = Query(question, time_focus(question, now))
        return Searched(query, now, vectors[0], {"embed": embedding, "search": seconds - embedding})

    def rank(
        self, found: Searched, *, weights: Mapping[str, float], candidates: int, recollect: Recollect | None = None
    ) -> Ranked:
        """Rank the box's notes by some weights."""
        query, vector = found.query, found.vector
        return rank(
            self._rooms, self.name, query, vector, Filter(),
            weights=weights, candidates=candidates, recollect=recollect,
        )  # fmt: skip

    def _baselines_for(self, found: Searched) -> dict[str, list[str]]:
        cosines = self._rooms.index.cosines(self.name, self._ids, found.vector)
        rankings = self._baselines.rankings(found.query.text, cosines)
        return {name: [self._ids[place] for place in places] for name, places in rankings.items()}


def ids_of(ranked: Ranked, rows: NDArray[np.int64]) -> list[str]:
    """Return the ids of rows."""
    return [ranked.view.ids[row] for row in rows]
