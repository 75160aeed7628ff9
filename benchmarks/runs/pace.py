"""How long the rest of a run will take: by what each system took so far, or what others took for the like."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from .records import unit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..datasets.conversation import Conversation  # noqa: TID252 - in a wheel, this package has another name
    from .config import SystemConfig
    from .folder import Folder
    from .records import Measured

Stage = Literal["write", "search", "answer"]
_STAGES: tuple[Stage, ...] = ("write", "search", "answer")


class _Part(NamedTuple):
    """One system's part in one stage."""

    stage: Stage
    system: str
    asks: bool
    """Whether a language model is asked: what is quick elsewhere says nothing about it."""


class Pace:
    """What is left of each stage, and how fast it goes.

    Args:
        systems: all of the run's.
        conversations: what they take in, and are asked.
        folder: with what was measured by earlier processes.
        asks: whether the reader asks a language model.
    """

    def __init__(
        self, systems: Sequence[SystemConfig], conversations: Sequence[Conversation], folder: Folder, *, asks: bool
    ) -> None:
        turns = sum(max((question.after for question in one.questions), default=0) for one in conversations)
        questions = sum(len(one.questions) for one in conversations)
        self._left: dict[_Part, int] = {}
        self._taken: dict[_Part, tuple[float, int]] = {}
        for system in systems:
            models = {"write": system.model is not None, "search": False, "answer": asks}
            for stage in _STAGES:
                part = _Part(stage, system.label, models[stage])
                self._left[part] = turns if stage == "write" else questions
        for record in folder.measured.records():
            self.took(record)

    def took(self, record: Measured) -> None:
        """Take note of what was measured."""
        for part in self._left:
            if record.unit.startswith(f"{part.stage} {unit(part.system, '')}"):
                seconds, count = self._taken.get(part, (0.0, 0))
                self._taken[part] = (seconds + record.seconds, count + record.turns)
                self._left[part] = max(0, self._left[part] - record.turns)

    def left(self) -> float | None:
        """Return the seconds left; None where nothing like a part of it was done yet, so that it may take any time."""
        answering = {part.system for part, count in self._left.items() if part.stage == "answer" and count}
        seconds = 0.0
        for part, count in self._left.items():
            if count and part.system in answering:  # who has answered everything has nothing to take in any more
                pace = self._pace(part)
                if pace is None:
                    return None
                seconds += pace * count
        return seconds

    def _pace(self, part: _Part) -> float | None:
        """Return the seconds of one turn or question: the system's own, or else the mean of what is most like it."""
        alike = (
            [part],
            [one for one in self._left if (one.stage, one.asks) == (part.stage, part.asks)],
            [one for one in self._left if one.asks] if part.asks else [],  # a turn is taken to cost what an answer does
        )
        for parts in alike:
            taken = [self._taken[one] for one in parts if one in self._taken]
            if taken:
                return sum(seconds for seconds, _ in taken) / sum(count for _, count in taken)
        return None
