"""Where a text still is in the database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import JSON, String, Text, select, type_coerce

from amem.store import rows, schema, sqlite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import ColumnElement, Table

    from amem.store.database import Database

_note = schema.note.c


def contents(database: Database, box: str, note_ids: Sequence[str] | None) -> list[str]:
    """Return the texts of notes, or of all notes of the box."""
    with database.reading() as connection:
        if note_ids is None:
            return list(connection.execute(select(_note.content).where(_note.box == box)).scalars())
        query = select(_note.content).where(_note.box == box)
        return [
            content
            for some in rows.chunks(note_ids)
            for content in connection.execute(query.where(_note.id.in_(some))).scalars()
        ]


def held_by_others(database: Database, pieces: Sequence[str]) -> set[str]:
    """Return the pieces that stand in the content of some note."""
    if not pieces:
        return set()
    with database.reading() as connection:
        texts = connection.execute(select(_note.content)).scalars()
        return {piece for text in texts for piece in pieces if piece in text}


def tables_with(database: Database, pieces: Sequence[str], note_ids: Sequence[str]) -> list[str]:
    """Return the tables that hold a piece of text, or a row of one of the notes, as `table.column`."""
    gone = set(note_ids)
    found: dict[str, None] = {}
    with database.reading() as connection:
        for table in schema.metadata.sorted_tables:
            columns = _texts(table)
            for row in connection.execute(select(*columns)):
                for column, value in zip(columns, row, strict=True):
                    is_there = value is not None and (
                        any(piece in value for piece in pieces) or (table is not schema.outbox and value in gone)
                    )
                    if is_there:
                        found[f"{table.name}.{column.name}"] = None
    return list(found)


def full_text_with(database: Database, pieces: Sequence[str]) -> list[str]:
    """Return the rows of the full-text index that hold a piece of text."""
    if not (database.is_sqlite and pieces):
        return []
    wanted = [sqlite.searchable(piece).strip() for piece in pieces]
    with database.reading() as connection:
        found = sqlite.fts_rows(connection, -1, None)
        return [f"row {rid}" for rid, _, body in found if any(piece in body for piece in wanted)]


def _texts(table: Table) -> list[ColumnElement[str]]:
    """Return a table's texts, those that are kept as JSON as they are kept."""
    return [
        type_coerce(column, Text).label(column.name) for column in table.c if isinstance(column.type, (String, JSON))
    ]
