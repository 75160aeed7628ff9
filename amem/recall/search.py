"""From a question to ranked notes: candidates of both arms, their neighbours, exact features, one weighted sum."""

from __future__ import annotations

import logging
from asyncio import to_thread
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from amem.errors import EmbeddingError
from amem.model import Explanation, Hit
from amem.recall import features
from amem.recall.reconstruction import recollection
from amem.recall.timefocus import time_focus
from amem.recall.words import content_words

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from amem.filters import Filter
    from amem.recall.cues import Handle
    from amem.recall.features import Lexical, Question
    from amem.recall.layout import View
    from amem.recall.reconstruction import Reconstruction
    from amem.rooms import Rooms

    Recollect = Callable[[str, View], Reconstruction]

log = logging.getLogger("amem.recall")

CANDIDATES = 200
"""Of each arm; docs/recall.md says what scoring every note would add."""


@dataclass(frozen=True)
class Ranked:
    """The candidates of one box, best first."""

    view: View
    rows: NDArray[np.int64]
    scores: NDArray[np.float64]
    parts: Mapping[str, NDArray[np.float64]]
    """Each feature's contribution to the score."""
    arms: Mapping[str, NDArray[np.int64]]
    """Each arm's candidates, its best first."""
    remembered: Reconstruction | None = None
    """What cues brought back, where they were asked."""

    def explanation(self, at: int, rank: int) -> Explanation:
        """Say how the score of the candidate at a place came about."""
        row = int(self.rows[at])
        return Explanation(
            note_id=self.view.ids[row],
            rank=rank,
            score=float(self.scores[at]),
            parts={name: round(float(values[at]), 6) for name, values in self.parts.items() if values[at]},
            ranks={
                name: int(found[0]) + 1 for name, rows in self.arms.items() if len(found := np.flatnonzero(rows == row))
            },
            path=() if self.remembered is None else self.remembered.path(row),
        )


async def search(
    rooms: Rooms,
    boxes: Sequence[str],
    question: str,
    *,
    k: int,
    given: Filter,
    now: datetime,
    explain: bool = False,
    reconstruct: bool = False,
    opened: Mapping[str, Collection[Handle]] | None = None,
) -> list[Hit]:
    """Return the `k` best notes for a question, best first, ties in order of id.

    Args:
        rooms: of the memory.
        boxes: where to search.
        question: what is asked.
        k: how many notes at most.
        given: the filter.
        now: what "last week" in the question counts from.
        explain: say of each hit how its score came about.
        reconstruct: let cues bring back notes as well.
        opened: by box, the only tags and cues that reconstruction follows from note to note.
    """
    if k == 0:
        return []
    vector = await embed_question(rooms, question)
    asked = features.Question(question, time_focus(question, now), now)
    recollect = recollection(rooms, asked, now, opened) if reconstruct else None

    def look(box: str) -> Ranked:
        return rank(rooms, box, asked, vector, given, recollect=recollect)

    return await to_thread(_search, rooms, boxes, look, k, explain)


async def embed_question(rooms: Rooms, question: str) -> NDArray[np.float32] | None:
    """Return the question's vector, or None where the embedder fails: the words still find notes."""
    if not question.strip():
        return None
    try:
        matrix = await rooms.embedder.embed([question])
    except EmbeddingError as error:
        log.warning("the question could not be embedded (%s); searching by words only", error)
        return None
    return np.asarray(matrix[0])


def _search(rooms: Rooms, boxes: Sequence[str], look: Callable[[str], Ranked], k: int, explain: bool) -> list[Hit]:
    ranked = [look(box) for box in boxes]
    best = sorted(
        (-float(score), found.view.ids[row], number, at)
        for number, found in enumerate(ranked)
        for at, (row, score) in enumerate(zip(found.rows[:k].tolist(), found.scores[:k].tolist(), strict=True))
    )[:k]
    notes = rooms.ledger.get([note_id for _, note_id, _, _ in best], boxes=boxes)
    return [
        Hit(
            note=notes[note_id],
            score=-negative,
            explanation=ranked[number].explanation(at, place) if explain else None,
        )
        for place, (negative, note_id, number, at) in enumerate(best, start=1)
        if note_id in notes
    ]


