"""Rewriting: the language model splits a question into simpler ones, and what they find is put together."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from amem.errors import LLMError
from amem.recall.order import in_order, remarked
from amem.replies import QueryReply

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from amem.model import Hit
    from amem.recall.thinking import Thinking

log = logging.getLogger("amem.recall")

PROMPT = "query"
_REPLY_TOKENS = 300


async def simpler(thinking: Thinking, question: str, now: datetime) -> tuple[list[str], str | None]:
    """Return the question and the simpler ones it was split into; where that failed, the question and why."""
    try:
        reply = await thinking.ask(
            PROMPT, {"date": f"{now:%Y-%m-%d}", "question": question}, QueryReply, max_tokens=_REPLY_TOKENS
        )
    except LLMError as error:
        log.warning("the question was not split (%s); it is searched for as it is", error)
        return [question], f"the question was not split: {error}"
    new = {asked.strip().casefold(): asked.strip() for asked in reply.questions}
    return [question, *(text for key, text in new.items() if key not in ("", question.strip().casefold()))], None


def together(found: Sequence[Sequence[Hit]]) -> list[Hit]:
    """Merge what several questions found: by the best rank a note has for any of them, then by its score there.

    Ranks are compared before scores, since a short question gives higher scores than a long one.
    """
    if len(found) == 1:
        return list(found[0])
    best: dict[str, tuple[int, float, str, Hit]] = {}
    for number, hits in enumerate(found):
        for rank, hit in enumerate(hits, start=1):
            place = (rank, -hit.score, hit.note.id)
            if hit.note.id not in best or place < best[hit.note.id][:3]:
                best[hit.note.id] = (*place, _remember(hit, number, rank))
    return in_order([hit for *_, hit in sorted(best.values(), key=lambda one: one[:3])], "rewrite")


def _remember(hit: Hit, number: int, rank: int) -> Hit:
    if number == 0 or hit.explanation is None:
        return hit
    return remarked(hit, f"found by simpler question {number}, where its rank was {rank}")
