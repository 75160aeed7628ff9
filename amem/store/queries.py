"""Reading the ledger: each function is one question, asked over a connection of the caller's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import and_, bindparam, func, or_, select

from amem.errors import InputError
from amem.model import Page
from amem.store import rows, schema, sqlite
from amem.store.prepared import Prepared, PreparedFor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray
    from sqlalchemy import ColumnElement, Connection, RowMapping

    from amem.filters import Filter
    from amem.model import Link, Note, Revision


_LEAST = 200
"""Rows read at once where tags or metadata have to be compared."""
_CURSOR_DIGITS = 18
_PIECE = 1000
"""Notes read at once where all are read."""

_note = schema.note
_BY_ID = PreparedFor(lambda ids: select(_note).where(_note.c.id.in_(ids)))
_BOX_STATE = Prepared(select(schema.box.c.revision, schema.box.c.epoch).where(schema.box.c.name == bindparam("wanted")))
_OTHER_BOX = Prepared(select(schema.box.c.name).where(schema.box.c.name != bindparam("wanted")).limit(1))
_STANDING = PreparedFor(
    lambda ids: select(_note.c.id, _note.c.box, _note.c.version, _note.c.unlearned).where(_note.c.id.in_(ids))
)


def notes_by_id(connection: Connection, ids: Sequence[str], *, boxes: Sequence[str] | None = None) -> dict[str, Note]:
    """Return the notes that exist among `ids`, restricted to `boxes` where given, in the order of `ids`."""
    found = [row for row in _rows_by_id(connection, ids) if boxes is None or row["box"] in boxes]
    notes = {note.id: note for note in _notes(connection, found)}
    return {note_id: notes[note_id] for note_id in ids if note_id in notes}


def _rows_by_id(connection: Connection, ids: Sequence[str]) -> list[dict[str, Any]]:
    """Return the rows of notes by id. Boxes are for the caller to compare: asked for both, SQLite may read the box."""
    return _BY_ID.records(connection, list(dict.fromkeys(ids)))


class Stored(NamedTuple):
    """A note with what only the ledger knows of it."""

    note: Note
    rid: int
    call_id: int | None


def stored_notes(connection: Connection, ids: Sequence[str], box: str) -> dict[str, Stored]:
    """Return the notes of a box that exist among `ids`, as they are stored."""
    found = [row for row in _rows_by_id(connection, ids) if row["box"] == box]
    notes = _notes(connection, found)
    return {n.id: Stored(n, row["rid"], row["call_id"]) for n, row in zip(notes, found, strict=True)}


def all_notes(connection: Connection) -> Iterator[list[Stored]]:
    """Yield all notes of all boxes, some at a time, by row id."""
    last = 0
    while True:
        query = select(_note).where(_note.c.rid > last).order_by(_note.c.rid).limit(_PIECE)
        found = connection.execute(query).mappings().all()
        if not found:
            return
        last = found[-1]["rid"]
        notes = _notes(connection, found)
        yield [Stored(note, row["rid"], row["call_id"]) for note, row in zip(notes, found, strict=True)]


class Standing(NamedTuple):
    """How a note stands."""

    version: int
    unlearned: int
    """The version in which forgetting last took something out of it, or 0."""


def standing(connection: Connection, ids: Sequence[str], box: str) -> dict[str, Standing]:
    """Return those of `ids` that are notes of the box, and how they stand."""
    return {note_id: Standing(*how) for note_id, where, *how in _STANDING.rows(connection, ids) if where == box}


def _notes(connection: Connection, found: Sequence[Mapping[Any, Any]]) -> list[Note]:
    made = rows.made_by(connection, (row["call_id"] for row in found))
    return [rows.to_note(row, made) for row in found]


def _columns(box: str, given: Filter) -> ColumnElement[bool]:
    table = schema.note.c
    parts: list[ColumnElement[bool]] = [table.box == box]
    for column, value in (
        (table.agent_id, given.agent_id),
        (table.session_id, given.session_id),
        (table.speaker, given.speaker),
    ):
        if value is not None:
            parts.append(column == value)
    if given.kinds:
        parts.append(table.kind.in_(given.kinds))
    if given.since is not None:
        parts.append(table.occurred_at >= given.since)
    if given.until is not None:
        parts.append(table.occurred_at < given.until)
    if not given.archived:
        parts.append(table.status != "archived")
    if given.as_of is not None:
        parts.append(func.coalesce(table.valid_from, table.occurred_at) <= given.as_of)
        if not given.outdated:
            parts.append(or_(table.valid_to.is_(None), table.valid_to > given.as_of))
    elif not given.outdated:
        parts.append(table.superseded_by.is_(None))
    return and_(*parts)


def matching_ids(connection: Connection, box: str, given: Filter) -> set[str]:
    """Return the ids of all notes of a box that a filter lets through."""
    table = schema.note.c
    if not given.needs_values:
        return set(connection.execute(select(table.id).where(_columns(box, given))).scalars())
    query = select(table.id, table.tags, table.metadata).where(_columns(box, given))
    return {note_id for note_id, tags, metadata in connection.execute(query) if given.accepts_values(tags, metadata)}


def page(connection: Connection, box: str, given: Filter, *, after: str | None, limit: int) -> Page:
    """Return up to `limit` notes in the order they were accepted, from where the page before ended.

    The cursor is the row id of that page's last note: it stays good when the note is deleted meanwhile.

    Raises:
        InputError: `after` is not the `next` of a page.
    """
    table = schema.note.c
    start = _cursor(after)
    found: list[RowMapping] = []
    size = max(limit + 1, _LEAST)
    while len(found) <= limit:
        query = select(schema.note).where(_columns(box, given), table.rid > start).order_by(table.rid).limit(size)
        batch = connection.execute(query).mappings().all()
        found += [row for row in batch if given.accepts_values(row["tags"], row["metadata"])]
        if len(batch) < size:
            break
        start = batch[-1]["rid"]
    more = len(found) > limit > 0
    return Page(
        notes=tuple(_notes(connection, found[:limit])),
        next=str(found[limit - 1]["rid"]) if more else None,
    )


def _cursor(after: str | None) -> int:
    if after is None:
        return 0
    if not (isinstance(after, str) and after.isascii() and after.isdecimal() and len(after) < _CURSOR_DIGITS):
        raise InputError(f"after={after!r} is not the `next` of a page")
    return int(after)


def pending(connection: Connection, box: str | None, reasons: Sequence[str], *, limit: int | None = None) -> list[Note]:
    """Return pending notes in session order: sessions by their first note that waits, turns by position."""
    table = schema.note.c
    first = func.min(table.rid).over(partition_by=(table.box, table.session_id))
    query = select(schema.note).where(table.status == "pending", table.pending_reason.in_(list(reasons)))
    if box is not None:
        query = query.where(table.box == box)
    query = query.order_by(first, table.position, table.rid).limit(limit)
    return _notes(connection, connection.execute(query).mappings().all())


def links_of(connection: Connection, note_ids: Sequence[str]) -> list[Link]:
    """Return all links that touch any of the notes, each once."""
    table = schema.link.c
    found: dict[int, RowMapping] = {}
    for some in rows.chunks(list(note_ids)):
        query = select(schema.link).where(or_(table.source.in_(some), table.target.in_(some))).order_by(table.id)
        found.update({row["id"]: row for row in connection.execute(query).mappings()})
    made = rows.made_by(connection, (row["call_id"] for row in found.values()))
    return [rows.to_link(found[key], made) for key in sorted(found)]


def revisions(
    connection: Connection,
    box: str,
    *,
    note_id: str | None = None,
    ids: Sequence[int] | None = None,
    caused_by: str | None = None,
) -> list[Revision]:
    """Return revisions of a box, oldest first, by note, by id, or by the note that caused them."""
    table = schema.revision
    query = select(table).order_by(table.c.id)
    if note_id is not None:
        query = query.where(table.c.note_id == note_id)
    if ids is not None:
        query = query.where(table.c.id.in_(list(ids)))
    if caused_by is not None:
        cause = schema.revision_cause.c
        query = query.where(table.c.id.in_(select(cause.revision_id).where(cause.note_id == caused_by)))
    if note_id is None and ids is None and caused_by is None:
        query = query.where(table.c.box == box)
    found = [row for row in connection.execute(query).mappings() if row["box"] == box]
    causes = rows.causes_of(connection, [row["id"] for row in found])
    made = rows.made_by(connection, (row["call_id"] for row in found))
    return [rows.to_revision(row, causes, made) for row in found]


def without_vector(connection: Connection, box: str | None, *, limit: int | None = None) -> list[Note]:
    """Return the notes that have no vector."""
    note, vector = schema.note, schema.vector
    query = select(note).outerjoin(vector, vector.c.note_id == note.c.id).where(vector.c.note_id.is_(None))
    if box is not None:
        query = query.where(note.c.box == box)
    return _notes(connection, connection.execute(query.order_by(note.c.rid).limit(limit)).mappings().all())


def evolved_contexts(connection: Connection, note_ids: Sequence[str]) -> dict[str, str]:
    """Return the context of each note whose present context came from later notes, and from nobody since."""
    table, note = schema.revision.c, schema.note.c
    found: dict[str, str] = {}
    for some in rows.chunks(list(note_ids)):
        stands = (table.note_id.in_(some), table.field == "context", table.undone.is_(False), table.undoes.is_(None))
        last = select(func.max(table.id)).where(*stands).group_by(table.note_id)
        query = (
            select(table.note_id, note.context)
            .join(schema.note, note.id == table.note_id)
            .where(table.id.in_(last), table.kind == "evolve")
        )
        found.update(connection.execute(query).all())
    return found


def session_turns(connection: Connection, box: str, spans: Iterable[tuple[str, int, int]]) -> list[Note]:
    """Return the notes of sessions at positions from `low` to `high`, both included, in order."""
    table = schema.note.c
    found: list[RowMapping] = []
    for session_id, low, high in spans:
        query = (
            select(schema.note)
            .where(table.box == box, table.session_id == session_id, table.position.between(low, high))
            .order_by(table.position, table.rid)
        )
        found += connection.execute(query).mappings()
    return _notes(connection, found)


def last_turns(connection: Connection, box: str, session_id: str, count: int) -> list[Note]:
    """Return the last notes of a session, in its order."""
    table = schema.note.c
    query = (
        select(schema.note)
        .where(table.box == box, table.session_id == session_id)
        .order_by(table.position.desc())
        .limit(count)
    )
    return _notes(connection, connection.execute(query).mappings().all()[::-1])


def boxes(connection: Connection) -> list[str]:
    """Return the names of all boxes, in the order of their creation."""
    return list(connection.execute(select(schema.box.c.name).order_by(schema.box.c.created_at)).scalars())


def box_state(connection: Connection, box: str) -> tuple[int, int]:
    """Return a box's (revision, epoch); (0, -1) where there is no such box, which no box ever has."""
    found = _BOX_STATE.rows(connection, wanted=box)
    return (int(found[0][0]), int(found[0][1])) if found else (0, -1)


