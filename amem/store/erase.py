"""Forgetting (P6): erase notes, and everything that any call made after it was shown them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, select, update

from amem.model import Frozen, Note
from amem.store import queries, rows, schema, sqlite, writes
from amem.store.plan import LINK_FIELD, REVISED
from amem.store.rewind import Step, without

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from pydantic import JsonValue
    from sqlalchemy import BindParameter, Connection, RowMapping, Select

    Fields = dict[str, JsonValue]

_link, _revision, _note, _cause = schema.link.c, schema.revision.c, schema.note.c, schema.revision_cause.c
_SOME: BindParameter[Any] = bindparam("some", expanding=True)
_NOT_TAUGHT = ("user", "undo")
"""Kinds of revisions that no note taught: the user's own, and those that follow what they undo."""


class Receipt(Frozen):
    """What was forgotten; false where there was nothing."""

    notes: int
    """Notes erased."""
    rewound: tuple[str, ...] = ()
    """Notes that had learned from them, and were taken back to what they would be without."""
    requeued: tuple[str, ...] = ()
    """Notes that wait to be built or linked anew, since the call that made them had seen the erased text."""
    links: int = 0
    """Links erased, because they touched the notes or were made by a call that had seen them."""

    def __bool__(self) -> bool:
        return self.notes > 0


def forget(
    connection: Connection,
    box: str,
    note_ids: Sequence[str],
    render: Callable[[Note], str],
    *,
    full_text: bool,
) -> Receipt:
    """Erase notes of a box within the caller's transaction.

    Every call that was shown one of them is suspect, and so is all it wrote: fields become what they would be
    without it, its links and its revisions are erased, and the notes it built or linked wait to be done anew.
    """
    gone = sorted(queries.existing(connection, list(dict.fromkeys(note_ids)), box))
    if not gone:
        return Receipt(notes=0)
    calls = _ids(connection, select(schema.call_shown.c.call_id).where(schema.call_shown.c.note_id.in_(_SOME)), gone)
    suspects = _suspects(connection, box, calls, gone)
    causes = rows.causes_of(connection, sorted(suspects))
    links = _erase_links(connection, box, calls, gone)
    fields = _rewind(connection, [row for row in suspects.values() if row["note_id"] not in gone])
    rewound = tuple(sorted(fields))
    for note_id in _ids(connection, select(_note.id).where(_note.superseded_by.in_(_SOME)), gone):
        fields.setdefault(note_id, {}).setdefault("superseded_by", None)
    built = set(_ids(connection, select(_note.id).where(_note.call_id.in_(_SOME)), calls)) - set(gone)
    mates = {note_id for ids in causes.values() for note_id in ids} - set(gone)
    before = queries.stored_notes(connection, sorted({*fields, *built, *mates}), box)
    after = {i: _without(stored, fields.get(i, {}), built, mates) for i, stored in before.items()}
    _write(connection, box, before, after, render, full_text=full_text)
    _erase_notes(connection, box, gone, full_text=full_text)
    requeued = tuple(sorted(i for i in {*built, *mates} & after.keys() if after[i].note.pending_reason == "queued"))
    return Receipt(notes=len(gone), rewound=rewound, requeued=requeued, links=links)


def _ids(connection: Connection, query: Select[Any], some: Sequence[Any]) -> list[Any]:
    found: set[Any] = set()
    for chunk in rows.chunks(some):
        found.update(connection.execute(query, {"some": chunk}).scalars())
    return sorted(found)


def _suspects(connection: Connection, box: str, calls: Sequence[int], gone: Sequence[str]) -> dict[int, RowMapping]:
    """Return the revisions that suspect calls made, or that the notes brought about, by id."""
    caused = _ids(connection, select(_cause.revision_id).where(_cause.note_id.in_(_SOME)), gone)
    found: dict[int, RowMapping] = {}
    for column, keys in ((_revision.call_id, calls), (_revision.id, caused)):
        query = select(schema.revision).where(
            _revision.box == box, column.in_(_SOME), _revision.kind.not_in(_NOT_TAUGHT)
        )
        for some in rows.chunks(keys):
            found.update({row["id"]: row for row in connection.execute(query, {"some": some}).mappings()})
    return dict(sorted(found.items()))


# -- links --------------------------------------------------------------------------------------------


