"""What a table of a report is."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from .types import Report, Row


class Table(NamedTuple):
    """One table."""

    title: str
    about: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def each(report: Report, cells: Callable[[Row], list[str]]) -> tuple[tuple[str, ...], ...]:
    """Return a line for each system, with its name."""
    return tuple((row.system, *cells(row)) for row in report.rows)
