"""Quarantine: what suspicious notes would bring about elsewhere is kept for review instead of being done."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from amem.ingest.suspicion import why_quarantined
from amem.store.plan import Change, Plan, PlannedLink

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from amem.model import Note
    from amem.settings import Settings

P = TypeVar("P", Change, PlannedLink)


def hold(plan: Plan, window: Sequence[Note], settings: Settings) -> Plan:
    """Return a plan that holds back links and changes of other notes, where a note of the window is quarantined."""
    why = tuple(dict.fromkeys(reason for note in window for reason in why_quarantined(note, settings)))
    own = {note.id for note in window}
    changes = [change for change in plan.changes if change.note_id not in own]
    if not why or not (changes or plan.links):
        return plan
    calls = {change.call for change in changes} | {planned.call for planned in plan.links}
    used = sorted(call for call in calls if call is not None)
    places = {call: place for place, call in enumerate(used)}
    held = Plan(
        box=plan.box,
        at=plan.at,
        calls=tuple(plan.calls[call] for call in used),
        changes=_moved(changes, places),
        links=_moved(plan.links, places),
        model=plan.model,
        why=why,
        agent_id=plan.agent_id,
    )
    kept = tuple(change for change in plan.changes if change.note_id in own)
    return plan.model_copy(update={"changes": kept, "links": (), "held": held})


def _moved(parts: Iterable[P], places: Mapping[int, int]) -> tuple[P, ...]:
    return tuple(part if part.call is None else part.model_copy(update={"call": places[part.call]}) for part in parts)
