"""Correcting a note: a new one takes its place, in one transaction; what was said stays, and can be had back."""

from __future__ import annotations

import logging
from asyncio import to_thread
from typing import TYPE_CHECKING, Any

from amem.changes import coming_in, succeeded
from amem.errors import EmbeddingError, InputError, NoteNotFound
from amem.ingest.suspicion import suspicions
from amem.ingest.vectors import apply, embed
from amem.ingest.worker import Accepted
from amem.intake import NewNote, raw_note
from amem.store.plan import GroundMoved, Plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem.model import Note
    from amem.rooms import Rooms

log = logging.getLogger("amem.ingest")

_KEPT = ("speaker", "occurred_at", "session_id", "agent_id", "metadata")
"""What a correction takes over from what it corrects, unless it is given."""


def correction(old: Note, content: str, given: Mapping[str, Any]) -> NewNote:
    """Return the text that is to take the place of a note.

    Raises:
        InputError: a value is refused, or another note has taken the place already; nothing was changed.
    """
    if old.superseded_by is not None:
        raise InputError(f"note {old.superseded_by} has taken its place; correct that one. Nothing was changed.")
    kept = {name: getattr(old, name) for name in _KEPT}
    if "tags" in old.pinned:
        kept["tags"] = old.tags
    return NewNote.of({**kept, **{k: v for k, v in given.items() if v is not None}, "content": content})


async def correct(rooms: Rooms, old: Note, new: NewNote, *, agent_id: str | None = None) -> Accepted:
    """Store a text in the place of a note: both happen, or neither.

    Args:
        rooms: the memory's parts.
        old: the note that is wrong.
        new: what is right.
        agent_id: who says so; the note itself may be signed by who wrote the wrong one.

    Raises:
        InputError: another note has taken the place meanwhile; nothing was changed.
        NoteNotFound: the note is gone.
    """
    raw = raw_note(new, old.box, rooms)
    vectors = {}
    try:
        vectors = await embed(rooms, [rooms.render(raw)])
    except EmbeddingError as error:
        log.warning("the correction is stored without a vector, found by its words: %s", error)
    arriving = raw.model_copy(update={"status": "archived"})
    while True:
        changes = (coming_in(arriving), succeeded(old, arriving))
        plan = Plan(box=old.box, at=rooms.now(), changes=changes, whole=True, agent_id=agent_id)
        try:
            committed = await apply(rooms, plan, vectors, new=[(arriving, None)])
        except GroundMoved:  # somebody changed the note in between: see whether it can still be corrected
            old = await _again(rooms, old)
            continue
        return Accepted(committed.notes[raw.id], True, bool(vectors), suspicions(raw.content))


async def _again(rooms: Rooms, old: Note) -> Note:
    found = await to_thread(rooms.ledger.get, [old.id], boxes=[old.box])
    if old.id not in found:
        raise NoteNotFound(f"the note {old.id!r} was forgotten before it was corrected. Nothing was stored.")
    correction(found[old.id], old.content, {})
    return found[old.id]
