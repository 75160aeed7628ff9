"""Explaining: why a note is found for a question, or why it is not."""

from __future__ import annotations

from asyncio import to_thread
from typing import TYPE_CHECKING

import numpy as np

from amem.errors import InputError
from amem.model import Explanation
from amem.recall.asking import RECALL_HITS, ask, packed
from amem.recall.expansion import steps
from amem.recall.features import Question
from amem.recall.reconstruction import recollection
from amem.recall.search import CANDIDATES, embed_question, rank
from amem.recall.timefocus import time_focus
from amem.store.succession import leading_links

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from amem.filters import Filter
    from amem.model import Context, Hit, Note, PathStep
    from amem.recall.search import Ranked
    from amem.rooms import Rooms

NO_CANDIDATE = "it is not a candidate of any arm, nor beside one in its session"
_UNASKED = "no language model was asked: splitting and reranking, which the settings switch on, are left out"
_UNEMBEDDED = "the question could not be embedded: words alone were compared"


async def explain(
    rooms: Rooms,
    note: Note,
    question: str,
    *,
    k: int,
    budget: int | None,
    given: Filter,
    now: datetime,
    reconstruct: bool | None = None,
) -> Explanation:
    """Say where a note stands for a question; `dropped_by` is None where `search`, or `recall`, would return it.

    Args:
        rooms: the memory's parts.
        note: the note one wonders about.
        question: what was asked.
        k: that of the search.
        budget: explain `recall` within so many tokens, instead of `search`.
        given: the filter.
        now: what "last week" in the question counts from.
        reconstruct: whether cues bring back notes as well; None asks the settings.

    Raises:
        InputError: `k` or the budget is negative.
    """
    if k < 0 or (budget or 0) < 0:
        raise InputError(f"k is {k} and the budget {budget}; both must be 0 or more")
    excluded = given.why_not(note)
    if excluded is not None:
        return Explanation(note_id=note.id, rank=None, score=None, dropped_by=f"the filter: {excluded}")
    with_cues = rooms.settings.reconstruct if reconstruct is None else reconstruct
    vector = await embed_question(rooms, question)
    asked = Question(question, time_focus(question, now), now)
    recollect = recollection(rooms, asked, now) if with_cues else None

    def look(candidates: int = CANDIDATES) -> Ranked:
        return rank(rooms, note.box, asked, vector, given, recollect=recollect, candidates=candidates)

    limit = k if budget is None else RECALL_HITS
    found = await to_thread(_placed, note, look, limit)
    hits = await ask(
        rooms, [note.box], question, k=limit, given=given, now=now, reconstruct=with_cues, rewrite=False, rerank="none"
    )
    by_link = False
    if budget is not None:
        found, by_link = _in_text(found, await packed(rooms, hits, budget=budget, given=given, now=now))
    if by_link or found.dropped_by is not None:
        path = await to_thread(_way, rooms, note, hits)
        found = found.model_copy(update={"path": path or found.path})
    return found.model_copy(update={"remarks": _remarks(rooms, embedded=vector is not None)})


def _in_text(found: Explanation, context: Context) -> tuple[Explanation, bool]:
    """Say whether a note stands in a packed text, or what kept it out; and whether it stands there for a link."""
    cited = next((citation for citation in context.citations if citation.note_id == found.note_id), None)
    why = next((left.why for left in context.left_out if left.note_id == found.note_id), found.dropped_by)
    dropped_by = why if cited is None else None
    return found.model_copy(update={"dropped_by": dropped_by}), cited is not None and cited.via == "link"


def _remarks(rooms: Rooms, *, embedded: bool) -> tuple[str, ...]:
    settings = rooms.settings
    by_model = settings.recall_rewrite or settings.recall_rerank != "none"
    return (*((_UNASKED,) if by_model else ()), *(() if embedded else (_UNEMBEDDED,)))


def _placed(note: Note, look: Callable[..., Ranked], k: int) -> Explanation:
    """Return a note's rank, score and features, and what keeps it from being among the first `k`."""
    ranked = look()
    place = _place(ranked, note)
    if place is not None:
        beyond = None if place < k else f"rank {place + 1} is beyond k = {k}"
        return ranked.explanation(place, place + 1).model_copy(update={"dropped_by": beyond})
    everything = look(len(ranked.view))
    place = _place(everything, note)
    if place is None:  # it went while we were looking
        return Explanation(note_id=note.id, rank=None, score=None, dropped_by=NO_CANDIDATE)
    found = everything.explanation(place, place + 1)
    return found.model_copy(update={"rank": None, "dropped_by": NO_CANDIDATE})


def _place(ranked: Ranked, note: Note) -> int | None:
    row = ranked.view.row_of.get(note.id)
    places = np.flatnonzero(ranked.rows == (-1 if row is None else row))
    return int(places[0]) if len(places) else None


def _way(rooms: Rooms, note: Note, hits: Sequence[Hit]) -> tuple[PathStep, ...]:
    """Return how links lead to a note from hits, which `search(links=…)` and `recall` may follow."""
    others = [hit for hit in hits if hit.note.id != note.id]
    return next((step.path for step in steps(others, leading_links(rooms.ledger.database, [note.id]))), ())
