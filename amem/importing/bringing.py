"""Bringing foreign memories into a box: stored raw first, then what they are known for, then links and successions.

A run that was stopped is finished by another one: what is there already is known by its source, and is not touched
where anything has changed it since. Each is embedded once, as it is in the end.
"""

from __future__ import annotations

import logging
from asyncio import to_thread
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from amem.changes import succeeded
from amem.errors import EmbeddingError
from amem.importing.foreign import NotTaken
from amem.importing.restoring import knowing, placing, restore
from amem.ingest.builder import Built
from amem.ingest.plan import READY, build_fields
from amem.ingest.vectors import apply, embed_missing
from amem.model import Cause, Link
from amem.store.plan import Call, Change, Plan, PlannedLink
from amem.values import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pydantic import JsonValue

    from amem.importing.foreign import Foreign, Found
    from amem.ingest.worker import Accepted, Worker
    from amem.model import Note
    from amem.rooms import Rooms
    from amem.store.plan import Committed

log = logging.getLogger("amem.importing")

T = TypeVar("T")

BATCH = 256
"""Memories stored in one transaction: a run that is stopped loses no more than these, and others need not wait long."""


class Imported(Frozen):
    """What an import came to."""

    format: str
    added: tuple[str, ...] = ()
    """Ids of the notes that are new, in the order of the source."""
    known: int = 0
    """Memories that the box had already."""
    links: int = 0
    revisions: int = 0
    skipped: tuple[NotTaken, ...] = ()
    """What was not taken over, and why."""


async def bring_in(rooms: Rooms, worker: Worker, box: str, system: str, found: Found) -> Imported:
    """Store foreign memories, with all that came with them; what no model of theirs has built stays pending."""
    raw = worker.raw([item.note for item in found.items], box)
    back = await to_thread(restore, rooms, box, found.items, raw)
    new = [(item, one) for item, one in zip(found.items, back.raw, strict=True) if item.key not in back.there]
    accepted: list[Accepted] = []
    done: list[Committed] = []
    notes = dict(back.there)
    with worker.holding([one.note for _, one in new]):
        for batch in _batches(new):
            accepted += await worker.store([one for _, one in batch])
        notes |= {item.key: one.note for (item, _), one in zip(new, accepted, strict=True)}
        for items in _batches(found.items):
            done.append(await apply(rooms, _known_for(rooms, box, items, notes)))
            notes |= {item.key: done[-1].notes.get(notes[item.key].id, notes[item.key]) for item in items}
        await _embed_others(rooms, box)
        plans = (await to_thread(_connected, rooms, box, items, notes) for items in _batches(found.items))
        done += [await apply(rooms, plan) async for plan in plans]
        fresh = [one.note.id for one in accepted if one.is_new]
        await to_thread(_carry_accesses, rooms, found.items, notes, set(fresh))
    return Imported(
        format=system,
        added=tuple(fresh),
        known=len(found.items) - len(fresh),
        links=sum(len(one.links) for one in done),
        revisions=sum(len(one.revisions) for one in done),
        skipped=(*found.skipped, *back.skipped, *(left for one in done for left in _dropped(one))),
    )


def _batches(all_of_them: Sequence[T]) -> Iterator[Sequence[T]]:
    return (all_of_them[start : start + BATCH] for start in range(0, len(all_of_them), BATCH))


async def _embed_others(rooms: Rooms, box: str) -> None:
    """Embed the memories whose texts are as they were stored."""
    try:
        await embed_missing(rooms, box)
    except EmbeddingError as error:
        log.warning("some memories were brought in without vectors, found by their words: %s", error)


