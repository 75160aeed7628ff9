"""The nearest notes of the same box: what new notes may be linked to, and may change."""

from __future__ import annotations

from asyncio import to_thread
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from amem.errors import ModelRefused
from amem.ingest.suspicion import why_quarantined
from amem.ingest.vectors import embed

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from amem.ingest.draft import Draft
    from amem.model import Note
    from amem.rooms import Rooms
    from amem.settings import Settings
    from amem.store.matrix import Match

_WIDEN = 8
"""How many times more notes are looked at where too few of the nearest may be neighbours."""


@dataclass(frozen=True)
class Neighbours:
    """The neighbours of a window, nearest first."""

    notes: tuple[Note, ...]
    strengths: Mapping[tuple[str, str], float]
    """Cosine of each (new note, other note) pair."""
    mates: bool
    """Whether two notes of the window are near each other."""

    def nearest_of(self, note_id: str, among: Iterable[str], k: int, floor: float) -> list[str]:
        """Return those of the notes `among` that are most like a new one, the nearest first, none below `floor`."""
        like = {other: self.strengths.get((note_id, other), -1.0) for other in among}
        near = sorted((-round(cosine, 4), other) for other, cosine in like.items() if cosine >= floor)
        return [other for _, other in near[:k]]


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
    return Neighbours(notes=tuple(chosen), strengths=strengths, mates=mates)


def _look_up(
    draft: Draft, notes: Sequence[Note], matrix: np.ndarray, floor: float, limit: int
) -> tuple[list[Note], dict[tuple[str, str], float]]:
    """Do all reading in one go, in a thread: crossing over costs more than most of the reads."""
    rooms, k = draft.rooms, draft.rooms.settings.neighbours
    known: dict[str, Note] = {}
    wanted = k + len(draft.window)
    while True:
        found = rooms.index.similar(draft.box, matrix, wanted)
        new = {note_id for hits in found for note_id, _ in hits} - known.keys()
        known |= draft.read(sorted(new))
        usable = {i for i, note in known.items() if _usable(note, rooms.settings)} - {note.id for note in draft.window}
        nearest = [
            [hit for hit in hits if hit[0] in usable and draft.may_meet(note, known[hit[0]])][:k]
            for note, hits in zip(notes, found, strict=True)
        ]
        if all(len(near) == k or len(hits) < wanted for near, hits in zip(nearest, found, strict=True)):
            break
        if wanted > draft.reach:
            break
        wanted *= _WIDEN
    chosen = [known[note_id] for note_id in _best(nearest, floor)][:limit]
    return chosen, _strengths(rooms, notes, matrix, chosen)


def _usable(note: Note, settings: Settings) -> bool:
    """Whether a note may be a neighbour; a queued one may not: its own turn comes, and then it finds this one.

    Nor may a fact, an episode, or what another note has taken the place of; nor one in quarantine: it would be shown in
    one breath with notes that it could steer the model against; nor one that a model has refused: it would refuse the
    whole call.
    """
    if note.about is not None or note.superseded_by is not None or why_quarantined(note, settings):
        return False
    if note.error is not None and note.error.startswith(ModelRefused.__name__):
        return False
    return note.status == "ready" or (note.status == "pending" and note.pending_reason != "queued")


def _best(nearest: Sequence[Sequence[Match]], floor: float) -> list[str]:
    """Return the neighbours of all notes, the nearest of any first; ties by id, so that prompts are reproducible."""
    best: dict[str, float] = {}
    for hits in nearest:
        for note_id, cosine in hits:
            if cosine >= floor:
                best[note_id] = max(cosine, best.get(note_id, -1.0))
    return sorted(best, key=lambda note_id: (-round(best[note_id], 4), note_id))


def _strengths(
    rooms: Rooms, notes: Sequence[Note], matrix: np.ndarray, others: Sequence[Note]
) -> dict[tuple[str, str], float]:
    strengths: dict[tuple[str, str], float] = {}
    ids = [note.id for note in others]
    for note, vector in zip(notes, matrix, strict=True):
        stored = rooms.index.cosines(note.box, ids, vector)
        strengths.update({(note.id, other): float(c) for other, c in zip(ids, stored, strict=True) if not np.isnan(c)})
        mates = np.vecdot(matrix, vector)
        strengths.update({(note.id, mate.id): float(c) for mate, c in zip(notes, mates, strict=True)})
    return strengths
