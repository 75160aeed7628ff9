"""Stages 2 and 3 in two manners: `fused`, one call for a window, and `paper`, one call each for every note."""

from __future__ import annotations

import logging
import math
from asyncio import to_thread
from typing import TYPE_CHECKING

from amem.errors import LLMError
from amem.ingest import evolver, linker, plan, weaver
from amem.ingest.neighbours import find_neighbours
from amem.ingest.shown import Numbered
from amem.ingest.vectors import embed
from amem.llm.faults import is_about_its_texts
from amem.store.plan import apply_change

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from amem.ingest.draft import Draft
    from amem.ingest.evolver import Evolution
    from amem.ingest.linker import LinkProposal
    from amem.ingest.neighbours import Neighbours
    from amem.model import Note
    from amem.rooms import Rooms


log = logging.getLogger("amem.ingest")


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
    """Do both stages for some notes; where no usable reply can be had for all of them, half by half."""
    try:
        await _together(draft, notes, near)
    except LLMError as error:
        if len(notes) == 1 or not is_about_its_texts(error):
            raise
        await _halved(draft, notes, near, error)


async def _halved(draft: Draft, notes: Sequence[Note], near: Neighbours, error: LLMError) -> None:
    """Find the notes that no reply can be had for, and leave them pending.

    A model that answers for none of the first half is not asked about the second: it would be paid for nothing.
    """
    log.info("the links of a window of %d notes got no usable reply (%s); it is split", len(notes), error)
    middle = len(notes) // 2
    left: list[Note] = []
    for half in (notes[:middle], notes[middle:]):
        if not near.notes and len(half) == 1:  # what it may be linked with is in the other half
            left += half
            continue
        try:
            await _at_once(draft, half, near)
        except LLMError as fault:
            is_first = half[0] is notes[0]
            if not is_about_its_texts(fault) or (is_first and len(half) > 1):
                raise
            left += half
    if len(left) == len(notes):
        raise error
    for note in left:
        draft.leave(note, error)


async def _together(draft: Draft, notes: Sequence[Note], near: Neighbours) -> None:
    rooms = draft.rooms
    older, newer = weaver.numbered(near.notes, notes)
    request = weaver.request(older, newer, near, rooms.prompts, max_tokens=rooms.reply_cap(len(notes)))
    reply = await draft.ask(request, "link_evolve", weaver.reply_model(rooms.prompts))
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
    links, skipped = linker.parse(await draft.ask(request, "link", linker.reply_model(rooms.prompts)), note, shown)
    draft.skipped += skipped
    _take_links(draft, links, near, draft.record_call("link", request, [*near.notes, note]))
    if evolver.along_links(rooms.prompts):
        linked = {link.target for link in links}
        shown = Numbered([other for other in near.notes if other.id in linked])
        if not shown:
            return
    request = evolver.request(note, shown, rooms.prompts, max_tokens=cap)
    evolutions, skipped = evolver.parse(
        await draft.ask(request, "evolve", evolver.reply_model(rooms.prompts)), note, shown
    )
    draft.skipped += skipped
    await _take_changes(draft, evolutions, draft.record_call("evolve", request, [*shown.notes, note]))


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
        draft.notes[change.note_id] = apply_change(draft.notes[change.note_id], change)
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
