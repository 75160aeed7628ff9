"""Looking at every note: its values, its history, its full text and its vector."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
from sqlalchemy import JSON, BigInteger, Text, select, type_coerce

from amem.model import Note
from amem.store import history, rows, schema, sqlite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from sqlalchemy import ColumnElement, Connection, RowMapping, Table

    Finding = tuple[str, str | None, object]
    """Kind of problem, box, and what is concerned."""

_PIECE = 1000
_TOLERANCE = 1e-3
"""How far from 1 the length of a vector may be: float32 rounding, and quantised models."""
_LISTS = ("sources", "keywords", "tags", "pinned", "metadata")
_EPOCH_FIELDS = ("occurred_at", "created_at", "valid_from", "valid_to")


def audit(
    connection: Connection, render: Callable[[Note], str], dimension: int, *, full_text: bool
) -> Iterator[Finding]:
    """Yield what is wrong with notes, piece by piece, and with what belongs to no note."""
    last = -1
    while True:
        found = _piece(connection, last)
        end = found[-1]["rid"] if found else None
        if full_text:
            yield from _words(connection, found, render, (last, end))
        if end is None:
            return
        notes = {row["id"]: note for row in found if (note := _read(row)) is not None}
        yield from (("unreadable", row["box"], row["id"]) for row in found if row["id"] not in notes)
        yield from (("kind", row["box"], row["id"]) for row in found if _is_misnamed(row, notes))
        yield from _states(notes.values())
        yield from _sources(found, notes)
        yield from _histories(connection, notes)
        yield from _vectors(connection, found, dimension)
        last = end


def _raw(table: Table) -> list[ColumnElement[Any]]:
    """Return columns as the database keeps them, so that a bad value can be told from a bad row."""
    return [
        type_coerce(column, Text).label(column.name)
        if isinstance(column.type, JSON)
        else type_coerce(column, BigInteger).label(column.name)
        if isinstance(column.type, schema.Micros)
        else column
        for column in table.c
    ]


def _piece(connection: Connection, last: int) -> Sequence[RowMapping]:
    rid = schema.note.c.rid
    query = select(*_raw(schema.note)).where(rid > last).order_by(rid).limit(_PIECE)
    return connection.execute(query).mappings().all()


def _read(row: RowMapping) -> Note | None:
    micros = schema.Micros()
    values = {name: row[name] for name in Note.model_fields if name != "made_by"}
    try:
        values.update({name: json.loads(row[name]) for name in _LISTS})
        values["about"] = None if row["about"] is None else json.loads(row["about"])
        values.update({name: micros.process_result_value(row[name], None) for name in _EPOCH_FIELDS})
        return Note.model_validate(values)
    except (ValueError, TypeError, OverflowError):  # pydantic's and json's errors are ValueErrors
        return None


def _is_misnamed(row: RowMapping, notes: Mapping[str, Note]) -> bool:
    return row["id"] in notes and row["kind"] != notes[row["id"]].kind


def _states(notes: Iterable[Note]) -> Iterator[Finding]:
    for note in notes:
        if note.status == "archived":  # it keeps what it waited for, should it come back
            continue
        waits = note.status == "pending"
        if waits != (note.pending_reason is not None) or (note.error is not None and not waits):
            yield "status", note.box, note.id


def _sources(found: Sequence[RowMapping], notes: dict[str, Note]) -> Iterator[Finding]:
    for row in found:
        note = notes.get(row["id"])
        if note is not None and row["source_key"] is not None and row["source_key"] not in note.sources:
            yield "source", note.box, note.id


# -- history ------------------------------------------------------------------------------------------


def _histories(connection: Connection, notes: dict[str, Note]) -> Iterator[Finding]:
    revisions: dict[str, list[dict[str, Any]]] = defaultdict(list)
    links: dict[str, set[int]] = defaultdict(set)
    table, link = schema.revision, schema.link.c
    for some in rows.chunks(list(notes)):
        query = select(*_raw(table)).where(table.c.note_id.in_(some)).order_by(table.c.id)
        for row in connection.execute(query).mappings():
            revisions[row["note_id"]].append({**row, **{name: _value(row[name]) for name in ("before", "after")}})
        for key, source in connection.execute(select(link.id, link.source).where(link.source.in_(some))):
            links[source].add(key)
    for note_id, note in notes.items():
        for kind, what in history.faults(note, revisions[note_id], links[note_id]):
            yield kind, note.box, what


def _value(text: str | None) -> Any:
    try:
        return None if text is None else json.loads(text)
    except ValueError:
        return f"unreadable: {text}"


# -- full text ----------------------------------------------------------------------------------------


def _words(
    connection: Connection,
    found: Sequence[RowMapping],
    render: Callable[[Note], str],
    span: tuple[int, int | None],
) -> Iterator[Finding]:
    indexed = {rid: (box, body) for rid, box, body in sqlite.fts_rows(connection, *span)}
    for row in found:
        there = indexed.pop(row["rid"], None)
        note = _read(row)
        if there is None:
            yield "fts_missing", row["box"], row["id"]
        elif note is not None and there != (sqlite.box_word(note.box), sqlite.searchable(render(note))):
            yield "fts_differs", row["box"], row["id"]
    for rid in indexed:
        yield "fts_orphan", None, rid


# -- vectors ------------------------------------------------------------------------------------------


def _vectors(connection: Connection, found: Sequence[RowMapping], dimension: int) -> Iterator[Finding]:
    table = schema.vector.c
    boxes = {row["id"]: row["box"] for row in found}
    there: set[str] = set()
    for some in rows.chunks(list(boxes)):
        query = select(table.note_id, table.box, table.data).where(table.note_id.in_(some))
        for note_id, box, data in connection.execute(query):
            there.add(note_id)
            if box != boxes[note_id]:
                yield "vector_box", boxes[note_id], note_id
            if len(data) != 4 * dimension:
                yield "vector_size", boxes[note_id], note_id
            elif not abs(float(np.linalg.norm(np.frombuffer(data, dtype="<f4"))) - 1) <= _TOLERANCE:
                yield "vector_length", boxes[note_id], note_id
    for note_id, box in boxes.items():
        if note_id not in there:
            yield "vector_missing", box, note_id
