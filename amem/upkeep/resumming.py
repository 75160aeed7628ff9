"""Summing up anew: another summary of the same notes takes the place of the one that an older wording made."""

from __future__ import annotations

import asyncio
from asyncio import CancelledError, to_thread
from typing import TYPE_CHECKING

from amem.changes import succeeded
from amem.errors import EmbeddingError, LLMError
from amem.ingest.builder import Built
from amem.ingest.plan import build_change, build_fields
from amem.ingest.redistilling import Anew
from amem.store.plan import Plan
from amem.upkeep.alike import Group
from amem.upkeep.consolidate import summarise, summing_up

if TYPE_CHECKING:
    from amem.llm.metering import Meter
    from amem.model import Note
    from amem.rooms import Rooms
    from amem.store.plan import Change
    from amem.store.written import Written
    from amem.upkeep.consolidate import Summary


async def sum_up_again(rooms: Rooms, old: Written) -> Anew:
    """Sum up the same notes again; nothing is stored.

    The old summary stays where the new one says just the same; else it gives way to that, as what it sums up does.
    """
    (before,) = old.memories
    meter = rooms.meter.child()
    group = Group(notes=tuple(old.sources), repeats=False)
    ids, matrix = await to_thread(rooms.index.vectors, list(group.ids))
    try:
        summary = await summarise(rooms, group, dict(zip(ids, matrix, strict=True)), meter)
    except (LLMError, EmbeddingError) as error:
        return Anew(_bill(rooms, before, meter), meter.total, {}, error=error)
    except CancelledError:
        bill = _bill(rooms, before, meter)
        await asyncio.shield(to_thread(rooms.ledger.commit, bill, {}))
        raise
    plan = summing_up(summary, group, rooms.settings, rooms.now())
    plan = plan.model_copy(update={"spent": meter.by_stage(), "agent_id": before.agent_id})
    if summary.note.content == before.content:
        plan = plan.model_copy(update={"changes": (_build_anew(rooms, before, summary),)})
        return Anew(plan, meter.total, {})
    changes = (*plan.changes, succeeded(before, summary.note))
    return Anew(plan.model_copy(update={"changes": changes}), meter.total, {}, new=[summary.note])


def _build_anew(rooms: Rooms, note: Note, summary: Summary) -> Change:
    reply = summary.reply
    built = Built(keywords=tuple(reply.keywords), tags=tuple(reply.tags), context=reply.context.strip())
    return build_change(note, build_fields(note, built, rooms.settings), 0)


def _bill(rooms: Rooms, note: Note, meter: Meter) -> Plan:
    assert rooms.llm is not None
    return Plan(box=note.box, at=rooms.now(), spent=meter.by_stage(), model=rooms.llm.model)
