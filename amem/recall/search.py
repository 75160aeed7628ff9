"""From a question to ranked notes: candidates of both arms, exact scores over their union, one sum."""

from __future__ import annotations

import logging
from asyncio import to_thread
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from amem.errors import EmbeddingError
from amem.model import Explanation, Hit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.filters import Filter
    from amem.rooms import Rooms

log = logging.getLogger("amem.recall")

CANDIDATES = 200
"""Of each arm."""


@dataclass
class Scored:
    """The candidates of one box with their scores by arm."""

    ids: list[str]
    parts: dict[str, np.ndarray]
    """Each arm's standardised score, shape (candidates,)."""
    ranks: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def total(self) -> np.ndarray:
        """Sum of the parts, shape (candidates,)."""
        return np.sum(list(self.parts.values()), axis=0) if self.parts else np.zeros(len(self.ids))


async def search(
    rooms: Rooms, boxes: Sequence[str], question: str, *, k: int, given: Filter, explain: bool = False
) -> list[Hit]:
    """Return the `k` best notes for a question, best first, ties in order of id."""
    if k == 0:
        return []
    vector = await _embed_question(rooms, question)
    scored = [await _score_box(rooms, box, question, vector, given) for box in boxes]
    ranked = sorted(
        ((-float(total), note_id, scores, i) for scores in scored for i, (note_id, total) in
         enumerate(zip(scores.ids, scores.total, strict=True))),
        key=lambda item: item[:2],
    )[:k]  # fmt: skip
    notes = await to_thread(rooms.ledger.get, [note_id for _, note_id, _, _ in ranked], boxes=boxes)
    return [
        Hit(
            note=notes[note_id],
            score=-negative,
            explanation=_explained(scores, index, rank, -negative) if explain else None,
        )
        for rank, (negative, note_id, scores, index) in enumerate(ranked, start=1)
        if note_id in notes
    ]


async def _embed_question(rooms: Rooms, question: str) -> np.ndarray | None:
    try:
        matrix = await rooms.embedder.embed([question])
    except EmbeddingError as error:
        log.warning("the question could not be embedded (%s); searching by words only", error)
        return None
    return np.asarray(matrix[0])


async def _score_box(rooms: Rooms, box: str, question: str, vector: np.ndarray | None, given: Filter) -> Scored:
    allowed = await to_thread(rooms.ledger.matching_ids, box, given) if given.restricts else None
    excluded = set() if given.archived else await to_thread(rooms.ledger.archived_ids, box)
    words = await to_thread(rooms.ledger.lexical, box, question, CANDIDATES if allowed is None else -1)
    near = [] if vector is None else await to_thread(rooms.index.search, box, vector, CANDIDATES, allowed)

    def keep(found: Sequence[tuple[str, float]]) -> dict[str, float]:
        return {i: s for i, s in found if i not in excluded and (allowed is None or i in allowed)}

    lexical, dense = keep(words), keep(near)
    ids = sorted({*lexical, *dense})
    cosines = await _cosines(rooms, ids, vector, dense)
    parts = {
        "lexical": _standardised(np.array([lexical.get(i, 0.0) for i in ids])),
        "dense": _standardised(cosines),
    }
    return Scored(ids, parts, {"lexical": _ranks(lexical), "dense": _ranks(dense)})


async def _cosines(rooms: Rooms, ids: Sequence[str], vector: np.ndarray | None, dense: dict[str, float]) -> np.ndarray:
    """Return the cosine of every candidate, also of those that only the other arm brought."""
    if vector is None:
        return np.zeros(len(ids))
    rest = [i for i in ids if i not in dense]
    there, matrix = await to_thread(rooms.vectors.vectors_of, rest)
    known = {**dense, **dict(zip(there, (matrix @ vector).tolist(), strict=True))}
    return np.array([known.get(i, 0.0) for i in ids])


def _standardised(scores: np.ndarray) -> np.ndarray:
    """Return z-scores over the candidates; an arm that tells nothing apart adds nothing."""
    spread = float(scores.std()) if len(scores) else 0.0
    return (scores - scores.mean()) / spread if spread > 1e-9 else np.zeros_like(scores)


def _ranks(scores: dict[str, float]) -> dict[str, int]:
    order = sorted(scores, key=lambda i: (-scores[i], i))
    return {note_id: rank for rank, note_id in enumerate(order, start=1)}


def _explained(scores: Scored, index: int, rank: int, total: float) -> Explanation:
    note_id = scores.ids[index]
    return Explanation(
        note_id=note_id,
        rank=rank,
        score=total,
        parts={name: float(values[index]) for name, values in scores.parts.items()},
        ranks={arm: ranks[note_id] for arm, ranks in scores.ranks.items() if note_id in ranks},
    )
