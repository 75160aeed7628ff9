"""Choosing notes by where they came from, and by when they were learned."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from amem.store import queries, rows, schema

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from amem.model import Note
    from amem.store.database import Database

_note = schema.note.c
_UNDER = ("/", "#")


def of_source(database: Database, box: str, source: str) -> Note | None:
    """Return the note that was added with exactly this source."""
    query = select(_note.id).where(_note.box == box, _note.source_key == source)
    with database.reading() as connection:
        found = list(connection.execute(query).scalars())
        return queries.notes_by_id(connection, found)[found[0]] if found else None


def of_sources(database: Database, box: str, sources: Sequence[str]) -> dict[str, Note]:
    """Return the notes that were added with exactly these sources, by source."""
    found: dict[str, str] = {}
    with database.reading() as connection:
        for some in rows.chunks(sources):
            query = select(_note.source_key, _note.id).where(_note.box == box, _note.source_key.in_(some))
            found.update(connection.execute(query).all())
        notes = queries.notes_by_id(connection, list(found.values()))
    return {key: notes[note_id] for key, note_id in found.items()}


def from_source(database: Database, box: str, source: str) -> set[str]:
    """Return the ids of the notes that came from a source or from under it: `chat` has `chat/7` and `chat#7`."""
    query = select(_note.id, _note.source_key).where(_note.box == box, _note.source_key.is_not(None))
    with database.reading() as connection:
        return {note_id for note_id, key in connection.execute(query) if _is_of(key, source)}


def _is_of(key: str, source: str) -> bool:
    return key == source or key.startswith(tuple(source + sign for sign in _UNDER))


def learned_before(database: Database, box: str, moment: datetime) -> set[str]:
    """Return the ids of the notes that were learned before a moment."""
    with database.reading() as connection:
        return set(connection.execute(select(_note.id).where(_note.box == box, _note.created_at < moment)).scalars())
