"""What a system cost in its run: writing and reading apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.model import Usage

from ..runs.records import unit  # noqa: TID252 - in a wheel, this package has another name
from ..statistics.cost import Cost, Latency, Spent, cost, latency  # noqa: TID252 - likewise

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..runs.records import Ingested, Measured  # noqa: TID252 - likewise
    from .gathering import Party


def cost_of(party: Party) -> Cost:
    """Sum up a system's costs; a window's time is spread over its turns, its calls count with its first one."""
    sizes = [one.bytes for one in _measured(party, "bytes") if one.bytes is not None]
    whole = cost(_written(party), [_read(party, one.unit) for one in party.scores], turns=_turns(party))
    return whole.model_copy(update={"index_bytes": sum(sizes) if sizes else None})


def latency_of(party: Party, stage: str) -> Latency | None:
    """Return how long a stage took for one question; None where it was not measured."""
    seconds = [one.seconds for one in _measured(party, stage)]
    return latency(seconds) if seconds else None


def held(party: Party) -> list[Ingested]:
    """Return what a system holds of each conversation that it has taken in whole."""
    start = unit(party.entry.label, "")
    return [one for one in party.run.folder.ingest.records() if one.unit.startswith(start)]


def _measured(party: Party, what: str) -> list[Measured]:
    """Return a system's measurements of one kind; each turn, conversation or question has one."""
    start = f"{what} {unit(party.entry.label, '')}"
    return [one for one in party.run.folder.measured.records() if one.unit.startswith(start)]


def _turns(party: Party) -> int:
    """Count the turns that were written: one that a failed call left was worked on twice, and is one turn."""
    whole = {f"write {one.unit}/": one.turns for one in held(party)}
    begun = [one for one in _measured(party, "write") if not one.unit.startswith(tuple(whole))]
    return sum(whole.values()) + sum(one.turns for one in begun)


def _written(party: Party) -> Iterator[Spent]:
    """Yield what each turn took, each time that it was worked on."""
    calls = sum((party.run.calls.usage(f"write {one.unit}") for one in held(party)), Usage())
    for one in _measured(party, "write"):
        for _ in range(one.turns):
            yield Spent(calls, one.seconds / one.turns)
            calls = Usage()


def _read(party: Party, name: str) -> Spent:
    """Return what one question took: searching and answering."""
    stages = ("search", "answer")
    usage = sum((party.run.calls.usage(f"{stage} {name}") for stage in stages), Usage())
    found = (party.run.folder.measured.get(f"{stage} {name}") for stage in stages)
    return Spent(usage, sum(one.seconds for one in found if one is not None))
