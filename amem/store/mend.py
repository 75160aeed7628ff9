"""Mending rows that should not be there; no note is changed, and no history but that of links which lead nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, func, insert, select, update

from amem.store import erase, held, rows, schema, writes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from sqlalchemy import Connection, Table

    from amem.store.report import Problem

LINKS = frozenset({"link_value", "link_dangling", "link_box", "link_self", "link_twice"})
VECTORS = frozenset({"vector_size", "vector_length", "vector_box"})
WORDS = frozenset({"fts_damaged", "fts_missing", "fts_differs", "fts_orphan"})
INDEX = frozenset({"index_missing", "index_ghost", "index_differs"})


def mend(connection: Connection, problems: Iterable[Problem]) -> None:
    """Do what can be done in the database itself, within the caller's transaction.

    Bad vectors are dropped: their notes wait for new ones. What Chroma lacks or should not have is put into the
    outbox. The full text is not touched.
    """
    problems = list(problems)
    _list_boxes(connection)
    _rows_without_owner(connection)
    _links(connection, _keys(problems, LINKS))
    held.mend(connection, _keys(problems, {"held"}), _keys(problems, {"held_note"}))
    for found in problems:
        if found.box is not None and found.kind in VECTORS:
            writes.drop_vectors(connection, found.box, found.ids)
        elif found.box is not None and found.kind in INDEX:
            writes.enqueue(connection, found.box, found.ids)
    _box_revisions(connection)
    _part_collections(connection)


def _keys(problems: Iterable[Problem], kinds: Collection[str]) -> list[int]:
    return [int(key) for found in problems if found.kind in kinds for key in found.ids]


def _list_boxes(connection: Connection) -> None:
    """List every box that a note is in: a note is never dropped for want of one."""
    note, box = schema.note.c, schema.box
    homeless = select(note.box, func.min(note.created_at)).where(note.box.not_in(select(box.c.name)))
    for name, since in connection.execute(homeless.group_by(note.box)).all():
        connection.execute(insert(box).values(name=name, revision=0, epoch=1, created_at=since))


def _rows_without_owner(connection: Connection) -> None:
    note, call, box = schema.note, schema.call, schema.box
    for table, column, owner in (
        (schema.link, "source", note.c.id),
        (schema.link, "target", note.c.id),
        (schema.revision, "note_id", note.c.id),
        (schema.revision_cause, "note_id", note.c.id),
        (schema.revision_cause, "revision_id", schema.revision.c.id),
        (schema.call_shown, "note_id", note.c.id),
        (schema.call_shown, "call_id", call.c.id),
        (schema.vector, "note_id", note.c.id),
        (schema.access, "note_id", note.c.id),
        (schema.held_note, "held_id", schema.held.c.id),
        (schema.outbox, "box", box.c.name),
    ):
        connection.execute(delete(table).where(table.c[column].not_in(select(owner))))
    for table in (note, schema.link, schema.revision):
        _forget_lost_calls(connection, table)


def _forget_lost_calls(connection: Connection, table: Table) -> None:
    lost = table.c.call_id.is_not(None) & table.c.call_id.not_in(select(schema.call.c.id))
    connection.execute(update(table).where(lost).values(call_id=None))


def _links(connection: Connection, ids: Sequence[int]) -> None:
    """Delete links, and what revisions tell of them."""
    link = schema.link.c
    for some in rows.chunks(ids):
        found = connection.execute(select(link.id, link.source).where(link.id.in_(some))).all()
        erase.erase_link_revisions(connection, dict(found))
        connection.execute(delete(schema.link).where(link.id.in_(some)))


def _box_revisions(connection: Connection) -> None:
    vector, box = schema.vector.c, schema.box
    newest = select(vector.box, func.max(vector.revision)).group_by(vector.box)
    for name, revision in connection.execute(newest).all():
        behind = (box.c.name == name) & (box.c.revision < revision)
        connection.execute(update(box).where(behind).values(revision=revision))


def _part_collections(connection: Connection) -> None:
    """Take a collection that several boxes have from all of them: each gets one of its own when it is next fed."""
    box = schema.box
    shared = select(box.c.collection).group_by(box.c.collection).having(func.count() > 1)
    connection.execute(update(box).where(box.c.collection.in_(shared.scalar_subquery())).values(collection=None))
