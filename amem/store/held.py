"""Plans that wait for review: kept whole, with every note they speak of, so that forgetting finds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import bindparam, delete, insert, select

from amem.store import rows, schema
from amem.store.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import BindParameter, Connection

_held, _note = schema.held.c, schema.held_note.c
_SOME: BindParameter[Any] = bindparam("some", expanding=True)


class Held(NamedTuple):
    """A plan that waits, under its number."""

    id: int
    plan: Plan


def keep(connection: Connection, plan: Plan) -> int:
    """Keep a plan for review; return its number."""
    row = {"box": plan.box, "plan": plan.model_dump_json(), "created_at": plan.at}
    (key,) = connection.execute(insert(schema.held).values(row)).inserted_primary_key or (0,)
    named = [{"held_id": key, "note_id": note_id} for note_id in sorted(_named(plan))]
    connection.execute(insert(schema.held_note), named)
    return int(key)


def waiting(connection: Connection, box: str, key: int | None = None) -> list[Held]:
    """Return the plans of a box that wait, oldest first; or the one of that number."""
    query = select(_held.id, _held.plan).where(_held.box == box).order_by(_held.id)
    if key is not None:
        query = query.where(_held.id == key)
    return [Held(found, Plan.model_validate_json(plan)) for found, plan in connection.execute(query)]


def drop(connection: Connection, box: str, key: int) -> bool:
    """Take a plan off the list; return whether it was on it."""
    return connection.execute(delete(schema.held).where(_held.box == box, _held.id == key)).rowcount > 0


def forget(connection: Connection, note_ids: Sequence[str]) -> None:
    """Erase every plan that speaks of any of the notes, or was made by a call that was shown one."""
    for some in rows.chunks(list(note_ids)):
        doomed = select(_note.held_id).where(_note.note_id.in_(_SOME))
        connection.execute(delete(schema.held).where(_held.id.in_(doomed)), {"some": some})


def _named(plan: Plan) -> set[str]:
    ends: Iterable[str] = (end for planned in plan.links for end in (planned.link.source, planned.link.target))
    shown = (note_id for call in plan.calls for note_id in call.shown)
    return {*ends, *plan.caused_by, *shown, *(change.note_id for change in plan.changes)}
