"""Which answers would have come too late for DialSim's simulator, which calls them wrong; here nothing is cut off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..statistics.bootstrap import estimate  # noqa: TID252 - in a wheel, this package has another name
from ..statistics.cost import latency  # noqa: TID252 - likewise
from .types import Late, Lateness

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..runs.records import Scored  # noqa: TID252 - likewise
    from ..statistics.cost import Side  # noqa: TID252 - likewise
    from .gathering import Party

LIMITS = (5.0, 6.0)
"""Seconds: the simulator's own, and those of the example of its package."""


def lateness_of(party: Party, write: Side) -> Lateness | None:
    """Return how many of a system's answers came late; None where the format knows no limit.

    Args:
        party: the system.
        write: what it cost to store turns.
    """
    if party.run.manifest.data_format != "dialsim":
        return None
    storing = write.seconds / write.units if write.units else 0.0
    seconds = [storing + sum(_seconds(party, one)) for one in party.scores]
    return Lateness(latency=latency(seconds), limits=tuple(_late(limit, seconds, party.scores) for limit in LIMITS))


def _late(limit: float, seconds: Sequence[float], scores: Sequence[Scored]) -> Late:
    conversations = [one.conversation for one in scores]
    late = [float(taken > limit) for taken in seconds]
    left = [0.0 if late[place] else one.values["strict"] for place, one in enumerate(scores)]
    share, strict = estimate(late, conversations), estimate(left, conversations)
    assert share is not None
    assert strict is not None
    return Late(limit=limit, share=share, strict=strict)


def _seconds(party: Party, one: Scored) -> Iterator[float]:
    for stage in ("search", "answer"):
        found = party.run.folder.measured.get(f"{stage} {one.unit}")
        if found is not None:
            yield found.seconds
