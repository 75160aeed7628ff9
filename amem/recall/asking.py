"""Asking the memory: the search, and around it what is off by default: split, search, merge, rerank, expand."""

from __future__ import annotations

from asyncio import to_thread
from functools import partial
from typing import TYPE_CHECKING

from amem.recall.expansion import expand, with_linked
from amem.recall.order import remarked
from amem.recall.packing import pack
from amem.recall.reranking import reranked, reranker_of
from amem.recall.rewriting import simpler, together
from amem.recall.search import search
from amem.recall.tagchoice import choose_tags
from amem.recall.thinking import Thinking

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from amem.filters import Filter
    from amem.model import Context, Hit
    from amem.recall.reranking import Reranker
    from amem.rooms import Rooms

RECALL_HITS = 100
"""Hits that packing chooses from."""


async def ask(
    rooms: Rooms,
    boxes: Sequence[str],
    question: str,
    *,
    k: int,
    given: Filter,
    now: datetime,
    explain: bool = False,
    links: int = 0,
    reconstruct: bool | None = None,
    rewrite: bool | None = None,
    rerank: str | Reranker | None = None,
) -> list[Hit]:
    """Return the `k` best notes for a question, best first, and after them at most `links` that links lead to.

    Args:
        rooms: the memory's parts.
        boxes: where to search; what calls cost is counted in the first.
        question: what is asked.
        k: how many notes at most, linked ones not counted.
        given: the filter.
        now: what "last week" in the question counts from.
        explain: say of each hit how its score came about.
        links: how many linked notes at most.
        reconstruct: let cues bring back notes as well; None asks the settings. Likewise `rewrite` and `rerank`.
        rewrite: let the language model split the question first.
        rerank: who puts the best candidates in their final order.

    Raises:
        InputError: `rerank` names nobody.
    """
    settings, thinking = rooms.settings, Thinking(rooms, boxes[0] if boxes else "")
    reranker = reranker_of(settings.recall_rerank if rerank is None else rerank, thinking)
    if k == 0:
        return []
    with_cues = settings.reconstruct if reconstruct is None else reconstruct
    look = partial(
        search, rooms, boxes, k=k if reranker is None else max(k, settings.recall_rerank_top), given=given, now=now,
        explain=explain, reconstruct=with_cues,
    )  # fmt: skip
    try:
        problems: list[str | None] = []
        if with_cues and settings.reconstruct_calls:
            opened, problem = await choose_tags(thinking, boxes, question, given=given, now=now)
            look, problems = partial(look, opened=opened), [problem]
        asked = [question]
        if settings.recall_rewrite if rewrite is None else rewrite:
            asked, problem = await simpler(thinking, question, now)
            problems.append(problem)
        hits = together([await look(one) for one in asked])
        for problem in filter(None, problems):
            hits = [remarked(hit, problem) for hit in hits]
        if reranker is not None:
            hits = await reranked(hits, reranker, question, top=settings.recall_rerank_top)
    finally:
        await thinking.settle()
    return [*hits[:k], *await expand(rooms, hits[:k], limit=links, given=given, now=now, explain=explain)]


async def packed(rooms: Rooms, hits: Sequence[Hit], *, budget: int, given: Filter, now: datetime) -> Context:
    """Pack hits, and notes that links lead to from them, into a text of at most `budget` tokens."""
    seated = await with_linked(rooms, hits, budget=budget, given=given, now=now)
    evolved = await to_thread(rooms.ledger.evolved_contexts, [hit.note.id for hit in seated])
    return await to_thread(pack, seated, evolved, budget=budget, tokenizer=rooms.tokenizer)
