"""Asking one box its questions: recall's ranking and the baselines', over the same notes and vectors."""

from __future__ import annotations

from asyncio import to_thread
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from amem.errors import EmbeddingError
from amem.filters import Filter
from amem.memory import AsyncMemory
from amem.recall.features import Question as Query
from amem.recall.packing import line
from amem.recall.search import rank
from amem.recall.timefocus import time_focus
from amem.render import long_date

from .baselines import Baselines
from .measures import Line, worth
from .report import OURS, Asked
from .turns import turn_id, turns_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from amem.embedding import Embedder
    from amem.model import Note
    from amem.rooms import Rooms

    from ..datasets.locomo import Conversation, Question
    from .options import Options

_PAGE = 1000


class Timed:
    """An embedder that remembers what it gave last, and how long that took."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.name = inner.name
        self.fingerprint = inner.fingerprint
        self.last: NDArray[np.float32] | None = None
        self.seconds = 0.0

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._inner.dimension

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts."""
        self.last = None
        start = perf_counter()
        self.last = await self._inner.embed(texts)
        self.seconds = perf_counter() - start
        return self.last


class Box:
    """A box whose notes are known, with the baselines over them."""

    def __init__(self, rooms: Rooms, embedder: Timed, name: str, notes: Sequence[Note], options: Options) -> None:
        self.memory = AsyncMemory(rooms, name, owner=False)
        self.turns = turns_of({note.id: note for note in notes})
        self._rooms = rooms
        self._embedder = embedder
        self._options = options
        self._notes = {note.id: note for note in notes}
        self._ids = list(self._notes)
        self._evolved = rooms.ledger.evolved_contexts(self._ids)
        self._baselines = Baselines([f"{long_date(note.occurred_at)} {rooms.render(note)}" for note in notes])

    @classmethod
    async def read(cls, rooms: Rooms, embedder: Timed, name: str, options: Options) -> Box:
        """Read the notes of a box that are not archived."""
        memory = AsyncMemory(rooms, name, owner=False)
        notes: list[Note] = []
        after: str | None = None
        while True:
            page = await memory.list(limit=_PAGE, after=after)
            notes += page.notes
            after = page.next
            if after is None:
                break
        box = cls(rooms, embedder, name, notes, options)
        await memory.search("warm up", k=1)  # the first search reads the layout and the vectors
        return box

    async def ask(self, conversation: Conversation, questions: Iterable[Question]) -> list[Asked]:
        """Ask questions about a conversation."""
        now = self._options.now or conversation.sessions[-1].at
        return [await self._ask(conversation.id, question, now) for question in questions]

    async def _ask(self, conversation: str, question: Question, now: datetime) -> Asked:
        seconds, vector = await self._timed_search(question.question, now)
        start = perf_counter()
        ranking = await to_thread(self._ranking, Query(question.question, time_focus(question.question, now)), vector)
        seconds["rank"] = perf_counter() - start
        cosines = self._rooms.index.cosines(self.memory.name, self._ids, vector)
        rankings = {
            name: [self._ids[place] for place in places]
            for name, places in self._baselines.rankings(question.question, cosines).items()
        }
        evidence = [turn_id(conversation, turn) for turn in question.evidence]
        answer = question.answer if question.category != 5 else None
        found = {
            name: worth((self.turns[i] for i in ids), self._lines(ids), evidence, answer)
            for name, ids in {OURS: ranking, **rankings}.items()
        }
        return Asked(conversation, question.category, found, seconds)

    async def _timed_search(self, question: str, now: datetime) -> tuple[dict[str, float], NDArray[np.float32]]:
        """Search as users do; return the seconds of its stages, and the question's vector."""
        start = perf_counter()
        await self.memory.search(question, k=10, now=now)
        seconds = perf_counter() - start
        if self._embedder.last is None:
            raise EmbeddingError(f"the question {question!r} could not be embedded. Nothing was measured.")
        embedding = self._embedder.seconds
        return {"embed": embedding, "search": seconds - embedding}, self._embedder.last[0]

    def _ranking(self, query: Query, vector: NDArray[np.float32]) -> list[str]:
        options = self._options
        weights = options.weights() if options.ablate else None
        found = rank(
            self._rooms, self.memory.name, query, vector, Filter(), candidates=options.candidates, weights=weights
        )
        return [found.view.ids[row] for row in found.rows]

    def _lines(self, ids: Iterable[str]) -> Iterator[Line]:
        for number, note_id in enumerate(ids, start=1):
            text = line(number, self._notes[note_id], self._evolved.get(note_id))
            yield Line(self.turns[note_id], text, self._rooms.tokenizer.count(text))
