"""What a run cost: writing and reading apart, measured and not estimated."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from amem.model import Usage
from amem.values import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path


class Spent(NamedTuple):
    """What one turn took to write, or one question to answer."""

    usage: Usage
    """Of the language model, as its provider counts."""
    seconds: float
    """By the clock, everything included."""


class Latency(Frozen):
    """How long a stage took."""

    p50_ms: float
    p95_ms: float


class Side(Frozen):
    """The cost of writing, or of reading."""

    units: int
    """Turns written, or questions answered."""
    total: Usage
    calls_per_unit: float
    tokens_per_unit: float
    """Of prompts and replies together."""
    seconds: float
    """The sum over the units, by the clock."""
    latency: Latency | None
    """Of one unit, each time that it was worked on; None where there was none."""

    @property
    def money(self) -> float | None:
        """US dollars; None where the price of some call is unknown."""
        return None if self.total.unpriced else self.total.cost


class Cost(Frozen):
    """What a run cost."""

    write: Side
    read: Side
    index_bytes: int | None
    """Of all that the memory keeps on disk; None where it keeps nothing there."""


def cost(write: Iterable[Spent], read: Iterable[Spent], index: Path | None = None, *, turns: int | None = None) -> Cost:
    """Sum up a run.

    Args:
        write: what each turn took, each time that it was worked on.
        read: what each question took.
        index: the folder the memory is kept in.
        turns: how many there are, where some may have been worked on more than once.
    """
    spent, asked = list(write), list(read)
    return Cost(
        write=_side(spent, len(spent) if turns is None else turns),
        read=_side(asked, len(asked)),
        index_bytes=None if index is None else folder_bytes(index),
    )


def folder_bytes(folder: Path) -> int:
    """Return the size of all files in a folder and below."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def latency(seconds: Sequence[float]) -> Latency:
    """Return how long something took, given each time it was done; at least once."""
    middle, most = np.quantile(np.asarray(seconds) * 1e3, (0.5, 0.95))
    return Latency(p50_ms=round(float(middle), 2), p95_ms=round(float(most), 2))


def _side(spent: Sequence[Spent], units: int) -> Side:
    total = sum((one.usage for one in spent), Usage())
    return Side(
        units=units,
        total=total,
        calls_per_unit=total.calls / units if units else 0.0,
        tokens_per_unit=(total.prompt_tokens + total.completion_tokens) / units if units else 0.0,
        seconds=sum(one.seconds for one in spent),
        latency=latency([one.seconds for one in spent]) if spent else None,
    )
