"""What calls wrote whole: memories distilled from turns, and notes that sum others up; which may be made anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import exists, select

from amem.store import queries, rows, schema, tending
from amem.store.plan import LINK_FIELD

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import ColumnElement, Connection

    from amem.model import Note, Revision, Stage

WHOLE: tuple[Stage, ...] = ("distill", "consolidate")
"""Stages whose calls write notes instead of saying what notes are known for."""
BY_HAND = "you pinned or changed it by hand"
WAITS = "what it would end waits for review"
LOST_TURN = "a turn that it was distilled from was corrected or archived since"
PARTED = "a note that it sums up does not stand behind it any more"

_call, _note, _revision, _shown = schema.call.c, schema.note.c, schema.revision.c, schema.call_shown.c


class Written(NamedTuple):
    """What one call wrote, and of what."""

    stage: Stage
    sources: list[Note]
    """The turns that are to be distilled again, or the notes that are to be summed up again, in order."""
    memories: list[Note]
    """What is to be made anew."""
    links: list[Revision]
    """The makings of links by which a turn only says again what a memory says: to be taken back."""
    others: list[Note]
    """Other memories of the same turns, in use or put aside by the user or upkeep: what they say is not told again."""


class Writings(NamedTuple):
    """All that stale calls wrote."""

    written: list[Written]
    kept: list[tuple[Note, str]]
    """What is to stay as it is, and why."""


class _Wrote(NamedTuple):
    stage: Stage
    memories: list[Note]
    links: list[Revision]


def find(connection: Connection, box: str, stale: ColumnElement[bool]) -> Writings:
    """Find what stale calls wrote in a box; what is archived, or has another note in its place, is left out."""
    memories, calls = _memories(connection, box, stale)
    kept = _untouchable(connection, box, memories)
    wrote: dict[int, _Wrote] = {}
    for note in memories:
        call_id, stage = calls[note.id]
        wrote.setdefault(call_id, _Wrote(stage, [], [])).memories.append(note)
    for call_id, revision in _again(connection, box, stale):
        wrote.setdefault(call_id, _Wrote("distill", [], [])).links.append(revision)
    written: dict[tuple[str, ...], Written] = {}
    for call_id, found in sorted(wrote.items()):
        sources = _sources(connection, box, call_id, found, kept)
        free = [note for note in found.memories if note.id not in kept]
        if sources and (free or found.links):
            key = tuple(note.id for note in sources)
            same = written.setdefault(key, Written(found.stage, sources, [], [], []))
            same.memories.extend(free)
            same.links.extend(found.links)
    done = _with_others(connection, box, list(written.values()))
    there = {note.id: note for note in memories}
    return Writings(done, [(there[note_id], why) for note_id, why in kept.items()])


def _memories(
    connection: Connection, box: str, stale: ColumnElement[bool]
) -> tuple[list[Note], dict[str, tuple[int, Stage]]]:
    """Return the memories in use that stale calls wrote, as they were accepted, and by which call, at which stage."""
    seen = exists().where(_shown.call_id == _note.call_id, _shown.note_id == _note.id)
    query = (
        select(_note.id, _note.call_id, _call.stage)
        .join(schema.call, _call.id == _note.call_id)
        .where(_note.box == box, _note.status == "ready", _call.stage.in_(WHOLE), stale, ~seen)
        .order_by(_note.rid)
    )
    calls = {note_id: (call_id, stage) for note_id, call_id, stage in connection.execute(query)}
    notes = queries.notes_by_id(connection, list(calls))
    successors = [note.superseded_by for note in notes.values() if note.superseded_by is not None]
    facts = {i for i, note in queries.notes_by_id(connection, successors).items() if note.kind == "fact"}
    in_use = [n for n in notes.values() if n.superseded_by is None or (n.kind == "fact" and n.superseded_by in facts)]
    return in_use, calls


def _untouchable(connection: Connection, box: str, memories: Sequence[Note]) -> dict[str, str]:
    """Return why memories are to stay: the user had a hand in them, or something waits for review that they caused."""
    by_hand: set[str] = set()
    for some in rows.chunks([note.id for note in memories]):
        query = select(_revision.note_id).where(
            _revision.note_id.in_(some),
            _revision.kind == "user",
            _revision.field != LINK_FIELD,
            _revision.undone.is_(False),
        )
        by_hand.update(connection.execute(query).scalars())
    waits = tending.under_review(connection, box)
    kept: dict[str, str] = {}
    for note in memories:
        if note.pinned or note.id in by_hand or note.metadata.get(tending.KEEP) is True:
            kept[note.id] = BY_HAND
        elif note.id in waits:
            kept[note.id] = WAITS
    return kept


def _again(connection: Connection, box: str, stale: ColumnElement[bool]) -> list[tuple[int, Revision]]:
    """Return what stale calls linked because it was told before, each with its call."""
    query = (
        select(_revision.id, _revision.call_id)
        .join(schema.call, _call.id == _revision.call_id)
        .where(_revision.box == box, _revision.kind == "link", _revision.undone.is_(False), _call.stage == "distill")
        .where(stale)
        .order_by(_revision.id)
    )
    calls: dict[int, int] = dict(connection.execute(query).all())
    found: list[Revision] = []
    for some in rows.chunks(list(calls)):
        found += queries.revisions(connection, box, ids=some)
    return [(calls[revision.id], revision) for revision in found if revision.id is not None]


def _sources(connection: Connection, box: str, call_id: int, wrote: _Wrote, kept: dict[str, str]) -> list[Note]:
    """Return what the call is to be shown again, and keep what lacks some of it.

    Of a window, the turns from the first to the last that is cited: what stands before them is shown as earlier turns.
    """
    if wrote.stage == "consolidate":
        return _summed_up(connection, box, wrote.memories, kept)
    query = (
        select(_note.id)
        .join(schema.call_shown, _shown.note_id == _note.id)
        .where(_shown.call_id == call_id, _note.box == box)
        .order_by(_note.rid)
    )
    turns = list(queries.notes_by_id(connection, connection.execute(query).scalars().all()).values())
    usable = {note.id for note in turns if note.status == "ready" and note.superseded_by is None}
    for note in wrote.memories:
        if note.id not in kept and not usable.issuperset(note.sources):
            kept[note.id] = LOST_TURN
    cited = {i for note in wrote.memories if note.id not in kept for i in note.sources}
    cited |= {i for revision in wrote.links for i in revision.cause.notes}
    places = [place for place, note in enumerate(turns) if note.id in cited]
    return [note for note in turns[places[0] : places[-1] + 1] if note.id in usable] if places else []


def _summed_up(connection: Connection, box: str, summaries: Sequence[Note], kept: dict[str, str]) -> list[Note]:
    (summary,) = summaries  # a call sums up once
    notes = queries.notes_by_id(connection, summary.sources, boxes=[box])
    behind = [note for note in notes.values() if note.superseded_by == summary.id and note.status != "archived"]
    if len(behind) < len(summary.sources):
        kept.setdefault(summary.id, PARTED)
        return []
    return sorted(behind, key=lambda note: (note.occurred_at, note.id))


def _with_others(connection: Connection, box: str, written: list[Written]) -> list[Written]:
    """Add the other memories of the same turns: in use, corrected, summed up or faded, but not of an older rebuild."""
    turns = {note.id for item in written if item.stage == "distill" for note in item.sources}
    if not turns:
        return written
    going = {note.id for item in written for note in item.memories}
    query = select(_note.id, _note.sources, _note.status).where(_note.box == box)
    others = {
        note_id: status
        for note_id, sources, status in connection.execute(query)
        if note_id not in going and not turns.isdisjoint(sources)
    }
    faded = _faded(connection, [note_id for note_id, status in others.items() if status == "archived"])
    there = [note_id for note_id, status in others.items() if status != "archived" or note_id in faded]
    notes = list(queries.notes_by_id(connection, there).values())
    return [item._replace(others=_of(item.sources, notes)) for item in written]


def _faded(connection: Connection, archived: Sequence[str]) -> set[str]:
    """Return those of some archived notes that upkeep archived, and not a rebuild or an undo."""
    kinds: dict[str, str] = {}
    for some in rows.chunks(archived):
        query = select(_revision.note_id, _revision.kind).where(
            _revision.note_id.in_(some), _revision.field == "status"
        )
        kinds.update(connection.execute(query.order_by(_revision.id)).all())
    return {note_id for note_id, kind in kinds.items() if kind == "archive"}


def _of(sources: Iterable[Note], memories: Iterable[Note]) -> list[Note]:
    ids = {note.id for note in sources}
    return [note for note in memories if not ids.isdisjoint(note.sources)]
