"""Putting hits into another order than their scores': the scores of the places stay, and the difference is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.model import Hit


def in_order(hits: Sequence[Hit], because: str) -> list[Hit]:
    """Return hits in the order given, under scores that fall: the best place has the best score any of them had.

    Args:
        hits: in their new order.
        because: the part of an explanation that what a hit gained or lost stands under.
    """
    scores = sorted((hit.score for hit in hits), reverse=True)
    return [
        _placed(hit, score, rank, because) for rank, (hit, score) in enumerate(zip(hits, scores, strict=True), start=1)
    ]


def _placed(hit: Hit, score: float, rank: int, because: str) -> Hit:
    why = hit.explanation
    if why is not None:
        gained = round(score - hit.score, 6)
        parts = {**why.parts, because: gained} if gained else why.parts
        why = why.model_copy(update={"rank": rank, "score": score, "parts": parts})
    return hit.model_copy(update={"score": score, "explanation": why})


def remarked(hit: Hit, remark: str) -> Hit:
    """Return a hit whose explanation, where it has one, says something more."""
    why = hit.explanation
    if why is None:
        return hit
    return hit.model_copy(update={"explanation": why.model_copy(update={"remarks": (*why.remarks, remark)})})