def _erase_links(connection: Connection, box: str, calls: Sequence[int], gone: Sequence[str]) -> int:
    """Erase the links of suspect calls and those that touch the notes, with all that was written about them."""
    doomed: dict[int, str] = {}
    for column, keys in ((_link.call_id, calls), (_link.source, gone), (_link.target, gone)):
        for some in rows.chunks(keys):
            query = select(_link.id, _link.source).where(_link.box == box, column.in_(_SOME))
            doomed.update(connection.execute(query, {"some": some}).all())
    count = len(doomed)
    caused = _ids(connection, select(_cause.revision_id).where(_cause.note_id.in_(_SOME)), gone)
    for column, keys in ((_revision.call_id, calls), (_revision.id, caused)):
        for some in rows.chunks(keys):
            query = select(schema.revision).where(_revision.field == LINK_FIELD, column.in_(_SOME))
            for row in connection.execute(query, {"some": some}).mappings():
                doomed[(row["after"] or row["before"])["id"]] = row["note_id"]
    erase_link_revisions(connection, doomed)
    for some in rows.chunks(sorted(doomed)):
        connection.execute(delete(schema.link).where(_link.id.in_(some)))
    return count


def erase_link_revisions(connection: Connection, doomed: Mapping[int, str]) -> None:
    """Erase every coming and going of the links (link id to source): also of those that were undone meanwhile."""
    query = select(_revision.id, _revision.before, _revision.after).where(
        _revision.field == LINK_FIELD, _revision.note_id.in_(_SOME)
    )
    erased: list[int] = []
    for some in rows.chunks(sorted(set(doomed.values()))):
        for key, before, after in connection.execute(query, {"some": some}):
            if (after or before)["id"] in doomed:
                erased.append(key)
    _delete_revisions(connection, erased)


# -- fields -------------------------------------------------------------------------------------------


def _rewind(connection: Connection, suspects: Sequence[RowMapping]) -> dict[str, Fields]:
    """Rewrite the history of each field that a suspect revision changed; return the values that come of it."""
    first: dict[tuple[str, str], int] = {}
    for row in suspects:
        if row["field"] in REVISED:
            first.setdefault((row["note_id"], row["field"]), row["id"])
    tainted = {row["id"] for row in suspects}
    values: dict[str, Fields] = {}
    for (note_id, field), start in first.items():
        query = (
            select(schema.revision)
            .where(_revision.note_id == note_id, _revision.field == field, _revision.id >= start)
            .order_by(_revision.id)
        )
        history = [
            Step(row["id"], row["before"], row["after"], row["kind"], row["undoes"])
            for row in connection.execute(query).mappings()
        ]
        rewound = without(history, tainted, field)
        _delete_revisions(connection, rewound.dropped)
        for step in rewound.kept:
            changed = update(schema.revision).where(_revision.id == step.id)
            connection.execute(changed.values(before=step.before, after=step.after))
        values.setdefault(note_id, {})[field] = rewound.value
    return values


def _delete_revisions(connection: Connection, ids: Sequence[int]) -> None:
    for some in rows.chunks(ids):
        connection.execute(delete(schema.revision).where(_revision.id.in_(some)))


def _without(
    stored: queries.Stored, fields: Mapping[str, JsonValue], built: Collection[str], mates: Collection[str]
) -> queries.Stored:
    """Return a note without what it had learned; it waits to be built, or to be linked, anew where that is due."""
    note = stored.note
    state: dict[str, Any] = {}
    if note.status == "ready" and (note.id in built or note.id in mates):
        state = {"status": "pending", "pending_reason": "queued", "error": None}
    changed = Note.model_validate({**dict(note), **fields, **state, "version": note.version + 1})
    return queries.Stored(changed, stored.rid, None if note.id in built else stored.call_id)


def _write(
    connection: Connection,
    box: str,
    before: Mapping[str, queries.Stored],
    after: Mapping[str, queries.Stored],
    render: Callable[[Note], str],
    *,
    full_text: bool,
) -> None:
    """Write changed notes. One whose text changed has no vector until it is embedded anew."""
    writes.update_notes(connection, [(stored.note, stored.call_id) for stored in after.values()])
    texts = {i: render(stored.note) for i, stored in after.items()}
    moved = [i for i, text in texts.items() if text != render(before[i].note)]
    if full_text:
        sqlite.put_fts(connection, box, {after[i].rid: texts[i] for i in moved})
    writes.drop_vectors(connection, box, moved)
    writes.enqueue(connection, box, [i for i in after if i not in moved])


def _erase_notes(connection: Connection, box: str, ids: Sequence[str], *, full_text: bool) -> None:
    """Delete notes; their links, revisions, vectors and access counts go with them."""
    for some in rows.chunks(ids):
        if full_text:
            rids = connection.execute(select(_note.rid).where(_note.id.in_(some))).scalars().all()
            sqlite.drop_fts(connection, rids)
        connection.execute(delete(schema.call_shown).where(schema.call_shown.c.note_id.in_(some)))
        connection.execute(delete(schema.revision_cause).where(_cause.note_id.in_(some)))
        connection.execute(delete(schema.outbox).where(schema.outbox.c.note_id.in_(some)))
        connection.execute(delete(schema.note).where(_note.id.in_(some)))
    writes.enqueue(connection, box, ids)
    writes.raise_box(connection, box, "epoch")
