"""amem as its users have it: turns are added as they are said, and `recall` writes the context."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.memory import AsyncMemory
from amem.opening import open_rooms

from ..datasets.notes import as_notes  # noqa: TID252 - in a wheel, this package has another name
from ..recall.turns import turns_of  # noqa: TID252 - likewise
from ..statistics.cost import folder_bytes  # noqa: TID252 - likewise
from .lines import RANKED
from .protocol import Found, State

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from amem.embedding import Embedder
    from amem.llm.protocol import LLM
    from amem.model import Note
    from amem.settings import Settings

    from ..datasets.conversation import Conversation, Turn  # noqa: TID252 - likewise
    from .protocol import Query

_PAGE = 1000
_RAW_WINDOW = 256
"""Turns stored together where no model is asked."""
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_TURN = "00000000-0000-7000-8000-"
_DISTILLED = "00000000-0000-7000-8001-"
"""What the ids of turns, and of the notes distilled from them, begin with."""


class Amem:
    """A memory of its own for each conversation, in a folder that outlives the process.

    Ids and the clock are given, so that the same replies make the same memory: a note's id is its turn's place, or its
    place among those distilled, and it is learned when it is said.

    Args:
        folder: where the memories are.
        settings: how they work.
        embedder: of the texts.
        llm: what builds, links and evolves; None where the strategy asks no model.
    """

    def __init__(self, folder: Path, settings: Settings, embedder: Embedder, llm: LLM | None) -> None:
        self._folder = folder
        self._settings = settings
        self._embedder = embedder
        self._llm = llm
        self._memory: AsyncMemory | None = None
        self._path = folder
        self._turns: dict[str, int] = {}
        self._known: set[str] = set()
        self._waiting: list[Turn] = []
        self._left = False
        self._ids: list[str] = []
        self._distilled = 0
        self._moment: datetime | None = None

    async def reset(self, conversation: Conversation) -> None:
        """Open the conversation's memory, and look which turns it has."""
        self._path = self._folder / _UNSAFE.sub("_", conversation.id)
        self._moment = conversation.turns[0].at if conversation.turns else None
        rooms = open_rooms(
            self._path, self._settings, llm=self._llm, embedder=self._embedder, now=self._now, new_id=self._next_id
        )
        self._memory = AsyncMemory(rooms)
        self._turns = {turn.id: turn.position for turn in conversation.turns}
        notes = await self._notes()
        self._known = {source for note in notes for source in note.sources if source in self._turns}
        self._distilled = max((int(note.id[-12:]) for note in notes if note.id.startswith(_DISTILLED)), default=0)
        self._left = bool(self._known)
        self._waiting = []

    async def add(self, turn: Turn) -> int:
        """Put a turn to its window, and work on the window where it is full."""
        if turn.id in self._known:
            self._moment = turn.at
            return 0
        worked = await self._go_on()
        self._waiting.append(turn)
        return worked + (await self._store() if len(self._waiting) >= self._window else 0)

    async def finish(self) -> int:
        """Work on what waits, and once more on what an earlier run, or a failed call, has left."""
        worked = await self._store()
        self._left = True
        return worked + await self._go_on()

    async def search(self, query: Query, budget: int) -> Found:
        """Recall within the budget."""
        context = await self._open.recall(query.text, budget=budget, now=query.at)
        hits = await self._open.search(query.text, k=RANKED, now=query.at)
        cited = [citation.note_id for citation in context.citations]
        said = turns_of(await self._with_sources({hit.note.id: hit.note for hit in hits}, cited))
        return Found(
            text=context.text,
            tokens=context.tokens,
            shown=_distinct([turn for note_id in cited for turn in said[note_id]]),
            ranking=_distinct([turn for hit in hits for turn in said[hit.note.id]])[:RANKED],
        )

    async def state(self) -> State:
        """Count notes, links and revisions."""
        stats = await self._open.stats()
        pending = sum(count for reason, count in stats.pending.items() if reason != "raw")
        return State(
            turns=len(self._known), notes=stats.notes, pending=pending, links=stats.links, revisions=stats.revisions
        )

    def bytes(self) -> int | None:
        """Return the size of the conversation's folder."""
        return folder_bytes(self._path)

    async def close(self) -> None:
        """Close the memory; it stays where it is."""
        if self._memory is not None:
            memory, self._memory = self._memory, None
            await memory.close()

    @property
    def _open(self) -> AsyncMemory:
        assert self._memory is not None
        return self._memory

    @property
    def _window(self) -> int:
        if self._llm is None:
            return _RAW_WINDOW
        return 1 if self._settings.strategy == "paper" else self._settings.window

    async def _store(self) -> int:
        """Add a window of turns: they are accepted together, so a killed run finds the same window again."""
        window, self._waiting = self._waiting, []
        if not window:
            return 0
        self._moment = window[-1].at
        self._ids = [f"{_TURN}{self._turns[turn.id]:012d}" for turn in window]
        await self._open.add_many(as_notes(window))
        self._known |= {turn.id for turn in window}
        return len(window)

    async def _go_on(self) -> int:
        """Finish the window that a killed run was at, before the next one sees its notes."""
        left, self._left = self._left, False
        return len(await self._open.process()) if left else 0

    async def _with_sources(self, notes: dict[str, Note], wanted: Sequence[str]) -> dict[str, Note]:
        """Return notes with those they were distilled from, down to the turns."""
        while missing := {*wanted, *_sources(notes)} - notes.keys() - self._turns.keys():
            notes |= {note_id: await self._open.get(note_id) for note_id in missing}
        return notes

    async def _notes(self) -> list[Note]:
        page = await self._open.list(limit=_PAGE, outdated=True)
        notes = list(page.notes)
        while page.next is not None:
            page = await self._open.list(limit=_PAGE, outdated=True, after=page.next)
            notes += page.notes
        return notes

    def _now(self) -> datetime:
        assert self._moment is not None
        return self._moment

    def _next_id(self) -> str:
        if self._ids:
            return self._ids.pop(0)
        self._distilled += 1
        return f"{_DISTILLED}{self._distilled:012d}"


def _sources(notes: Mapping[str, Note]) -> set[str]:
    return {source for note in notes.values() for source in note.sources}


def _distinct(turns: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(turns))
