"""Expansion: notes that links lead to from what was found, on a budget of their own, each with the way to it.

One step from the hits and no further. What the filter excludes, what is archived or superseded never comes in through
a link; what took its place does, and has the links of what it stands for.
"""

from __future__ import annotations

from asyncio import to_thread
from typing import TYPE_CHECKING, NamedTuple

from amem.model import Explanation, Hit, PathStep
from amem.recall.packing import line
from amem.store.succession import leading_links

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from amem.filters import Filter
    from amem.model import Link, Note
    from amem.rooms import Rooms


class Step(NamedTuple):
    """One link, as it is followed from a hit."""

    start: Hit
    target: str
    link: Link

    @property
    def score(self) -> float:
        """The hit's score, less what the link lacks in strength; never more than the hit's own."""
        return self.start.score - (1 - self.link.strength) * abs(self.start.score)

    @property
    def path(self) -> tuple[PathStep, ...]:
        """The way from the hit, in the link's own words."""
        return (
            PathStep(
                source=self.start.note.id,
                target=self.target,
                relation=self.link.relation,
                reason=self.link.reason,
            ),
        )


def steps(hits: Sequence[Hit], links: Sequence[Link]) -> list[Step]:
    """Return for each note that is no hit itself the best way to it, best first."""
    found = {hit.note.id: hit for hit in hits}
    ways = (
        Step(found[start], link.other(start), link) for link in links for start in (link.source, link.target)
        if start in found and link.other(start) not in found
    )  # fmt: skip
    best: dict[str, Step] = {}
    for step in sorted(ways, key=lambda step: (-step.score, step.target, step.start.note.id)):
        best.setdefault(step.target, step)
    return list(best.values())


def admits(note: Note, given: Filter, now: datetime) -> bool:
    """Whether a note may come in through a link: the filter lets it through, and nothing has taken its place."""
    superseded = note.superseded_by is not None or (note.valid_to is not None and note.valid_to <= now)
    return not superseded and given.why_not(note) is None


async def expand(
    rooms: Rooms, hits: Sequence[Hit], *, limit: int, given: Filter, now: datetime, explain: bool = False
) -> list[Hit]:
    """Return at most `limit` notes that links lead to from the hits and that are none of them, best first.

    Args:
        rooms: the memory's parts.
        hits: where the links start.
        limit: how many notes at most.
        given: what the caller restricts the search to; it holds for linked notes as well.
        now: a note whose validity has ended by then does not come in.
        explain: say of each how its score came about.
    """
    if limit < 1 or not hits:
        return []
    ways, notes = await to_thread(_ways, rooms, hits)
    passable = [step for step in ways if step.target in notes and admits(notes[step.target], given, now)]
    return [
        _hit(step, notes[step.target], rank if explain else None)
        for rank, step in enumerate(passable[:limit], start=len(hits) + 1)
    ]


def _ways(rooms: Rooms, hits: Sequence[Hit]) -> tuple[list[Step], dict[str, Note]]:
    ways = steps(hits, leading_links(rooms.ledger.database, [hit.note.id for hit in hits]))
    boxes = sorted({hit.note.box for hit in hits})
    return ways, rooms.ledger.get([step.target for step in ways], boxes=boxes)


def _hit(step: Step, note: Note, rank: int | None) -> Hit:
    hit = Hit(note=note, score=step.score, via="link", path=step.path)
    if rank is None:
        return hit
    why = Explanation(note_id=note.id, rank=rank, score=step.score, parts={"link": step.score}, path=step.path)
    return hit.model_copy(update={"explanation": why})


async def with_linked(rooms: Rooms, hits: Sequence[Hit], *, budget: int, given: Filter, now: datetime) -> list[Hit]:
    """Return hits for packing with linked notes among them, which may have a share of the budget and no more.

    Linked notes stand behind the direct hits that fill the rest of the budget, and before those that would only fill
    up what is left: they take the place of the least of the direct hits, never of the best.
    """
    settings = rooms.settings
    share = budget * settings.recall_links_share
    if settings.recall_links < 1 or share < 1 or not await to_thread(_any_links, rooms, hits):
        return list(hits)
    first = await to_thread(_fitting, rooms, hits, budget - share)
    linked = await expand(rooms, first, limit=settings.recall_links, given=given, now=now)
    seats = await to_thread(_fitting, rooms, linked, share)
    if not seats:
        return list(hits)
    taken = {hit.note.id for hit in (*first, *seats)}
    return [*first, *seats, *(hit for hit in hits if hit.note.id not in taken)]


def _any_links(rooms: Rooms, hits: Sequence[Hit]) -> bool:
    return bool(leading_links(rooms.ledger.database, [hit.note.id for hit in hits]))


def _fitting(rooms: Rooms, hits: Sequence[Hit], tokens: float) -> list[Hit]:
    """Return the first hits, as many as fit, each counted as the line it would be."""
    evolved = rooms.ledger.evolved_contexts([hit.note.id for hit in hits])
    for number, hit in enumerate(hits):
        tokens -= rooms.tokenizer.count(line(len(hits), hit.note, evolved.get(hit.note.id)))
        if tokens < 0:
            return list(hits[:number])
    return list(hits)
