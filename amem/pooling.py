"""Vectors of texts that are embedded piece by piece."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from amem.errors import EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


def pool(rows: Vectors, owners: Sequence[int], weights: Sequence[float]) -> Vectors:
    """Return one row of length 1 for each owner: the mean of its pieces' directions, by their weights."""
    sums = np.zeros((max(owners) + 1, rows.shape[1]), dtype=np.float32)
    np.add.at(sums, list(owners), _unit(rows) * np.array(weights, dtype=np.float32)[:, None])
    return _unit(sums)


def _unit(rows: Vectors) -> Vectors:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.all(np.isfinite(lengths) & (lengths > 0)):
        raise EmbeddingError("the model gave a vector without a direction. Nothing was embedded; try again.")
    units: Vectors = (rows / lengths).astype(np.float32)
    return units
