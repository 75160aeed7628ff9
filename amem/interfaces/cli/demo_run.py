"""The demo itself: import the conversation, look at what came of it, and ask the questions."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import TypeAdapter

from amem.interfaces.cli import conversation_jsonl
from amem.interfaces.cli.importing import bring_in
from amem.memory import AsyncMemory
from amem.model import Usage
from amem.values import Frozen

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from pathlib import Path

    from amem.intake import NewNote
    from amem.interfaces.cli.terminal import Terminal
    from amem.model import Context, Link, Note, Revision
    from amem.rooms import Rooms

BOX = "demo"
BUDGET = 250
"""Tokens that the notes recalled for one question may take."""


class Asked(Frozen):
    """One of the demo's questions."""

    question: str
    expects: tuple[int, ...]
    """Turns that hold the answer, from 0; none where the conversation does not say."""
    answer: str


@dataclass(frozen=True)
class Script:
    """The conversation and the questions."""

    notes: Sequence[NewNote]
    questions: Sequence[Asked]

    @classmethod
    def load(cls, folder: Path) -> Script:
        """Read `conversation.jsonl` and `questions.json`; a turn's source is its number from 0."""
        found = conversation_jsonl.read((folder / "conversation.jsonl").read_bytes(), BOX)
        assert not found.bad, found.bad
        notes = [note.model_copy(update={"source": f"turn-{i}"}) for i, note in enumerate(found.notes)]
        questions = TypeAdapter(list[Asked]).validate_json((folder / "questions.json").read_bytes())
        return cls(notes, questions)

    @property
    def last(self) -> datetime:
        """The moment of the last turn."""
        return max(note.occurred_at for note in self.notes if note.occurred_at is not None)


@dataclass(frozen=True)
class Answered:
    """A question, and the notes recalled for it."""

    asked: Asked
    context: Context
    turns: Sequence[int]
    """The turn behind each citation."""

    @property
    def missing(self) -> list[int]:
        """Expected turns that were not recalled."""
        return [turn for turn in self.asked.expects if turn not in self.turns]


@dataclass(frozen=True)
class Shown:
    """What came of the conversation."""

    notes: dict[str, Note]
    """By id, in the order they were said."""
    links: Sequence[Link]
    changes: Sequence[Revision]
    """What later notes changed in older ones."""
    answers: Sequence[Answered]
    usage: Usage
    seconds: float
    """That this run took."""

    @property
    def pending(self) -> list[Note]:
        """Notes that the model left unfinished."""
        return [note for note in self.notes.values() if note.status == "pending"]


async def run_demo(rooms: Rooms, script: Script, terminal: Terminal) -> Shown:
    """Import, look, ask."""
    from amem.interfaces.cli.progress import progress

    began = time.monotonic()
    memory = AsyncMemory(rooms, BOX, owner=False)
    with progress(terminal, "importing") as moved:
        await bring_in(memory, script.notes, moved)
        await memory.process(progress=moved)  # a small model skips turns of a window; asked again, it does them
    notes = await _all(memory)
    links = {link.id: link for note_id in notes for link in await memory.links(note_id)}
    revisions = [revision for note_id in notes for revision in await memory.history(note_id)]
    answers = [await _answer(memory, asked, notes) for asked in script.questions]
    stats = await memory.stats()
    return Shown(
        notes=notes,
        links=list(links.values()),
        changes=[r for r in revisions if r.cause.kind == "evolve" and not r.undone],
        answers=answers,
        usage=sum(stats.usage.values(), Usage()),
        seconds=time.monotonic() - began,
    )


async def _all(memory: AsyncMemory) -> dict[str, Note]:
    notes: dict[str, Note] = {}
    after: str | None = None
    while True:
        page = await memory.list(limit=1000, after=after)
        notes |= {note.id: note for note in page.notes}
        if page.next is None:
            return notes
        after = page.next


async def _answer(memory: AsyncMemory, asked: Asked, notes: dict[str, Note]) -> Answered:
    context = await memory.recall(asked.question, budget=BUDGET)
    turns = [int(notes[c.note_id].sources[0].removeprefix("turn-")) for c in context.citations]
    return Answered(asked, context, turns)
