"""How sure a mean over questions is, when the questions of one conversation are no independent draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

RESAMPLES = 10_000
SEED = 20231


def interval(values: ArrayLike, clusters: Sequence[str]) -> tuple[float, float] | None:
    """Return a 95 % bootstrap interval of the mean: whole clusters are drawn, and their values pooled.

    It is rough where clusters are few, and None where there is but one.
    """
    names, of = np.unique(np.asarray(clusters), return_inverse=True)
    if len(names) < 2:
        return None
    sums = np.bincount(of, weights=np.asarray(values, dtype=float))
    counts = np.bincount(of)
    draws = np.random.default_rng(SEED).integers(0, len(names), (RESAMPLES, len(names)))
    means = sums[draws].sum(axis=1) / counts[draws].sum(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    return float(low), float(high)
