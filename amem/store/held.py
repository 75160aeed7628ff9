"""Plans that wait for review: kept whole, with every note they speak of, so that forgetting finds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError
from sqlalchemy import bindparam, delete, insert, select

from amem.store import rows, schema
from amem.store.plan import Plan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sqlalchemy import BindParameter, Connection

    from amem.store.audit import Finding

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
    _file(connection, int(key), plan)
    return int(key)


def _file(connection: Connection, key: int, plan: Plan) -> None:
    named = [{"held_id": key, "note_id": note_id} for note_id in sorted(spoken_of(plan))]
    connection.execute(insert(schema.held_note), named)


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


def faults(connection: Connection) -> Iterator[Finding]:
    """Yield plans that cannot be reviewed, and those that forgetting would not find by their notes."""
    here = select(schema.note.c.id).where(schema.note.c.id.in_(_SOME), schema.note.c.box == bindparam("here"))
    filed = select(_note.note_id).where(_note.held_id == bindparam("held"))
    for key, box, text in connection.execute(select(_held.id, _held.box, _held.plan).order_by(_held.id)).all():
        named = _readable_names(text, box)
        there = {
            note_id
            for some in rows.chunks(sorted(named or ()))
            for note_id in connection.execute(here, {"some": some, "here": box}).scalars()
        }
        if named is None or there != named:
            yield "held", box, key
        elif named != set(connection.execute(filed, {"held": key}).scalars()):
            yield "held_note", box, key


def mend(connection: Connection, broken: Sequence[int], misfiled: Sequence[int]) -> None:
    """Throw broken plans away, and file others under the notes that they speak of."""
    for some in rows.chunks(list(broken)):
        connection.execute(delete(schema.held).where(_held.id.in_(some)))
    for some in rows.chunks(list(misfiled)):
        connection.execute(delete(schema.held_note).where(_note.held_id.in_(some)))
        for key, text in connection.execute(select(_held.id, _held.plan).where(_held.id.in_(some))).all():
            _file(connection, key, Plan.model_validate_json(text))


def _readable_names(text: str, box: str) -> set[str] | None:
    """Return the notes that a plan speaks of, or None where it is no plan of the box."""
    try:
        plan = Plan.model_validate_json(text)
    except ValidationError:
        return None
    return spoken_of(plan) if plan.box == box else None


def spoken_of(plan: Plan) -> set[str]:
    """Return the notes that a plan speaks of."""
    ends: Iterable[str] = (end for planned in plan.links for end in (planned.link.source, planned.link.target))
    shown = (note_id for call in plan.calls for note_id in call.shown)
    return {*ends, *plan.caused_by, *shown, *(change.note_id for change in plan.changes)}
