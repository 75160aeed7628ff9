"""Forgetting a whole box, its name included."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, func, insert, select, text

from amem.store import intent, schema
from amem.store.receipt import Receipt

if TYPE_CHECKING:
    from sqlalchemy import Connection

_EPOCHS = "epochs"
"""Above every epoch of a box that is gone: one that comes again under its name must not be taken for it by a cache."""
_meta, _note = schema.meta.c, schema.note.c


def forget_box(connection: Connection, box: str, *, full_text: bool) -> Receipt:
    """Erase everything that a box has, and that there was one, within the caller's transaction.

    Nothing crosses boxes, so nothing has to be followed.
    """
    state = connection.execute(select(schema.box.c.epoch).where(schema.box.c.name == box)).scalar()
    if state is None:
        return Receipt()
    ids = connection.execute(select(_note.id).where(_note.box == box).order_by(_note.rid)).scalars().all()
    links = connection.execute(select(func.count()).select_from(schema.link).where(schema.link.c.box == box))
    count = links.scalar_one()
    intent.declare(connection, box)
    mine = select(_note.id).where(_note.box == box)
    if full_text:
        here = "DELETE FROM note_fts WHERE rowid IN (SELECT rid FROM note WHERE box = :box)"
        connection.execute(text(here), {"box": box})
    connection.execute(delete(schema.call_shown).where(schema.call_shown.c.note_id.in_(mine)))
    connection.execute(delete(schema.revision_cause).where(schema.revision_cause.c.note_id.in_(mine)))
    for table in (schema.outbox, schema.held, schema.link, schema.revision, schema.vector, schema.usage, schema.note):
        connection.execute(delete(table).where(table.c.box == box))
    connection.execute(delete(schema.box).where(schema.box.c.name == box))
    _leave_epoch(connection, int(state))
    return Receipt(erased=tuple(ids), links=count)


def first_epoch(connection: Connection) -> int:
    """Return the epoch that a new box begins with."""
    value = connection.execute(select(_meta.value).where(_meta.key == _EPOCHS)).scalar()
    return 0 if value is None else int(value)


def _leave_epoch(connection: Connection, epoch: int) -> None:
    above = max(first_epoch(connection), epoch + 1)
    connection.execute(delete(schema.meta).where(_meta.key == _EPOCHS))
    connection.execute(insert(schema.meta).values(key=_EPOCHS, value=str(above)))
