"""Scored questions, and what is reported of them: by category and conversation, with and without disputed ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.values import Frozen

from .bootstrap import Estimate, estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence


@dataclass(frozen=True, slots=True)
class Item:
    """One question's value in one measure."""

    conversation: str
    index: int
    category: str
    value: float
    answerable: bool = True
    """False for a question whose right answer is that nothing was said."""

    @property
    def key(self) -> tuple[str, int]:
        """What names the question: its conversation and its place in there."""
        return self.conversation, self.index


class Part(Frozen):
    """One measure over some questions; what has no question is None or left out."""

    answerable: Estimate | None
    """Over the questions that have an answer: LoCoMo's categories 1 to 4."""
    all: Estimate | None
    """Over all questions; None where the measure is undefined for those without an answer."""
    macro: float | None
    """The mean of the answerable categories' means, each counting the same."""
    by_category: dict[str, Estimate]
    by_conversation: dict[str, Estimate]


class Summary(Frozen):
    """One measure over a whole run."""

    everything: Part
    undisputed: Part
    """Without the questions whose answer key is disputed."""
    disputed: int
    """How many of the questions are."""


def summarise(
    items: Sequence[Item], disputed: Collection[tuple[str, int]] = (), *, unanswerable: bool = True
) -> Summary:
    """Sum up one measure.

    Args:
        items: each question once.
        disputed: the keys of questions whose answer key is disputed.
        unanswerable: whether the measure is defined for questions without an answer; if not, they are left out.
    """
    kept = [item for item in items if unanswerable or item.answerable]
    rest = [item for item in kept if item.key not in disputed]
    everything = _part(kept, whole=unanswerable)
    return Summary(
        everything=everything,
        undisputed=everything if len(rest) == len(kept) else _part(rest, whole=unanswerable),
        disputed=len(kept) - len(rest),
    )


def _part(items: Sequence[Item], *, whole: bool) -> Part:
    answerable = [item for item in items if item.answerable]
    means = [one.mean for one in _by(answerable, lambda item: item.category).values()]
    return Part(
        answerable=_estimate(answerable),
        all=_estimate(items) if whole else None,
        macro=sum(means) / len(means) if means else None,
        by_category=_by(items, lambda item: item.category),
        by_conversation=_by(items, lambda item: item.conversation),
    )


def _by(items: Sequence[Item], name: Callable[[Item], str]) -> dict[str, Estimate]:
    groups: dict[str, list[Item]] = {}
    for item in items:
        groups.setdefault(name(item), []).append(item)
    found = {key: _estimate(group) for key, group in sorted(groups.items())}
    return {key: one for key, one in found.items() if one is not None}


def _estimate(items: Sequence[Item]) -> Estimate | None:
    return estimate([item.value for item in items], [item.conversation for item in items])
