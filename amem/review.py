"""Review of what was held back: listed as it would change things now, then done or thrown away."""

from __future__ import annotations

from asyncio import to_thread
from typing import TYPE_CHECKING

from amem.errors import ProposalNotFound
from amem.ingest.vectors import apply
from amem.model import Proposal, Reviewed
from amem.store.plan import GroundMoved, apply_change, field_revisions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem.model import Note
    from amem.rooms import Rooms
    from amem.store.held import Held

_LARGEST = 2**63


async def proposals(rooms: Rooms, box: str) -> list[Proposal]:
    """Return what waits for review in a box, oldest first."""
    return await to_thread(_proposals, rooms, box)


def _proposals(rooms: Rooms, box: str) -> list[Proposal]:
    held = rooms.ledger.held(box)
    notes = rooms.ledger.get([change.note_id for one in held for change in one.plan.changes], boxes=[box])
    return [_proposal(one, notes) for one in held]


def _proposal(held: Held, notes: Mapping[str, Note]) -> Proposal:
    plan = held.plan
    changes = [
        revision
        for change in plan.changes
        if (note := notes.get(change.note_id)) is not None
        for revision in field_revisions(note, apply_change(note, change), change, plan)
    ]
    return Proposal(
        id=held.id,
        box=plan.box,
        created_at=plan.at,
        why=plan.why,
        notes=plan.caused_by,
        links=tuple(planned.link for planned in plan.links),
        changes=tuple(changes),
        outdated=tuple(
            change.note_id for change in plan.changes
            if change.note_id in notes and notes[change.note_id].version != change.expected_version
        ),
    )  # fmt: skip


async def accept(rooms: Rooms, box: str, key: int, *, agent_id: str | None = None) -> Reviewed:
    """Do what a proposal says, as far as the notes have not moved on since; it is off the list then.

    Args:
        rooms: the memory's parts.
        box: where it waits.
        key: its number.
        agent_id: who accepts it; None leaves it to be whose plan it was.

    Raises:
        ProposalNotFound: nothing waits in this box under that number.
    """
    held = await to_thread(rooms.ledger.held, box, _number(box, key))
    if not held:
        raise _missing(box, key)
    plan = held[0].plan
    plan = plan.model_copy(update={"at": rooms.now(), "settles": key, "agent_id": agent_id or plan.agent_id})
    try:
        done = await apply(rooms, plan)
    except GroundMoved as error:  # somebody else reviewed it in between
        raise _missing(box, key) from error
    return Reviewed(id=key, accepted=True, links=done.links, changes=done.revisions, skipped=done.skipped)


async def reject(rooms: Rooms, box: str, key: int) -> Reviewed:
    """Throw a proposal away.

    Raises:
        ProposalNotFound: nothing waits in this box under that number.
    """
    if not await to_thread(rooms.ledger.drop_held, box, _number(box, key)):
        raise _missing(box, key)
    return Reviewed(id=key, accepted=False)


def _number(box: str, key: int) -> int:
    if not isinstance(key, int) or not 0 <= key < _LARGEST:
        raise _missing(box, key)
    return key


def _missing(box: str, key: int) -> ProposalNotFound:
    return ProposalNotFound(f"no proposal {key} waits for review in the box {box!r}; `amem review` lists those that do")
