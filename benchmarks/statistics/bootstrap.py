"""How sure a mean over questions is, when the questions of one conversation are no independent draws.

Whole conversations are drawn, and their questions pooled. Of one conversation alone only its questions can be drawn:
that says how sure its own mean is, and nothing about other conversations.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from amem.values import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Counts = NDArray[np.uint8]

RESAMPLES = 10_000
SEED = 20231
_BLOCK = 500
"""Draws made at once; the numbers are the same for any, as long as it divides RESAMPLES."""
_KEPT = 2000
"""Up to so many clusters, what was drawn is kept for the next mean over as many: a report has hundreds."""
_EXACT = 12
"""Decimals of a mean: the sum's order must not decide whether a difference is none."""
_ENDS = (0.025, 0.975)

Drawn = Literal["conversations", "questions"]


class Estimate(Frozen):
    """A mean with its 95 % interval."""

    mean: float
    low: float | None
    """None, as `high`, where there is but one question."""
    high: float | None
    questions: int
    conversations: int
    drawn: Drawn
    """What the interval was drawn from. From ten conversations or fewer it is rough."""


def estimate(values: Sequence[float], clusters: Sequence[str]) -> Estimate | None:
    """Return the mean of some questions' values; None where there are none.

    Args:
        values: one for each question.
        clusters: the conversation of each question.
    """
    if not values:
        return None
    several = len(set(clusters)) > 1
    span = interval(values, clusters if several else [str(place) for place in range(len(values))])
    return Estimate(
        mean=float(np.mean(values)),
        low=span[0] if span else None,
        high=span[1] if span else None,
        questions=len(values),
        conversations=len(set(clusters)),
        drawn="conversations" if several else "questions",
    )


def interval(values: ArrayLike, clusters: Sequence[str]) -> tuple[float, float] | None:
    """Return a 95 % bootstrap interval of the mean: whole clusters are drawn, and their values pooled.

    It is rough where clusters are few, and None where there is but one.
    """
    means = resampled(values, clusters)
    if means is None:
        return None
    low, high = np.quantile(means, _ENDS)
    return float(low), float(high)


def resampled(values: ArrayLike, clusters: Sequence[str]) -> Floats | None:
    """Return the mean of each draw of whole clusters, the same every time; None where there is but one cluster."""
    names, of = np.unique(np.asarray(clusters), return_inverse=True)
    if len(names) < 2:
        return None
    sums = np.bincount(of, weights=np.asarray(values, dtype=float))
    columns = np.stack([sums, np.bincount(of)], axis=1)
    pooled = [drawn.astype(float) @ columns for drawn in (_kept if len(names) <= _KEPT else _draws)(len(names))]
    return np.concatenate([np.round(part[:, 0] / part[:, 1], _EXACT) for part in pooled])


@lru_cache(maxsize=64)
def _kept(count: int) -> tuple[Counts, ...]:
    return tuple(_draws(count))


def _draws(count: int) -> Iterator[Counts]:
    """Yield, in blocks, how often each cluster is in each draw: hardly ever more than ten times."""
    random = np.random.default_rng(SEED)
    rows = np.arange(_BLOCK)[:, None] * count
    for _ in range(RESAMPLES // _BLOCK):
        drawn = (random.integers(0, count, (_BLOCK, count)) + rows).ravel()
        yield np.bincount(drawn, minlength=_BLOCK * count).reshape(_BLOCK, count).astype(np.uint8)
