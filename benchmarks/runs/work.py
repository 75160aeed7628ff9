"""What the stages of a run share, and how it is told how far they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING

from amem.model import Usage
from amem.values import Frozen

from .pace import Pace
from .records import Measured

if TYPE_CHECKING:
    from .calls import Calls, Client
    from .folder import Folder
    from .material import Material


class Step(Frozen):
    """How far a run has come."""

    what: str
    """The system, and what it is at."""
    done: int
    total: int
    """Turns to be taken in, contexts to be found, and answers to be given, over all systems."""
    usage: Usage
    """Of all calls so far."""
    left: float | None = None
    """Seconds; None where nothing like what is left has been done yet."""


Progress = Callable[[Step], None]


@dataclass
class Bench:
    """What the stages work with."""

    material: Material
    folder: Folder
    calls: Calls
    progress: Progress | None = None
    done: int = 0
    total: int = field(init=False)
    pace: Pace = field(init=False)

    def __post_init__(self) -> None:
        """Count the work."""
        config, conversations = self.material.config, self.material.data.conversations
        self.pace = Pace(config.systems, conversations, self.folder, asks=config.reader.model is not None)
        each = sum(len(one.turns) + 2 * len(one.questions) for one in conversations)
        self.total = each * len(config.systems)

    def moved(self, what: str, by: int = 1) -> None:
        """Say that more is done."""
        self.done += by
        if self.progress is not None:
            step = Step(what=what, done=self.done, total=self.total, usage=self.calls.total, left=self.pace.left())
            self.progress(step)

    def measured(self, record: Measured) -> None:
        """Keep how long something took."""
        self.folder.measured.append(record)
        self.pace.took(record)


class Watch:
    """Takes the time of one unit; calls that were made before count as long as they took then."""

    def __init__(self, client: Client | None) -> None:
        self._client = client
        self._seconds = 0.0
        self._start = 0.0

    def __enter__(self) -> None:
        """Begin, or go on."""
        if self._client is not None:
            self._client.owed = 0.0
        self._start = perf_counter()

    def __exit__(self, *_: object) -> None:
        """Stop."""
        self._seconds += perf_counter() - self._start + (self._client.owed if self._client is not None else 0.0)

    def read(self, unit: str, turns: int = 1) -> Measured:
        """Return what was measured, and begin anew."""
        seconds, self._seconds = self._seconds, 0.0
        return Measured(unit=unit, seconds=round(seconds, 6), turns=turns)
