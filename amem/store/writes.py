"""Writing the ledger: the statements behind accept, commit and erase, within the caller's transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import bindparam, delete, func, insert, select, update

from amem.store import rows, schema
from amem.store.erase_box import first_epoch
from amem.store.prepared import Prepared

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    import numpy as np
    from sqlalchemy import Connection, Table

    from amem.model import Link, Note, Revision, Usage
    from amem.store.plan import Call
    from amem.store.queries import Standing
    from amem.store.rows import Logged

_FIXED = {
    "rid", "id", "box", "agent_id", "session_id", "position", "content", "source_key", "sources", "trust", "created_at",
    "unlearned",
}  # fmt: skip
_MUTABLE = [column.name for column in schema.note.c if column.name not in _FIXED]
_box, _note, _link, _revision, _usage = schema.box.c, schema.note.c, schema.link.c, schema.revision.c, schema.usage.c
_HERE = _box.name == bindparam("wanted")


def _all_columns(table: Table, but: str = "") -> list[str]:
    return [column.name for column in table.c if column.name != but]


def _insert(table: Table, key: str | None = None) -> Prepared:
    """Prepare an INSERT of whole rows; `key` is a column that the database fills and that is to be returned."""
    if key is None:
        return Prepared(insert(table), _all_columns(table))
    return Prepared(insert(table).returning(table.c[key]), _all_columns(table, but=key))


_RAISE = {
    column: Prepared(
        update(schema.box).where(_HERE).values({column: _box[column] + 1}).returning(_box[column]),
    )
    for column in ("revision", "epoch")
}
_BOX = Prepared(select(_box.name).where(_HERE))
_LAST_POSITION = Prepared(
    select(func.max(_note.position)).where(_note.box == bindparam("box"), _note.session_id == bindparam("session_id"))
)
_NEW_NOTE = _insert(schema.note, "rid")
_CHANGED_NOTE = Prepared(
    update(schema.note).where(_note.id == bindparam("wanted")).values({name: bindparam(name) for name in _MUTABLE})
)
_NEW_CALL = _insert(schema.call, "id")
_NEW_SHOWN = _insert(schema.call_shown)
_NEW_LINK = _insert(schema.link, "id")
_OLD_LINK = _insert(schema.link)
_NEW_REVISION = _insert(schema.revision, "id")
_NEW_CAUSE = _insert(schema.revision_cause)
_NEW_VECTOR = _insert(schema.vector)
_CHANGED_VECTOR = Prepared(
    update(schema.vector)
    .where(schema.vector.c.note_id == bindparam("wanted"))
    .values(revision=bindparam("revision"), data=bindparam("data"))
)
_OLD_VECTOR = Prepared(delete(schema.vector).where(schema.vector.c.note_id == bindparam("note_id")))
_WAIT = Prepared(insert(schema.outbox), ["box", "note_id"])
_UNDONE = Prepared(update(schema.revision).where(_revision.id == bindparam("wanted")).values(undone=bindparam("now")))
_MORE_USAGE = Prepared(
    update(schema.usage)
    .where(_usage.box == bindparam("a"), _usage.stage == bindparam("b"), _usage.model == bindparam("c"))
    .values({name: _usage[name] + bindparam(f"more_{name}") for name in schema.USAGE_SUMS})
)
_NEW_USAGE = _insert(schema.usage)
_ACCESSED = Prepared(
    update(schema.access)
    .where(schema.access.c.note_id == bindparam("wanted"))
    .values(count=schema.access.c.count + bindparam("more"), last_at=bindparam("now"))
)
_NEW_ACCESS = _insert(schema.access)


def ensure_box(connection: Connection, name: str, at: datetime) -> None:
    """Create the box where it does not exist."""
    if not has_box(connection, name):
        epoch = first_epoch(connection)
        connection.execute(insert(schema.box).values(name=name, revision=0, epoch=epoch, created_at=at))


def has_box(connection: Connection, name: str) -> bool:
    """Whether there is such a box."""
    return bool(_BOX.rows(connection, wanted=name))


def raise_box(connection: Connection, name: str, column: str) -> int:
    """Raise a box's `revision` or `epoch` by one and return it."""
    (value,) = _RAISE[column].keys(connection, [{"wanted": name}])
    return value


def raise_epochs(connection: Connection) -> None:
    """Have every copy in memory of any box notice."""
    connection.execute(update(schema.box).values(epoch=_box.epoch + 1))


def next_position(connection: Connection, box: str, session_id: str) -> int:
    """Return the position after the last one of a session."""
    ((last,),) = _LAST_POSITION.rows(connection, box=box, session_id=session_id)
    return 0 if last is None else int(last) + 1


def insert_notes(connection: Connection, notes: Sequence[tuple[Note, str | None]]) -> list[int]:
    """Insert notes with their source keys; return their row ids."""
    return _NEW_NOTE.keys(
        connection,
        [{**rows.note_row(note), "source_key": key, "call_id": None, "unlearned": 0} for note, key in notes],
    )


def update_notes(connection: Connection, notes: Sequence[tuple[Note, int | None]]) -> None:
    """Write what can change of notes, each with the call that built it."""
    _CHANGED_NOTE.run(
        connection, [{**rows.note_row(note), "call_id": call_id, "wanted": note.id} for note, call_id in notes]
    )


