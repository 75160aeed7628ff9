"""What a self-test compares, and what it reports."""

from __future__ import annotations

from typing import NamedTuple

from amem.values import Frozen


class Check(NamedTuple):
    """One value beside the one it should be."""

    name: str
    expected: float | str
    found: float | str
    tolerance: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether the value is what it should be."""
        if isinstance(self.expected, str) or isinstance(self.found, str):
            return self.expected == self.found
        return abs(self.expected - self.found) <= self.tolerance


class Deviation(Frozen):
    """A value that is not what it should be."""

    name: str
    expected: float | str
    found: float | str
    tolerance: float


class Report(Frozen):
    """What a self-test found."""

    data_sha256: str
    checked: int
    """How many values were compared."""
    deviations: tuple[Deviation, ...]
    left_out: tuple[str, ...]
    """What could not be checked here, and why."""
    versions: dict[str, str]


def deviations(checks: list[Check]) -> tuple[Deviation, ...]:
    """Return what does not hold."""
    return tuple(Deviation(**check._asdict()) for check in checks if not check.holds)
