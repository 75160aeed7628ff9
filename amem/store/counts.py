"""Counting: how much there is in a box, and what it has cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import func, select

from amem.model import Stats, Usage
from amem.store import schema

if TYPE_CHECKING:
    from sqlalchemy import Connection


def counts(connection: Connection, box: str) -> dict[str, dict[str, int]]:
    """Return counts of a box: notes by status, pending by reason, and the other tables."""
    table = schema.note.c
    by_status = select(table.status, func.count()).where(table.box == box).group_by(table.status)
    by_reason = (
        select(table.pending_reason, func.count())
        .where(table.box == box, table.status == "pending")
        .group_by(table.pending_reason)
    )
    others = {
        name: connection.execute(select(func.count()).where(owner.c.box == box)).scalar_one()
        for name, owner in (
            ("links", schema.link),
            ("revisions", schema.revision),
        )
    }
    waiting = select(func.count(schema.outbox.c.note_id.distinct())).join(
        schema.vector, schema.vector.c.note_id == schema.outbox.c.note_id
    )
    others["unindexed"] = connection.execute(waiting.where(schema.outbox.c.box == box)).scalar_one()
    return {
        "status": dict(connection.execute(by_status).all()),
        "pending": dict(connection.execute(by_reason).all()),
        "others": others,
    }


def stats(connection: Connection, box: str, *, index: str) -> Stats:
    """Return counts and costs of a box; `index` says how its search works now."""
    found = counts(connection, box)
    status, others = found["status"], found["others"]
    return Stats(
        box=box,
        notes=sum(status.values()),
        ready=status.get("ready", 0),
        pending=found["pending"],
        archived=status.get("archived", 0),
        index=index,
        usage=usage(connection, box),
        **others,
    )


def usage(connection: Connection, box: str) -> dict[str, Usage]:
    """Return what a box's calls have cost, by stage."""
    total: dict[str, Usage] = {}
    for row in connection.execute(select(schema.usage).where(schema.usage.c.box == box)).mappings():
        spent = Usage(**{name: row[name] for name in Usage.model_fields})
        total[row["stage"]] = total.get(row["stage"], Usage()) + spent
    return total


def without_vector(connection: Connection, box: str | None) -> int:
    """Return how many notes of a box, or of all, have no vector."""
    note, vector = schema.note, schema.vector
    query = select(func.count()).select_from(note.outerjoin(vector, vector.c.note_id == note.c.id))
    query = query.where(vector.c.note_id.is_(None))
    if box is not None:
        query = query.where(note.c.box == box)
    return int(connection.execute(query).scalar_one())


def stored_dimension(connection: Connection) -> int:
    """Return the length of any one vector, or 0 where there is none."""
    found = connection.execute(select(schema.vector.c.data).limit(1)).scalar()
    return 0 if found is None else len(found) // 4


def usual_dimension(connection: Connection) -> int:
    """Return the length that most vectors have, or 0 where there is none."""
    size = func.length(schema.vector.c.data)
    query = select(size).group_by(size).order_by(func.count().desc(), size).limit(1)
    return (connection.execute(query).scalar() or 0) // 4
