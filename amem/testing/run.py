"""What the tests of one run of pytest share, made at the first use of a fixture."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from amem.testing.books import Books, Summary
    from amem.testing.network import Guard

MODES = ("none", "new", "all", "live")


class Run:
    """One run: its mode, its recordings, and what refuses the network.

    Raises:
        pytest.UsageError: the mode is unknown, or not allowed here.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.mode = _mode(config)
        self.partial = False
        """Some tests were left out, so that what no test asked for says nothing."""
        self.told: list[dict[str, list[str]]] = []
        """What other processes found."""
        self._books: Books | None = None
        self._guard: Guard | None = None

    @property
    def books(self) -> Books:
        """The recordings opened so far."""
        if self._books is None:
            from amem.testing.books import Books

            self._books = Books(self.mode)
        return self._books

    @property
    def guard(self) -> Guard:
        """What refuses the network."""
        if self._guard is None:
            from amem.testing.network import Guard

            self._guard = Guard()
        return self._guard

    def summary(self) -> Summary | None:
        """Return what became of all recordings, or None where none were opened."""
        if self._books is None and not self.told:
            return None
        from amem.testing.books import Summary

        summary = self.books.summary()
        for texts in self.told:
            summary.add(Summary.of_texts(texts))
        return summary


RUN = pytest.StashKey[Run]()
FAILED = pytest.StashKey[bool]()


def _mode(config: pytest.Config) -> Any:
    mode = config.getoption("--amem-record")
    if mode not in MODES:
        raise pytest.UsageError(f"AMEM_RECORD is {mode!r}; it must be one of {', '.join(MODES)}")
    if mode == "none":
        return mode
    if os.environ.get("CI", "").lower() not in {"", "0", "false"}:
        raise pytest.UsageError(
            f"--amem-record={mode} is refused where CI is set: a test there never asks a live model. "
            "Record on your own machine and commit the files."
        )
    if getattr(config.option, "numprocesses", None):
        raise pytest.UsageError(f"--amem-record={mode} works in one process only: record without -n.")
    return mode