class Glance(NamedTuple):
    """What recall wants to know of every note of a box."""

    rid: int
    id: str
    session_id: str | None
    position: int | None
    speaker: str | None
    occurred_at: datetime
    content: str
    hidden: bool
    """Whether it is archived, or another note has taken its place: seen only where it is asked for."""


def glances(connection: Connection, box: str, *, after_rid: int, after_revision: int) -> list[Glance]:
    """Return the notes of a box that came after row `after_rid`, or whose text changed after `after_revision`."""
    note, vector = _note.c, schema.vector.c
    columns = (
        note.rid, note.id, note.session_id, note.position, note.speaker, note.occurred_at, note.content,
        or_(note.status == "archived", note.superseded_by.is_not(None)),
    )  # fmt: skip
    new = select(*columns).where(note.box == box, note.rid > after_rid)
    found = list(connection.execute(new))
    if after_revision >= 0:
        changed = select(vector.note_id).where(vector.box == box, vector.revision > after_revision)
        found += list(connection.execute(select(*columns).where(note.id.in_(changed))))
    return [Glance(*row) for row in found]


def postings(connection: Connection, box: str, words: Sequence[str]) -> list[NDArray[np.int64]]:
    """Return for each word the row ids of the notes of a box that hold it, ascending.

    A word's notes are compared with the box's, which takes three times as long as finding them; a box that is alone is
    spared it.
    """
    others = _OTHER_BOX.rows(connection, wanted=box)
    return sqlite.rows_with(connection, box if others else None, words)