def _known_for(rooms: Rooms, box: str, items: Sequence[Foreign], notes: Mapping[str, Note]) -> Plan:
    """Return the plan by which memories are known for what they were known for elsewhere."""
    there = {note.id for note in notes.values()}
    calls: list[Call] = []
    changes: list[Change] = []
    for item in items:
        note = notes[item.key]
        if item.whole is not None:
            made, known = knowing(item.whole, note, len(calls), there)
            calls += made
            changes += known
            continue
        if note.version > 1:  # it has changed since an earlier run brought it in
            continue
        fields = _fields(rooms, item, note)
        if fields:
            call = None if item.by is None else len(calls)
            calls += [] if item.by is None else [_call(item.by, note)]
            kind = "user" if item.by is None else "build"
            cause = Cause(kind=kind, notes=(note.id,))
            changes.append(Change(note_id=note.id, expected_version=1, fields=fields, cause=cause, call=call))
    return Plan(box=box, at=rooms.now(), calls=tuple(calls), changes=tuple(changes))


def _connected(rooms: Rooms, box: str, items: Sequence[Foreign], notes: Mapping[str, Note]) -> Plan:
    """Return the plan by which memories are linked with each other, and later ones take the place of earlier ones."""
    changes: list[Change] = []
    for item in items:
        note, successor = notes[item.key], None if item.replaced_by is None else notes[item.replaced_by]
        archived = item.whole is not None and item.whole.status == "archived"
        if successor is None and not archived:
            continue
        # What an earlier run did, or somebody took back since, is not done again.
        changed = {revision.field for revision in rooms.ledger.revisions(box, note_id=note.id)}
        if item.whole is not None:
            changes += placing(item.whole, note, successor, changed)
        elif successor is not None and "superseded_by" not in changed:
            changes.append(succeeded(note, successor))
    return Plan(box=box, at=rooms.now(), changes=tuple(changes), links=_links(rooms, items, notes))


def _fields(rooms: Rooms, item: Foreign, note: Note) -> dict[str, JsonValue]:
    built = Built(keywords=item.keywords, tags=item.tags, context=item.context)
    fields = build_fields(note, built, rooms.settings)
    return {**fields, **READY} if item.complete else fields


def _call(by: str, note: Note) -> Call:
    """Return who stands behind what a note is known for; `amem stale` lists it, and a rebuild makes it anew."""
    return Call(stage="build", model=by, prompt=f"{by}@import+0", shown=(note.id,), versions=(0,))


def _links(rooms: Rooms, items: Sequence[Foreign], notes: Mapping[str, Note]) -> tuple[PlannedLink, ...]:
    ends = {key for item in items for key in (item.key, *(found.target for found in item.links)) if item.links}
    ids, matrix = rooms.index.vectors(sorted(notes[key].id for key in ends))
    vectors = dict(zip(ids, matrix, strict=True))
    sources = [notes[item.key].id for item in items if item.links]
    there = {(link.source, link.target, link.relation) for link in rooms.ledger.links_of(sources)}
    planned = []
    for item in items:
        source = notes[item.key]
        for found in item.links:
            target = notes[found.target]
            if (source.id, target.id, found.relation) in there:  # an earlier run brought it in
                continue
            link = Link(
                box=source.box,
                source=source.id,
                target=target.id,
                relation=found.relation,
                reason=found.reason,
                strength=_strength(vectors, source, target),
                created_at=rooms.now(),
            )
            planned.append(PlannedLink(link=link, cause=Cause(kind="user", notes=(source.id,))))
    return tuple(planned)


def _strength(vectors: Mapping[str, np.ndarray], one: Note, other: Note) -> float:
    if one.id not in vectors or other.id not in vectors:
        return 0.0
    return float(np.clip(np.dot(vectors[one.id], vectors[other.id]), 0.0, 1.0))


def _carry_accesses(rooms: Rooms, items: Sequence[Foreign], notes: Mapping[str, Note], fresh: set[str]) -> None:
    now = rooms.now()
    counts = {
        notes[item.key].id: (item.accesses, item.last_accessed or now)
        for item in items
        if item.accesses and notes[item.key].id in fresh
    }
    if counts:
        rooms.ledger.touch(counts)


def _dropped(committed: Committed) -> list[NotTaken]:
    return [NotTaken(what=item.what, why=item.why) for item in committed.skipped]
