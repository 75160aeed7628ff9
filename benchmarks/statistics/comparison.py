"""Is one system better than others on the same questions? Paired differences, corrected for looking at several."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from amem.errors import InputError
from amem.values import Frozen

from .bootstrap import Estimate, estimate, resampled

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .items import Item


class Comparison(Frozen):
    """One system beside another, question by question."""

    other: str
    difference: Estimate
    """Ours less the other's, so that more is better."""
    better: int
    """Questions on which ours is better."""
    worse: int
    p: float | None
    """Two-sided, from the same draws as the interval; None where there is but one question."""
    p_holm: float | None
    """The same, corrected by Holm for the number of systems compared."""
    p_mcnemar: float | None
    """Of answers that are right or wrong, exact, as if all questions were independent; None for other scores."""


def compare(ours: Sequence[Item], others: Mapping[str, Sequence[Item]]) -> list[Comparison]:
    """Compare a system with others.

    Args:
        ours: its questions and their values.
        others: the same questions with the values of other systems.

    Raises:
        InputError: there are no questions, or a system was asked others than ours.
    """
    found = [_compared(ours, name, items) for name, items in others.items()]
    corrected = iter(holm([one.p for one in found if one.p is not None]))
    return [one if one.p is None else one.model_copy(update={"p_holm": next(corrected)}) for one in found]


def holm(ps: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number (Holm 1979), in the order given."""
    corrected, most = [0.0] * len(ps), 0.0
    for rank, place in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        most = max(most, min(1.0, (len(ps) - rank) * ps[place]))
        corrected[place] = most
    return corrected


def mcnemar(better: int, worse: int) -> float:
    """Return McNemar's exact two-sided p-value: how likely so uneven a split is, were either side as likely."""
    count, few = better + worse, min(better, worse)
    return min(1.0, float(2 * sum(math.comb(count, hits) for hits in range(few + 1)) / 2**count))


def _compared(ours: Sequence[Item], name: str, items: Sequence[Item]) -> Comparison:
    pairs = _paired(ours, name, items)
    differences = [one.value - other.value for one, other in pairs]
    found = estimate(differences, [one.conversation for one, _ in pairs])
    assert found is not None
    better, worse = sum(d > 0 for d in differences), sum(d < 0 for d in differences)
    binary = all(item.value in {0.0, 1.0} for pair in pairs for item in pair)
    return Comparison(
        other=name,
        difference=found,
        better=better,
        worse=worse,
        p=_p(differences, [one.conversation for one, _ in pairs], found),
        p_holm=None,
        p_mcnemar=mcnemar(better, worse) if binary else None,
    )


def _paired(ours: Sequence[Item], name: str, items: Sequence[Item]) -> list[tuple[Item, Item]]:
    theirs = {item.key: item for item in items}
    if not ours or len(theirs) != len(items) or {item.key for item in ours} != theirs.keys():
        raise InputError(f"{name} was not asked the same questions, each once. Nothing was compared.")
    return [(item, theirs[item.key]) for item in ours]


def _p(differences: Sequence[float], conversations: Sequence[str], found: Estimate) -> float | None:
    """Return twice the share of draws on the rarer side of 0, never less than one draw can show."""
    clusters = conversations if found.drawn == "conversations" else [str(place) for place in range(len(differences))]
    means = resampled(differences, clusters)
    if means is None:
        return None
    below, above = np.count_nonzero(means <= 0), np.count_nonzero(means >= 0)
    return min(1.0, 2 * (min(below, above) + 1) / (len(means) + 1))
