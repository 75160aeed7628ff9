"""Consolidation: one note in the place of several, which stay, are cited by it, and come back when it is taken back.

Repeats of a text need no model: the first one stands for all. What is only near each other is summed up by one call
(prompt `consolidate`), which sees the contents alone, so that it can pass on nothing that a model made of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from amem.changes import coming_in, succeeded
from amem.errors import BadReply
from amem.ingest.builder import Built
from amem.ingest.language import keeps_script
from amem.ingest.plan import build_change, build_fields
from amem.ingest.shown import Numbered
from amem.ingest.vectors import embed
from amem.llm.structured import ask
from amem.model import Note
from amem.replies import ConsolidateReply
from amem.store.plan import Call, Plan
from amem.upkeep.losing import dated, lost
from amem.values import Frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from amem.llm.metering import Meter
    from amem.llm.protocol import Request
    from amem.prompts import PromptSet
    from amem.rooms import Rooms
    from amem.settings import Settings
    from amem.upkeep.alike import Group

PROMPT = "consolidate"


class Merged(Frozen):
    """Notes that one note stands for now."""

    notes: tuple[str, ...]
    into: str | None = None
    """The note that stands for them; None where a dry run cannot know it yet."""
    text: str = ""
    """What that note says; empty where a dry run cannot know it."""
    repeats: bool = False
    """They said the same, word for word, as the note that stands for them."""


class Summary(Frozen):
    """What a model made of several notes."""

    note: Note
    """Still in the archive: what brings it out can be taken back, and then it is there again."""
    reply: ConsolidateReply
    call: Call


def request(notes: Sequence[Note], prompts: PromptSet, *, max_tokens: int) -> Request:
    """Ask for one text that says what the notes say."""
    return prompts.render(PROMPT, {"notes": Numbered(notes).turns()}, params={"max_tokens": max_tokens})


def check(notes: Sequence[Note]) -> Callable[[ConsolidateReply], str | None]:
    """Return a function that says what is wrong with a reply that is valid by its schema."""
    said = "\n".join(note.content for note in notes)

    def problem(reply: ConsolidateReply) -> str | None:
        if not reply.text.strip():
            return "the text is empty"
        if not all(keeps_script(said, text) for text in (reply.text, reply.context)):
            return "it is not written in the language of the notes"
        return lost(notes, reply.text)

    return problem


async def summarise(rooms: Rooms, group: Group, vectors: Mapping[str, NDArray[np.float32]], meter: Meter) -> Summary:
    """Have the model sum up a group; nothing is stored.

    Raises:
        LLMError: there is no usable reply.
        EmbeddingError: the text cannot be embedded.
    """
    assert rooms.llm is not None
    notes = group.notes
    cap = min(rooms.settings.max_tokens, rooms.reply_cap(1) + sum(len(note.content) for note in notes) // 2)
    asked = request(notes, rooms.prompts, max_tokens=cap)
    reply = await ask(rooms.llm, asked, ConsolidateReply, check=check(notes), meter=meter, stage=PROMPT)
    call = Call(
        stage="consolidate",
        model=asked.model or rooms.llm.model,
        prompt=asked.prompt.label,
        shown=group.ids,
        versions=(0,) * len(notes),
    )
    summary = Summary(note=_summary(rooms, notes, dated(notes, reply.text.strip())), reply=reply, call=call)
    await _expect_about(rooms, summary, [vectors[note.id] for note in notes])
    return summary


def _summary(rooms: Rooms, notes: Sequence[Note], text: str) -> Note:
    first, last = notes[0], notes[-1]
    sessions = {note.session_id for note in notes}
    span: dict[str, str] = {"from": first.occurred_at.isoformat(), "to": last.occurred_at.isoformat()}
    return Note(
        id=rooms.new_id(),
        box=first.box,
        agent_id=first.agent_id,
        session_id=sessions.pop() if len(sessions) == 1 else None,
        content=text,
        speaker=first.speaker,
        sources=tuple(note.id for note in notes),
        trust=first.trust,
        occurred_at=last.occurred_at,
        created_at=rooms.now(),
        status="archived",
        metadata={"consolidated": dict(span)},
    )


async def _expect_about(rooms: Rooms, summary: Summary, sources: Sequence[NDArray[np.float32]]) -> None:
    """Refuse a text that is not about each of its sources: small models tell of one and drop the others."""
    (vector,) = (await embed(rooms, [summary.note.content])).values()
    if min(float(np.dot(vector, source)) for source in sources) < rooms.settings.similarity_floor:
        raise BadReply("the summary is not about all of its notes", summary.reply.text)


def summing_up(summary: Summary, group: Group, settings: Settings, at: datetime) -> Plan:
    """Return the plan that brings a summary in, and puts it in the place of its notes."""
    note, reply = summary.note, summary.reply
    built = Built(keywords=tuple(reply.keywords), tags=tuple(reply.tags), context=reply.context.strip())
    building = build_change(note, build_fields(note, built, settings), 0)
    return Plan(
        box=note.box,
        at=at,
        calls=(summary.call,),
        changes=(building, coming_in(note), *(succeeded(old, note) for old in group.notes)),
        model=summary.call.model,
        whole=True,
    )


def standing_in(group: Group, at: datetime) -> Plan:
    """Return the plan by which the first of several repeats stands for all."""
    first, *others = group.notes
    return Plan(box=first.box, at=at, changes=tuple(succeeded(old, first) for old in others), whole=True)
