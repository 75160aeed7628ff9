"""The tables of what systems cost: writing, reading, and what DialSim's time limits would have cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import words
from .table import Table, each

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .types import Report, Row


def cost_tables(report: Report) -> Iterator[Table]:
    """Yield what there is to be shown."""
    yield _writing(report)
    yield _reading(report)
    yield from _late(report)


def _writing(report: Report) -> Table:
    def cells(row: Row) -> list[str]:
        side = row.cost.write
        return [
            str(row.turns), str(row.notes), str(row.pending), str(row.links), words.count(side.total.calls),
            str(side.total.failed), words.share(side.calls_per_unit),
            words.count(side.total.prompt_tokens), words.count(side.total.completion_tokens),
            words.count(side.tokens_per_unit), f"{side.seconds:,.1f} s", words.milliseconds(side.latency),
            words.money(side), words.size(row.cost.index_bytes),
        ]  # fmt: skip

    head = ("system", "turns", "notes", "pending", "links", "calls", "of these failed", "calls a turn", "tokens in",
            "tokens out", "tokens a turn", "time", "p50 / p95 a turn", "money", "on disk")  # fmt: skip
    return Table("Cost of writing", "Tokens as the provider counts them; a window's time spread over its turns.", head,
                 each(report, cells))  # fmt: skip


def _reading(report: Report) -> Table:
    def cells(row: Row) -> list[str]:
        side = row.cost.read
        return [
            str(side.units), words.count(side.total.calls), str(side.total.failed),
            words.count(side.total.prompt_tokens), words.count(side.total.completion_tokens),
            words.count(side.tokens_per_unit), f"{side.seconds:,.1f} s",
            words.milliseconds(row.search), words.milliseconds(row.answer), words.money(side),
        ]  # fmt: skip

    head = ("system", "questions", "calls", "of these failed", "tokens in", "tokens out", "tokens a question", "time",
            "search p50 / p95", "answer p50 / p95", "money")  # fmt: skip
    return Table(
        "Cost of reading", "Searching and answering together, where not said otherwise.", head, each(report, cells)
    )


def _late(report: Report) -> Iterator[Table]:
    rows = [(row, row.late) for row in report.rows if row.late is not None]
    if not rows:
        return
    head = ["system", "n", "p50 / p95"]
    for one in rows[0][1].limits:
        head += [f"later than {one.limit:g} s", f"strict, if these are wrong ({one.limit:g} s)"]
    yield Table(
        "Time limits",
        "DialSim's simulator counts an answer as wrong that comes later than its limit. Here none was cut off; this is"
        " what would have been: storing one turn (the mean), searching and answering, on this machine.",
        tuple(head),
        tuple(
            (row.system, str(row.answered), words.milliseconds(late.latency),
             *(words.sure(cell) for one in late.limits for cell in (one.share, one.strict)))
            for row, late in rows
        ),
    )  # fmt: skip
