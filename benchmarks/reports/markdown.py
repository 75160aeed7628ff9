"""A report as Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .facts import facts, opening
from .tables import tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .table import Table
    from .types import Report


def markdown(report: Report) -> str:
    """Return the whole page."""
    return "\n".join(_lines(report)) + "\n"


def _lines(report: Report) -> Iterator[str]:
    yield from (f"# {report.about.name or report.about.data}", "", _plain(opening(report)), "")
    if report.unfinished:
        yield from ("**Not finished:**", "", *(f"- {_plain(line)}" for line in report.unfinished), "")
    if report.differences:
        yield "**The runs differ, and were put together all the same:**"
        yield from ("", *(f"- {_plain(line)}" for line in report.differences), "")
    for table in tables(report):
        yield from (*_table(table), "")
    yield from ("## What this does not show", "", *(f"- {_plain(line)}" for line in report.limits), "")
    yield from ("## What was measured with what", "", *(f"- {name}: {_plain(text)}" for name, text in facts(report)))


def _table(table: Table) -> Iterator[str]:
    yield from (f"## {table.title}", "", table.about, "")
    yield f"| {' | '.join(map(_plain, table.head))} |"
    yield f"| {' | '.join(['---', *['---:'] * (len(table.head) - 1)])} |"
    yield from (f"| {' | '.join(map(_plain, row))} |" for row in table.rows)


def _plain(text: str) -> str:
    """Return a text as one cell, or one line."""
    return " ".join(text.split()).replace("|", "\\|")
