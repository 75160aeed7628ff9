"""Between values and rows: the only place that knows both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from pydantic import TypeAdapter
from sqlalchemy import bindparam, select

from amem.model import About, Cause, Episode, Fact, Link, MadeBy, Note, Revision
from amem.store import schema
from amem.store.prepared import PreparedFor

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from sqlalchemy import Connection, RowMapping

_NOTE_LISTS = ("sources", "keywords", "tags", "pinned")
_NOTE_PLAIN = tuple(name for name in Note.model_fields if name not in {*_NOTE_LISTS, "made_by", "metadata", "about"})
_REVISION_PLAIN = ("id", "box", "note_id", "field", "before", "after", "created_at", "undone")
_ABOUT: TypeAdapter[Fact | Episode] = TypeAdapter(About)
IN_LIMIT = 400
"""Ids asked for at once: well under every database's limit of variables."""

# Statements are built once: building one costs four times as much as running it.
_CALLS = PreparedFor(
    lambda ids: (
        select(schema.call.c.id, schema.call.c.model, schema.call.c.prompt, schema.call_shown.c.note_id)
        .outerjoin(schema.call_shown)
        .where(schema.call.c.id.in_(ids))
        .order_by(schema.call.c.id, schema.call_shown.c.note_id)
    )
)
_CAUSES = (
    select(schema.revision_cause.c.revision_id, schema.revision_cause.c.note_id)
    .where(schema.revision_cause.c.revision_id.in_(bindparam("ids", expanding=True)))
    .order_by(schema.revision_cause.c.revision_id, schema.revision_cause.c.note_id)
)


def note_row(note: Note) -> dict[str, Any]:
    """Return the columns of a note, but for its source key and the call that built it."""
    row = {name: getattr(note, name) for name in _NOTE_PLAIN}
    row.update({name: list(getattr(note, name)) for name in _NOTE_LISTS})
    row["metadata"] = note.metadata
    row["kind"] = note.kind
    row["about"] = None if note.about is None else note.about.model_dump(mode="json")
    return row


def to_note(row: Mapping[Any, Any], made: Mapping[int, MadeBy]) -> Note:
    """Return the note of a row; what the ledger holds has been validated when it went in."""
    values = {name: row[name] for name in _NOTE_PLAIN}
    values.update({name: tuple(row[name]) for name in _NOTE_LISTS})
    about = None if row["about"] is None else _ABOUT.validate_python(row["about"])
    return Note.model_construct(**values, metadata=row["metadata"], about=about, made_by=made.get(row["call_id"]))


def link_row(link: Link, call_id: int | None) -> dict[str, Any]:
    """Return the columns of a link."""
    row = {name: getattr(link, name) for name in Link.model_fields if name != "made_by"}
    row["call_id"] = call_id
    return row


def to_link(row: RowMapping, made: Mapping[int, MadeBy]) -> Link:
    """Return the link of a row."""
    values = {name: row[name] for name in Link.model_fields if name != "made_by"}
    return Link(**values, made_by=made.get(row["call_id"]))


class Logged(NamedTuple):
    """A revision with what only the ledger knows of it."""

    revision: Revision
    call_id: int | None
    version: int | None
    """Which version of the note it leads to."""


def revision_row(logged: Logged) -> dict[str, Any]:
    """Return the columns of a new revision (its causes are rows of their own)."""
    revision = logged.revision
    row = {name: getattr(revision, name) for name in _REVISION_PLAIN if name != "id"}
    cause = revision.cause.model_dump(include={"kind", "undoes", "agent_id"})
    return {**row, **cause, "call_id": logged.call_id, "version": logged.version}


def to_revision(row: RowMapping, causes: Mapping[int, Sequence[str]], made: Mapping[int, MadeBy]) -> Revision:
    """Return the revision of a row."""
    brought = {name: row[name] for name in ("kind", "undoes", "agent_id")}
    cause = Cause(notes=tuple(causes.get(row["id"], ())), **brought)
    values = {name: row[name] for name in _REVISION_PLAIN}
    return Revision(**values, cause=cause, made_by=made.get(row["call_id"]))


def to_bytes(vector: np.ndarray) -> bytes:
    """Return a vector as little-endian float32."""
    return np.ascontiguousarray(vector, dtype="<f4").tobytes()


def to_matrix(blobs: Sequence[bytes], dimension: int) -> np.ndarray:
    """Return vectors as one float32 matrix, shape (n, dimension)."""
    if not blobs:
        return np.zeros((0, dimension), dtype=np.float32)
    return np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(blobs), -1).astype(np.float32, copy=False)


def chunks(ids: Sequence[Any]) -> Iterable[Sequence[Any]]:
    """Split ids so that no statement carries too many variables."""
    return (ids[start : start + IN_LIMIT] for start in range(0, len(ids), IN_LIMIT))


def made_by(connection: Connection, call_ids: Iterable[int | None]) -> dict[int, MadeBy]:
    """Return who made what, by call id."""
    wanted = sorted({call_id for call_id in call_ids if call_id is not None})
    calls: dict[int, tuple[str, str]] = {}
    shown: dict[int, list[str]] = {}
    for call_id, model, prompt, note_id in _CALLS.rows(connection, wanted):
        calls[call_id] = (model, prompt)
        shown.setdefault(call_id, []).extend(() if note_id is None else (note_id,))
    return {i: MadeBy(model=model, prompt=prompt, shown=tuple(shown[i])) for i, (model, prompt) in calls.items()}


def causes_of(connection: Connection, revision_ids: Sequence[int]) -> dict[int, list[str]]:
    """Return the notes that brought each revision about."""
    found: dict[int, list[str]] = {}
    for some in chunks(revision_ids):
        for revision_id, note_id in connection.execute(_CAUSES, {"ids": some}):
            found.setdefault(revision_id, []).append(note_id)
    return found
