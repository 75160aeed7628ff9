"""The order of the stages for one window of new notes: build, neighbours, link and evolve, commit, index."""

from __future__ import annotations

import logging
from asyncio import CancelledError, to_thread
from typing import TYPE_CHECKING

from amem.errors import BadReply, EmbeddingError, LLMError
from amem.ingest import builder, gatekeeper, plan
from amem.ingest.draft import Draft
from amem.ingest.strategies import weave
from amem.ingest.suspicion import company
from amem.ingest.vectors import apply, embed_those
from amem.llm.faults import is_about_its_texts
from amem.store.plan import apply_change, field_revisions, link_revision

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.errors import AmemError
    from amem.model import AddResult, Note, Revision
    from amem.rooms import Rooms
    from amem.store.plan import Committed, Plan

log = logging.getLogger("amem.ingest")

EARLIER_TURNS = 2
"""Turns shown before a window, so that its pronouns can be understood."""


async def process_window(
    rooms: Rooms, notes: Sequence[Note], *, embedded: bool = False, gated: bool = False
) -> tuple[list[AddResult], AmemError | None]:
    """Take pending notes of one box through all stages; a failure leaves them pending with its error.

    Args:
        rooms: where they are.
        notes: the window.
        embedded: all of them are known to have vectors.
        gated: ask the model first which of them are worth building, where rules cannot tell.

    Returns:
        One result for each note, in order, and the first error met. Nothing is raised for a fault of the model.
    """
    draft = Draft(rooms, notes)
    try:
        # What is built needs a vector: while the embedder is down, nothing is paid for that could not be kept.
        if not embedded:
            await embed_those(rooms, notes)
        worth = await gatekeeper.sift(draft, notes, await earlier_turns(draft, notes)) if gated else notes
        await build(draft, [note for note in worth if draft.needs_building(note)])
        await weave(draft)
    except (LLMError, EmbeddingError) as error:
        draft.fail(error)
    except CancelledError:
        await draft.pay()
        raise
    committed = await _commit(draft)
    return draft.results(committed), draft.error


async def build(draft: Draft, turns: Sequence[Note]) -> None:
    """Do stage 1. A window that gets no usable reply is split; a turn missing from a reply stays pending."""
    if not turns:
        return
    rooms = draft.rooms
    before = await earlier_turns(draft, turns)
    draft.originals |= {note.id: note for note in before}
    cap = rooms.reply_cap(len(turns))
    request = builder.request(turns, before, rooms.prompts, max_tokens=cap)
    shown = [*before, *turns]
    try:
        reply = await draft.ask(request, "build", builder.reply_model(rooms.prompts), builder.check(turns))
    except LLMError as error:
        if not is_about_its_texts(error):
            raise
        await _split(draft, turns, error)
        return
    call = draft.record_call("build", request, shown)
    built = builder.parse(reply, turns)
    for note in turns:
        if note.id in built:
            draft.built(note, plan.build_fields(note, built[note.id], rooms.settings), call)
        else:
            draft.leave(note, BadReply("the reply had no entry for this turn"))


async def _split(draft: Draft, turns: Sequence[Note], error: LLMError) -> None:
    """Find the turns that no reply can be had for: halve a window until they stand alone, and leave them pending."""
    if len(turns) == 1:
        draft.leave(turns[0], error)
        return
    middle = len(turns) // 2
    log.info("a window of %d turns got no usable reply (%s); it is split", len(turns), error)
    await build(draft, turns[:middle])
    await build(draft, turns[middle:])


async def earlier_turns(draft: Draft, turns: Sequence[Note]) -> list[Note]:
    """Return the turns just before the first one, in its session; `paper` shows none."""
    first = turns[0]
    if draft.rooms.settings.strategy == "paper" or first.session_id is None or not first.position:
        return []
    span = (first.session_id, max(0, first.position - EARLIER_TURNS), first.position - 1)
    before = await to_thread(draft.rooms.ledger.session_turns, first.box, [span])
    settings = draft.rooms.settings
    return [note for note in before if company(note, settings) <= company(first, settings)]


async def _commit(draft: Draft) -> Committed:
    """Apply everything the window came to, in one transaction; re-embed what changed."""
    try:
        return await apply(draft.rooms, draft.plan(), draft.vectors, draft.originals)
    except EmbeddingError as error:
        draft.fail(error)
        draft.forget_texts()
        return await apply(draft.rooms, draft.plan())


async def plan_evolution(rooms: Rooms, note: Note) -> tuple[Plan, list[Revision]]:
    """Link and evolve a ready note again without storing anything; return the plan, and the revisions it would make.

    Raises:
        LLMError: the call failed.
        EmbeddingError: the neighbours could not be found.
    """
    draft = Draft(rooms, [note], rebuild=False)
    try:
        await weave(draft)
    except (LLMError, EmbeddingError, CancelledError):
        await draft.pay()
        raise
    plan = draft.plan()
    revisions = [link_revision(plan, planned.cause, None, planned.link) for planned in plan.links]
    for change in plan.changes:
        before = draft.originals[change.note_id]
        revisions += field_revisions(before, apply_change(before, change), change, plan)
    return plan, revisions