def put_vectors(connection: Connection, box: str, vectors: Mapping[str, np.ndarray], *, fresh: bool = False) -> None:
    """Store vectors by note id, and have Chroma told; `fresh` says that none of the notes has one yet."""
    if not vectors and not fresh:
        return
    revision = raise_box(connection, box, "revision")
    values = [
        {"note_id": note_id, "wanted": note_id, "box": box, "revision": revision, "data": rows.to_bytes(vector)}
        for note_id, vector in vectors.items()
    ]
    new = values if fresh else [row for row in values if _CHANGED_VECTOR.run(connection, [row]) == 0]
    _NEW_VECTOR.run(connection, new)
    enqueue(connection, box, list(vectors))


def drop_vectors(connection: Connection, box: str, note_ids: Sequence[str]) -> None:
    """Delete vectors whose notes stay, have Chroma told, and every cache notice."""
    if note_ids:
        _OLD_VECTOR.run(connection, [{"note_id": note_id} for note_id in note_ids])
        enqueue(connection, box, note_ids)
        raise_box(connection, box, "epoch")


def enqueue(connection: Connection, box: str, note_ids: Sequence[str]) -> None:
    """Note down that Chroma has to be told of notes: of their vectors, or that they have none any more."""
    _WAIT.run(connection, [{"box": box, "note_id": note_id} for note_id in note_ids])


def insert_calls(
    connection: Connection, calls: Sequence[Call], there: Mapping[str, Standing], at: datetime
) -> list[int]:
    """Record calls and what they were shown, of notes that are `there`; return their ids."""
    values = [{"stage": c.stage, "model": c.model, "prompt": c.prompt, "created_at": at} for c in calls]
    ids = _NEW_CALL.keys(connection, values)
    shown = [
        {"call_id": call_id, "note_id": note_id, "version": there[note_id].version if version is None else version}
        for call_id, call in zip(ids, calls, strict=True)
        for note_id, version in sorted(call.sights.items())
    ]
    _NEW_SHOWN.run(connection, shown)
    return ids


def insert_links(connection: Connection, links: Sequence[tuple[Link, int | None]]) -> list[int]:
    """Insert links with the calls behind them; return their ids. One with an id keeps it."""
    values = [rows.link_row(link, call_id) for link, call_id in links]
    _OLD_LINK.run(connection, [row for row in values if row["id"] is not None])
    keys = iter(_NEW_LINK.keys(connection, [row for row in values if row["id"] is None]))
    return [next(keys) if row["id"] is None else row["id"] for row in values]


def take_links(connection: Connection, box: str, ids: Sequence[int]) -> list[Link]:
    """Remove links and return what they were."""
    if not ids:
        return []
    here = (_link.box == box) & _link.id.in_(list(ids))
    found = connection.execute(select(schema.link).where(here).order_by(_link.id)).mappings().all()
    connection.execute(delete(schema.link).where(here))
    return [rows.to_link(row, {}) for row in found]


def insert_revisions(connection: Connection, logged: Sequence[Logged]) -> list[Revision]:
    """Append revisions; return them with their ids."""
    keys = _NEW_REVISION.keys(connection, [rows.revision_row(item) for item in logged])
    stored = [item.revision.model_copy(update={"id": key}) for key, item in zip(keys, logged, strict=True)]
    causes = [
        {"revision_id": item.id, "note_id": note_id} for item in stored for note_id in dict.fromkeys(item.cause.notes)
    ]
    _NEW_CAUSE.run(connection, causes)
    return stored


def mark_undone(connection: Connection, revision_ids: Sequence[int], *, undone: bool) -> None:
    """Note down that revisions are taken back, or stand again."""
    _UNDONE.run(connection, [{"wanted": key, "now": undone} for key in revision_ids])


def settle_builders(connection: Connection, revision_ids: Sequence[int]) -> None:
    """Say of notes whose builds were taken back, or stand again, which call made what they are known for now."""
    if not revision_ids:
        return
    last = (
        select(_revision.call_id)
        .where(_revision.note_id == _note.id, _revision.kind == "build", _revision.undone.is_(False))
        .order_by(_revision.id.desc())
        .limit(1)
        .scalar_subquery()
    )
    for some in rows.chunks(revision_ids):
        rebuilt = select(_revision.note_id).where(_revision.id.in_(some), _revision.kind == "build")
        connection.execute(
            update(schema.note).where(_note.id.in_(rebuilt)).values(call_id=func.coalesce(last, _note.call_id))
        )


def touch(connection: Connection, accesses: Mapping[str, tuple[int, datetime]]) -> None:
    """Raise the access counts of notes that still exist."""
    there: set[str] = set()
    for some in rows.chunks(list(accesses)):
        there.update(connection.execute(select(_note.id).where(_note.id.in_(some))).scalars())
    for note_id in sorted(there):
        count, at = accesses[note_id]
        if _ACCESSED.run(connection, [{"wanted": note_id, "more": count, "now": at}]) == 0:
            _NEW_ACCESS.run(connection, [{"note_id": note_id, "count": count, "last_at": at}])


def add_usage(connection: Connection, box: str, stage: str, model: str, spent: Usage) -> None:
    """Add to the running totals."""
    sums = {name: getattr(spent, name) for name in schema.USAGE_SUMS}
    more = {f"more_{name}": value for name, value in sums.items()}
    if _MORE_USAGE.run(connection, [{"a": box, "b": stage, "c": model, **more}]) == 0:
        _NEW_USAGE.run(connection, [{"box": box, "stage": stage, "model": model, **sums}])
