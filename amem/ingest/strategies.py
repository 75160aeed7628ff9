"""Stages 2 and 3 in two manners: `fused`, one call for a window, and `paper`, one call each for every note."""

from __future__ import annotations

import math
from asyncio import to_thread
from typing import TYPE_CHECKING

from amem.ingest import evolver, linker, plan, weaver
from amem.ingest.neighbours import find_neighbours
from amem.ingest.shown import Numbered
from amem.ingest.vectors import embed
from amem.replies import EvolveReply, LinkEvolveReply, LinkReply

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from amem.ingest.draft import Draft
    from amem.ingest.evolver import Evolution
    from amem.ingest.linker import LinkProposal
    from amem.ingest.neighbours import Neighbours
    from amem.model import Note
    from amem.rooms import Rooms


async def weave(draft: Draft) -> None:
    """Link the window's notes and evolve their neighbours; without neighbours, no call is made."""
    notes = draft.built_notes
    if not notes:
        return
    near = await find_neighbours(draft, notes)
    found = {note.id: note for note in near.notes}
    draft.notes |= found
    draft.originals |= found
    if draft.rooms.settings.strategy == "paper":
        await _one_by_one(draft, notes[0], near)
    elif near.notes or near.mates:
        await _at_once(draft, notes, near)


async def _at_once(draft: Draft, notes: Sequence[Note], near: Neighbours) -> None:
    rooms = draft.rooms
    older, newer = weaver.numbered(near.notes, notes)
    request = weaver.request(older, newer, near, rooms.prompts, max_tokens=rooms.reply_cap(len(notes)))
    reply = await draft.ask(request, "link_evolve", LinkEvolveReply)
    call = draft.record_call("link_evolve", request, [*near.notes, *notes])
    links, skipped_links = weaver.parse_links(reply, older, newer)
    evolutions, skipped_changes = weaver.parse_changes(reply, older, newer)
    draft.skipped += [*skipped_links, *skipped_changes]
    _take_links(draft, links, near, call)
    await _take_changes(draft, evolutions, call)


async def _one_by_one(draft: Draft, note: Note, near: Neighbours) -> None:
    if not near.notes:
        return
    rooms = draft.rooms
    shown = Numbered(near.notes)
    cap = rooms.reply_cap(1)
    request = linker.request(note, shown, rooms.prompts, max_tokens=cap)
    links, skipped = linker.parse(await draft.ask(request, "link", LinkReply), note, shown)
    draft.skipped += skipped
    _take_links(draft, links, near, draft.record_call("link", request, [*near.notes, note]))
    request = evolver.request(note, shown, rooms.prompts, max_tokens=cap)
    evolutions, skipped = evolver.parse(await draft.ask(request, "evolve", EvolveReply), note, shown)
    draft.skipped += skipped
    await _take_changes(draft, evolutions, draft.record_call("evolve", request, [*near.notes, note]))


def _take_links(draft: Draft, proposals: Sequence[LinkProposal], near: Neighbours, call: int) -> None:
    links, skipped = plan.plan_links(
        proposals,
        near.strengths,
        box=draft.box,
        at=draft.rooms.now(),
        call=call,
        settings=draft.rooms.settings,
    )
    draft.links += links
    draft.skipped += skipped


async def _take_changes(draft: Draft, evolutions: Sequence[Evolution], call: int) -> None:
    likeness = await _likeness(draft, evolutions)
    changes, skipped = plan.evolve_changes(evolutions, draft.notes, likeness, draft.rooms.settings, call)
    for change in changes:
        # A new note's own further tags: compare-and-swap is on the version it had before its build.
        version = draft.originals[change.note_id].version
        draft.changes.append(change.model_copy(update={"expected_version": version}))
    draft.skipped += skipped


async def _likeness(draft: Draft, evolutions: Sequence[Evolution]) -> dict[Evolution, float]:
    """Return the cosine of each proposed context to the note as it stands; `paper` takes whatever is proposed."""
    rooms = draft.rooms
    told = [evolution for evolution in evolutions if evolution.context]
    if rooms.settings.strategy == "paper" or rooms.settings.similarity_floor <= -1:
        return {}
    vectors = await embed(rooms, (evolution.context for evolution in told))
    return await to_thread(_compared, rooms, draft.box, told, vectors)


def _compared(
    rooms: Rooms, box: str, evolutions: Sequence[Evolution], vectors: Mapping[str, np.ndarray]
) -> dict[Evolution, float]:
    found = {e: float(rooms.index.cosines(box, [e.note_id], vectors[e.context])[0]) for e in evolutions}
    return {evolution: cosine for evolution, cosine in found.items() if not math.isnan(cosine)}
