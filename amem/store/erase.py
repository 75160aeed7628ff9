"""Forgetting (P6): erase notes, and everything that came of them in others, within one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, select, update

from amem.model import Note
from amem.store import held, intent, queries, rows, schema, sqlite, writes
from amem.store.plan import HISTORIC, LINK_FIELD, status_of
from amem.store.provenance import ids_of, spread
from amem.store.receipt import Receipt
from amem.store.rewind import Step, without

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from pydantic import JsonValue
    from sqlalchemy import BindParameter, Connection, RowMapping

    from amem.store.provenance import Spread

    Fields = dict[str, JsonValue]

_link, _revision, _note, _cause = schema.link.c, schema.revision.c, schema.note.c, schema.revision_cause.c
_SOME: BindParameter[Any] = bindparam("some", expanding=True)
_ERASED = "the message was erased, since it might quote what was forgotten"


def forget(
    connection: Connection,
    box: str,
    note_ids: Sequence[str],
    render: Callable[[Note], str],
    *,
    full_text: bool,
) -> Receipt:
    """Erase notes of a box within the caller's transaction.

    Every call that was shown one of them, or what came of them, is suspect, and so is all it wrote: fields become
    what they would be without it, its links and its revisions are erased, and the notes it built or linked wait to be
    done anew.
    """
    gone = _with_distilled(connection, box, queries.standing(connection, list(dict.fromkeys(note_ids)), box))
    if not gone:
        return Receipt()
    seen = spread(connection, box, gone)
    while more := _products(connection, box, seen).difference(gone):
        gone = _with_distilled(connection, box, {*gone, *more})
        seen = spread(connection, box, gone)
    causes = rows.causes_of(connection, list(seen.revisions))
    links = _erase_links(connection, box, seen, gone)
    fields = _rewind(connection, [row for row in seen.revisions.values() if row["note_id"] not in gone])
    rewound = tuple(sorted(fields))
    for note_id in ids_of(connection, select(_note.id).where(_note.superseded_by.in_(_SOME)), gone):
        fields.setdefault(note_id, {}).setdefault("superseded_by", None)
    built = _built_by(connection, box, seen).difference(gone)
    mates = {note_id for ids in causes.values() for note_id in ids}.difference(gone)
    before = queries.stored_notes(connection, sorted({*fields, *built, *mates}), box)
    after = {i: _without(stored, fields.get(i, {}), built, mates) for i, stored in before.items()}
    _write(connection, box, before, after, render, full_text=full_text)
    _unlearn(connection, [i for i in rewound if i in after])
    held.forget(connection, [*gone, *after])
    _erase_notes(connection, box, gone, full_text=full_text)
    errors = _erase_errors(connection, box)
    intent.declare(connection, box)
    requeued = tuple(sorted(i for i in {*built, *mates} & after.keys() if after[i].note.pending_reason == "queued"))
    return Receipt(erased=tuple(gone), rewound=rewound, requeued=requeued, links=links, errors=errors)


def _with_distilled(connection: Connection, box: str, note_ids: Collection[str]) -> list[str]:
    """Return the notes, and those that were distilled from any of them: a strategy that distils makes these anew."""
    gone = set(note_ids)
    if not gone:
        return []
    query = select(_note.id, _note.sources).where(_note.box == box)
    made = [(note_id, sources) for note_id, sources in connection.execute(query) if sources]
    while more := {note_id for note_id, sources in made if note_id not in gone and not gone.isdisjoint(sources)}:
        gone |= more
    return sorted(gone)


def _products(connection: Connection, box: str, seen: Spread) -> set[str]:
    """Return the notes that suspect calls wrote whole: those that they made, and had not been shown."""
    shown = schema.call_shown.c
    query = (
        select(_note.id, _note.call_id)
        .outerjoin(schema.call_shown, (shown.call_id == _note.call_id) & (shown.note_id == _note.id))
        .where(_note.box == box, _note.call_id >= seen.first, shown.note_id.is_(None))
    )
    return {note_id for note_id, call_id in connection.execute(query) if seen.holds(call_id)}


def _built_by(connection: Connection, box: str, seen: Spread) -> set[str]:
    query = select(_note.id, _note.call_id).where(_note.box == box, _note.call_id >= seen.first)
    return {note_id for note_id, call_id in connection.execute(query) if seen.holds(call_id)}


# -- links --------------------------------------------------------------------------------------------


def _erase_links(connection: Connection, box: str, seen: Spread, gone: Sequence[str]) -> int:
    """Erase the links of suspect calls and those that touch the notes, with all that was written about them."""
    made = select(_link.id, _link.source, _link.call_id).where(_link.box == box, _link.call_id >= seen.first)
    doomed = {key: source for key, source, call_id in connection.execute(made) if seen.holds(call_id)}
    for column in (_link.source, _link.target):
        for some in rows.chunks(gone):
            query = select(_link.id, _link.source).where(_link.box == box, column.in_(_SOME))
            doomed.update(connection.execute(query, {"some": some}).all())
    count = len(doomed)
    for row in _told_of_links(connection, box, seen, gone):
        doomed[(row["after"] or row["before"])["id"]] = row["note_id"]
    erase_link_revisions(connection, doomed)
    for some in rows.chunks(sorted(doomed)):
        connection.execute(delete(schema.link).where(_link.id.in_(some)))
    return count


def _told_of_links(connection: Connection, box: str, seen: Spread, gone: Sequence[str]) -> Iterable[RowMapping]:
    """Yield the revisions of links that suspect calls made, or that the notes brought about, of undone ones as well."""
    of_links = select(schema.revision).where(_revision.field == LINK_FIELD)
    by_calls = of_links.where(_revision.box == box, _revision.call_id >= seen.first)
    yield from (row for row in connection.execute(by_calls).mappings().all() if seen.holds(row["call_id"]))
    caused = ids_of(connection, select(_cause.revision_id).where(_cause.note_id.in_(_SOME)), gone)
    for some in rows.chunks(caused):
        yield from connection.execute(of_links.where(_revision.id.in_(_SOME)), {"some": some}).mappings().all()


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
        if row["field"] in HISTORIC:
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
        _settle_marks(connection, note_id, field)
        values.setdefault(note_id, {})[field] = rewound.value
    return values


def _settle_marks(connection: Connection, note_id: str, field: str) -> None:
    """Mark as undone what a revision that stands undoes, and nothing else: the undoing may have been erased."""
    query = (
        select(_revision.id, _revision.undoes, _revision.undone)
        .where(_revision.note_id == note_id, _revision.field == field)
        .order_by(_revision.id.desc())  # whatever undoes a revision is newer than that
    )
    taken: set[int | None] = set()
    wrong: dict[bool, list[int]] = {True: [], False: []}
    for key, undoes, undone in connection.execute(query):
        if key not in taken:
            taken.add(undoes)
        if undone != (key in taken):
            wrong[key in taken].append(key)
    for undone, keys in wrong.items():
        writes.mark_undone(connection, keys, undone=undone)


def _delete_revisions(connection: Connection, ids: Sequence[int]) -> None:
    for some in rows.chunks(ids):
        connection.execute(delete(schema.revision).where(_revision.id.in_(some)))


def _without(
    stored: queries.Stored, fields: Mapping[str, JsonValue], built: Collection[str], mates: Collection[str]
) -> queries.Stored:
    """Return a note without what it had learned; it waits to be built, or to be linked, anew where that is due."""
    note = stored.note
    state: dict[str, Any] = {}
    if note.status != "pending" and (note.id in built or note.id in mates):
        state = {"pending_reason": "queued", "error": None}
    if fields.get("status", note.status) != "archived":
        state["status"] = status_of(state.get("pending_reason", note.pending_reason))
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


def _unlearn(connection: Connection, note_ids: Sequence[str]) -> None:
    """Have a call that was shown an earlier version, and is still out, come too late."""
    for some in rows.chunks(note_ids):
        connection.execute(update(schema.note).where(_note.id.in_(some)).values(unlearned=_note.version))


def _erase_errors(connection: Connection, box: str) -> int:
    """Leave nothing but the type of every error in the box: a message may quote what a model was shown or said."""
    query = select(_note.id, _note.error).where(_note.box == box, _note.error.is_not(None))
    kinds = {note_id: error.partition(":")[0] for note_id, error in connection.execute(query) if _ERASED not in error}
    for note_id, kind in kinds.items():
        connection.execute(update(schema.note).where(_note.id == note_id).values(error=f"{kind}: {_ERASED}"))
    return len(kinds)


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
