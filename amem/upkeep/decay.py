"""Importance on a forgetting curve, and the archive for what has faded; it is derived, and stored nowhere."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from amem.model import Cause
from amem.store.plan import Change, Plan
from amem.values import Frozen

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from amem.settings import Settings
    from amem.store.tending import Rests, Tended

_DAY = 86_400
AT_ONCE = 500
"""Notes that one transaction archives."""


class Faded(Frozen):
    """A note whose importance is below the threshold."""

    note_id: str
    importance: float
    days: float
    """Since it was last recalled, learned, or brought back."""
    accesses: int


def importance(days: float, accesses: int, settings: Settings) -> float:
    """Return how important a note is, from 0 to 1: it fades with time, and less so the more it was recalled."""
    kept = math.exp(-max(days, 0.0) / settings.upkeep_days)
    return min(1.0, kept + settings.upkeep_weight * math.log1p(accesses))


def faded(
    notes: Sequence[Tended], rests: Rests, settings: Settings, now: datetime, *, busy: Collection[str] = ()
) -> tuple[list[Faded], int]:
    """Return the notes that have faded, the least important first, and how many more are kept all the same.

    What the user pinned is kept, and what other notes rest on.

    Args:
        notes: those that may fade.
        rests: what others rest on.
        settings: the curve, and the threshold.
        now: the present moment.
        busy: notes that somebody works on.
    """
    found: list[Faded] = []
    kept = 0
    for note in notes:
        days = (now - note.since).total_seconds() / _DAY
        worth = importance(days, note.accesses, settings)
        if worth >= settings.upkeep_archive_below:
            continue
        if note.pinned or note.id in rests.cited or note.id in rests.successors or note.id in busy:
            kept += 1
            continue
        found.append(Faded(note_id=note.id, importance=worth, days=days, accesses=note.accesses))
    return sorted(found, key=lambda item: (item.importance, item.note_id)), kept


def archiving(box: str, at: datetime, notes: Sequence[Faded], versions: dict[str, int]) -> list[Plan]:
    """Return plans that move notes to the archive; one that has changed meanwhile stays where it is."""
    changes = [
        Change(
            note_id=note.note_id,
            expected_version=versions[note.note_id],
            fields={"status": "archived"},
            cause=Cause(kind="archive"),
        )
        for note in notes
    ]
    pieces = (tuple(changes[start : start + AT_ONCE]) for start in range(0, len(changes), AT_ONCE))
    return [Plan(box=box, at=at, changes=some) for some in pieces]