def rank(
    rooms: Rooms,
    box: str,
    question: Question,
    vector: NDArray[np.float32] | None,
    given: Filter,
    *,
    candidates: int = CANDIDATES,
    weights: Mapping[str, float] | None = None,
    recollect: Recollect | None = None,
) -> Ranked:
    """Return the candidates of a box that the filter lets through, with their scores, best first.

    Every statistic is taken over those notes alone, so that a note the filter excludes changes nothing.

    Args:
        rooms: of the memory.
        box: the box.
        question: what is asked.
        vector: the question's; None where it could not be embedded.
        given: the filter.
        candidates: how many each arm proposes.
        weights: of the features, instead of the shipped ones.
        recollect: the arm that reconstructs; None leaves it out.
    """
    allowed = rooms.ledger.matching_ids(box, given) if given.restricts or given.includes_hidden else None
    view = rooms.layouts.view(box, allowed)
    words = content_words(question.text, view.speakers)
    lexical = features.look_up(words, rooms.layouts.postings(box, words), view)
    nearest, cosines = _dense(rooms, box, view, vector, candidates, filtered=allowed is not None)
    arms = _arms(view, lexical, nearest, candidates)
    remembered = None if recollect is None else recollect(box, view)
    if remembered is not None:
        arms["reconstruction"] = remembered.rows[:candidates]
    rows = view.widened(np.concatenate(list(arms.values())))
    if cosines is None and vector is not None:
        cosines = _cosines(rooms, box, view, view.widened(rows), vector)
    values = features.features(question, view, lexical, rows, cosines)
    weights = weights or (features.WEIGHTS_WITHOUT_VECTORS if cosines is None else features.WEIGHTS)
    if rooms.settings.recall_recency:
        values["recency"] = features.recency(view, rows, question.now, rooms.settings.recall_half_life_days)
        weights = {"recency": rooms.settings.recall_recency, **weights}
    if remembered is not None:
        values["reconstruction"] = remembered.scores[rows]
        weights = {"reconstruction": rooms.settings.reconstruct_weight, **weights}
    parts = {name: weight * values[name] for name, weight in weights.items() if name in values}
    scores = np.sum(list(parts.values()), axis=0) if len(rows) else np.zeros(0)
    order = np.lexsort((view.by_id[rows], -np.round(scores, 9)))
    ordered = {name: values[order] for name, values in parts.items()}
    return Ranked(view, rows[order], scores[order], ordered, arms, remembered)


def _dense(
    rooms: Rooms, box: str, view: View, vector: NDArray[np.float32] | None, limit: int, *, filtered: bool
) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
    """Return the nearest rows, the nearest first, and every row's cosine, or None where Chroma knows the nearest."""
    if vector is None:
        return np.zeros(0, dtype=np.int64), None
    known = rooms.index.all_cosines(box, view.aligned, vector)
    if known is not None:
        return _highest(known, limit), known
    # Hidden notes are not in the view, but Chroma knows them, so those it finds are looked up in the view.
    found = rooms.index.search(box, vector, limit, set(view.ids) if filtered else None)
    rows = [view.row_of[match.note_id] for match in found if match.note_id in view.row_of]
    return np.array(rows, dtype=np.int64), None


def _highest(values: NDArray[np.float64], limit: int) -> NDArray[np.int64]:
    """Return the rows of the highest values, the highest first; rows that tie with the last place stay in."""
    rows = np.flatnonzero(~np.isnan(values))
    if len(rows) > limit:
        last = np.partition(values[rows], len(rows) - limit)[len(rows) - limit]
        rows = rows[values[rows] >= last]
    best: NDArray[np.int64] = rows[np.argsort(-values[rows], kind="stable")]
    return best


def _arms(view: View, lexical: Lexical, nearest: NDArray[np.int64], limit: int) -> dict[str, NDArray[np.int64]]:
    """Return each arm's candidates as rows of the view, its best first."""
    held = features.own_cover(lexical, view)
    best = _highest(np.where(held > 0, held, np.nan), limit)[:limit]
    arms = {"lexical": best, "dense": nearest}
    if not any(len(rows) for rows in arms.values()):
        arms["lexical"] = np.arange(min(len(view), limit))  # nothing to go by: the other features decide
    return arms


def _cosines(
    rooms: Rooms, box: str, view: View, rows: NDArray[np.int64], vector: NDArray[np.float32]
) -> NDArray[np.float64]:
    """Return the cosine of every row of the view; NaN where it is not among `rows`, or has no vector."""
    known = np.full(len(view), np.nan)
    known[rows] = rooms.index.cosines(box, [view.ids[row] for row in rows], vector)
    return known
