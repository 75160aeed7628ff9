"""The nearest notes of the same box: what new notes may be linked to, and may change."""

from __future__ import annotations

from asyncio import to_thread
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from amem.ingest.vectors import embed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.ingest.draft import Draft
    from amem.model import Note
    from amem.rooms import Rooms


@dataclass(frozen=True)
class Neighbours:
    """The neighbours of a window, nearest first."""

    notes: tuple[Note, ...]
    strengths: Mapping[tuple[str, str], float]
    """Cosine of each (new note, other note) pair."""
    floor: float
    """Cosine below which two notes are not near."""
    mates: bool
    """Whether two notes of the window are near each other."""

    def nearest_of(self, note_id: str, k: int) -> list[str]:
        """Return the notes most like a new one, neighbours and other new notes alike, the nearest first."""
        near = [
            (-round(cosine, 4), other)
            for (source, other), cosine in self.strengths.items()
            if source == note_id and other != note_id and cosine >= self.floor
        ]
        return [other for _, other in sorted(near)[:k]]


async def find_neighbours(draft: Draft, notes: Sequence[Note]) -> Neighbours:
    """Return the union of each note's k nearest, above the similarity floor, capped to the nearest of all.

    `paper` has no floor and no cap beyond k (arXiv 2502.12110, equations 4 and 5).
    """
    rooms, settings = draft.rooms, draft.rooms.settings
    is_paper = settings.strategy == "paper"
    floor = -1.0 if is_paper else settings.similarity_floor
    limit = settings.neighbours if is_paper else settings.max_neighbours
    texts = [rooms.render(note) for note in notes]
    draft.vectors |= await embed(rooms, texts)
    matrix = np.stack([draft.vectors[text] for text in texts])
    chosen, strengths = await to_thread(_look_up, draft, notes, matrix, floor, limit)
    mates = any(strengths[a.id, b.id] >= floor for i, a in enumerate(notes) for b in notes[:i])
    return Neighbours(notes=tuple(chosen), strengths=strengths, floor=floor, mates=mates)


def _look_up(
    draft: Draft, notes: Sequence[Note], matrix: np.ndarray, floor: float, limit: int
) -> tuple[list[Note], dict[tuple[str, str], float]]:
    """Do all reading in one go, in a thread: crossing over costs more than most of the reads."""
    rooms, k = draft.rooms, draft.rooms.settings.neighbours
    found = rooms.index.similar(draft.box, matrix, k + len(draft.window))
    nearest = _best(found, {note.id for note in draft.window}, floor, k)
    there = rooms.ledger.get(list(nearest), boxes=[draft.box])
    chosen = [there[i] for i in nearest if i in there and there[i].status != "archived"][:limit]
    return chosen, _strengths(rooms, notes, matrix, chosen)


def _best(found: Sequence[Sequence[tuple[str, float]]], exclude: set[str], floor: float, k: int) -> dict[str, float]:
    """Return each neighbour's best similarity, the nearest first; ties by id, so that prompts are reproducible."""
    best: dict[str, float] = {}
    for hits in found:
        near = [(note_id, cosine) for note_id, cosine in hits if note_id not in exclude and cosine >= floor]
        for note_id, cosine in near[:k]:
            best[note_id] = max(cosine, best.get(note_id, -1.0))
    return dict(sorted(best.items(), key=lambda item: (-round(item[1], 4), item[0])))


def _strengths(
    rooms: Rooms, notes: Sequence[Note], matrix: np.ndarray, others: Sequence[Note]
) -> dict[tuple[str, str], float]:
    ids, stored = rooms.vectors.vectors_of([note.id for note in others])
    names = [*ids, *(note.id for note in notes)]
    cosines = matrix @ np.vstack([stored, matrix]).T
    return {
        (note.id, other): float(cosines[row, column])
        for row, note in enumerate(notes)
        for column, other in enumerate(names)
    }
