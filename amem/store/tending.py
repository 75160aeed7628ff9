"""What upkeep asks of the ledger: how each note of a box is used, and which notes others rest on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import and_, func, or_, select

from amem.store import schema

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from sqlalchemy import Connection

    from amem.store.database import Database

_note, _access, _revision = schema.note.c, schema.access.c, schema.revision.c
KEEP = "keep"
"""A note whose metadata says `{"keep": true}` outlives every retention, and is never archived."""


class Tended(NamedTuple):
    """A note in use that is done, or was never meant for a model, and how it is used (facts and episodes are not)."""

    id: str
    version: int
    since: datetime
    """When it was last recalled by a user, learned, or brought back from the archive: the latest of them."""
    accesses: int
    pinned: bool
    """Whether the user pinned a field, or said that it is to be kept."""


class Rests(NamedTuple):
    """Notes that others rest on."""

    cited: set[str]
    """Sources of notes that are in use, and notes with a part in what waits for review."""
    successors: set[str]
    """Notes that stand in the place of others."""


def tended(database: Database, box: str) -> list[Tended]:
    """Return the notes of a box that upkeep may look at, in the order they were accepted."""
    done = or_(_note.status == "ready", and_(_note.status == "pending", _note.pending_reason == "raw"))
    returned = (
        select(_revision.note_id, func.max(_revision.created_at).label("at"))
        .where(_revision.box == box, _revision.field == "status", _revision.after != "archived")
        .group_by(_revision.note_id)
        .subquery()
    )
    query = (
        select(
            _note.id, _note.version, _note.created_at, _note.pinned, _note.metadata, _access.count, _access.last_at,
            returned.c.at,
        )
        .select_from(
            schema.note.outerjoin(schema.access, _access.note_id == _note.id).outerjoin(
                returned, returned.c.note_id == _note.id
            )
        )
        .where(_note.box == box, _note.kind == "note", _note.superseded_by.is_(None), done)
        .order_by(_note.rid)
    )  # fmt: skip
    with database.reading() as connection:
        found = connection.execute(query).all()
    return [
        Tended(note_id, version, _latest((learned, last, back)), count or 0, bool(pinned) or metadata.get(KEEP) is True)
        for note_id, version, learned, pinned, metadata, count, last, back in found
    ]


def _latest(moments: Iterable[datetime | None]) -> datetime:
    return max(moment for moment in moments if moment is not None)


def rests(database: Database, box: str) -> Rests:
    """Return the notes of a box that others rest on."""
    with database.reading() as connection:
        return Rests(_cited(connection, box) | under_review(connection, box), _successors(connection, box))


def _cited(connection: Connection, box: str) -> set[str]:
    query = select(_note.sources).where(_note.box == box, _note.status != "archived")
    return {source for sources in connection.execute(query).scalars() for source in sources}


def under_review(connection: Connection, box: str) -> set[str]:
    """Return the notes that have a part in what waits for review."""
    held, named = schema.held.c, schema.held_note.c
    query = select(named.note_id).join(schema.held, held.id == named.held_id).where(held.box == box)
    return set(connection.execute(query).scalars())


def _successors(connection: Connection, box: str) -> set[str]:
    query = select(_note.superseded_by).where(_note.box == box, _note.superseded_by.is_not(None))
    return set(connection.execute(query).scalars())


def parted(database: Database, box: str) -> set[tuple[str, str]]:
    """Return the pairs of a note and one that stood for it until that was taken back: they are to stay apart."""
    query = select(_revision.note_id, _revision.after).where(
        _revision.box == box,
        _revision.field == "superseded_by",
        _revision.kind == "supersede",
        _revision.undone.is_(True),
    )
    with database.reading() as connection:
        return {(note_id, successor) for note_id, successor in connection.execute(query)}


def summarised(database: Database, box: str) -> set[frozenset[str]]:
    """Return the sources of each note that has several: summaries that were made before, also those taken back."""
    query = select(_note.sources).where(_note.box == box)
    with database.reading() as connection:
        return {frozenset(sources) for sources in connection.execute(query).scalars() if len(sources) > 1}
