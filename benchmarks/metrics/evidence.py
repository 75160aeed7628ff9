"""What one ranking of notes is worth to one question: how much of its evidence it brings, and at what length.

Evidence recall is the share of a question's distinct evidence turns that are found: among the first k distinct turns
that the ranked notes stand for, or within a budget of tokens. Tokens are those of the lines that `recall` would write,
best first; the first line that does not fit ends the budget.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

KS = (5, 10, 20)
BUDGETS = (500, 1000, 2000)
_ARTICLES = frozenset(("a", "an", "the", "and"))
_WORD = re.compile(r"\w+")


class Line(NamedTuple):
    """A note as it would stand in a prompt."""

    turns: tuple[str, ...]
    """The turns it stands for."""
    text: str
    tokens: int


class Worth(NamedTuple):
    """One ranking's worth to one question."""

    recall_at: tuple[float, ...]
    """For each number of turns; all of the evidence was found where it is 1."""
    recall_within: tuple[float, ...]
    """For each budget."""
    answer_within: tuple[bool, ...] | None
    """Whether the answer's words stand in the context, for each budget; None where there is no answer."""


def worth(
    turns: Iterable[Sequence[str]],
    lines: Iterable[Line],
    evidence: Collection[str],
    answer: str | None,
    *,
    ks: Sequence[int] = KS,
    budgets: Sequence[int] = BUDGETS,
) -> Worth:
    """Measure a ranking.

    Args:
        turns: of each ranked note the turns it stands for, best first.
        lines: of the same notes; read only as far as the largest budget goes.
        evidence: the turns that hold the answer; not empty.
        answer: the right answer.
        ks: how many distinct turns are looked at.
        budgets: how many tokens are read.
    """
    wanted = frozenset(evidence)
    first = list(_distinct(turns, max(ks)))
    fitting = within(lines, max(budgets))
    ends = list(accumulate(line.tokens for line in fitting))
    contexts = [fitting[: sum(end <= budget for end in ends)] for budget in budgets]
    return Worth(
        recall_at=tuple(len(wanted.intersection(first[:k])) / len(wanted) for k in ks),
        recall_within=tuple(
            len(wanted.intersection(turn for line in lines for turn in line.turns)) / len(wanted) for lines in contexts
        ),
        answer_within=None if answer is None else tuple(_holds(context, answer) for context in contexts),
    )


def reciprocal_rank(turns: Iterable[Sequence[str]], evidence: Collection[str], *, limit: int = max(KS)) -> float:
    """Return 1 over the place of the first evidence turn among the first `limit` distinct ones; 0 if there is none."""
    wanted = frozenset(evidence)
    places = (place for place, turn in enumerate(_distinct(turns, limit), start=1) if turn in wanted)
    return 1 / next(places, float("inf"))


def within(lines: Iterable[Line], budget: int) -> list[Line]:
    """Return the lines that fit, up to the first that does not."""
    fitting: list[Line] = []
    spent = 0
    for line in lines:
        spent += line.tokens
        if spent > budget:
            break
        fitting.append(line)
    return fitting


def says(text: str, answer: str) -> bool:
    """Whether an answer's words stand in a text, one after the other; case, punctuation and articles are passed over.

    A date in other words is not recognised, nor is anything that has to be concluded: this is a floor.
    """
    words = _plain(answer)
    return bool(words) and f" {words} " in f" {_plain(text)} "


def _plain(text: str) -> str:
    return " ".join(word for word in _WORD.findall(text.lower()) if word not in _ARTICLES)


def _holds(lines: Iterable[Line], answer: str) -> bool:
    return any(says(line.text, answer) for line in lines)


def _distinct(turns: Iterable[Sequence[str]], limit: int) -> Iterator[str]:
    seen: set[str] = set()
    for some in turns:
        for turn in some:
            if turn not in seen:
                seen.add(turn)
                yield turn
            if len(seen) == limit:
                return
