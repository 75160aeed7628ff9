"""What a comparison shows on a terminal; texts of prompts and replies pass through `visible`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from amem.interfaces.cli.terminal import counted, one_line
from amem.workbench.page import interval, ratio, summary, tokens

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from amem.model import Usage
    from amem.workbench.comparing import Compared, Report, Totals
    from amem.workbench.judging import Verdict
    from amem.workbench.remembering import Evidence

_NAME = 20
"""Characters of a case's name beside its figures."""


def tables(made: Report) -> list[RenderableType]:
    """Show a comparison: for each prompt a line for each case, then the sums."""
    parts: list[RenderableType] = []
    for total in made.by_prompt:
        cases = [case for case in made.cases if case.prompt == total.prompt]
        parts += [Text(f"{total.prompt}, {counted(total.cases, 'case')}", style="bold"), _cases_table(cases), ""]
        parts += [_summary_table(total, made), ""]
    if len(made.by_prompt) > 1:
        parts += [Text("all prompts", style="bold"), _summary_table(made.total, made), ""]
    if made.labelled is not None:
        title = f"labelled set, {made.labelled.half}, {counted(made.labelled.cases, 'case')}"
        parts += [Text(title, style="bold"), _scores_table(made.labelled, made), ""]
    if made.evidence is not None:
        parts += [Text("evidence recall of built notes", style="bold"), _evidence_table(made.evidence, made), ""]
    if made.model:
        parts.append(Text(f"replies of {one_line(made.model)}", style="dim"))
    return parts


def _cases_table(cases: Sequence[Compared]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("case", "changed", "keywords", "tags", "links", "evolved", "tokens", ""):
        table.add_column(name, justify="left" if name in {"case", ""} else "right", no_wrap=bool(name))
    for case in cases:
        table.add_row(
            case.case[:6],
            f"{len(case.changed)} of {case.fields}",
            ratio(case.keyword_overlap),
            ratio(case.tag_overlap),
            f"+{len(case.links_gained)} -{len(case.links_lost)}",
            f"+{len(case.evolutions_gained)} -{len(case.evolutions_lost)}",
            f"{_tokens(case.a.usage)} → {_tokens(case.b.usage)}",
            _remark(case),
        )
    return table


def _scores_table(verdict: Verdict, made: Report) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("prompt")
    table.add_column("measure", no_wrap=True)
    table.add_column(one_line(made.a), justify="right", no_wrap=True)
    table.add_column(one_line(made.b), justify="right", no_wrap=True)
    table.add_column("of", justify="right")
    for score in verdict.scores:
        name = f"{score.measure} (less is better)" if score.lower else score.measure
        table.add_row(score.prompt, name, interval(score.a), interval(score.b), str(score.a.count))
    for spent in verdict.spent:
        both = tokens(spent.a, spent.cases), tokens(spent.b, spent.cases)
        table.add_row(spent.prompt, "tokens a case, asked + answered", *both, str(spent.cases))
        table.add_row("", "replies of no use (less is better)", str(spent.a.failed), str(spent.b.failed), "")
    return table


def _evidence_table(found: Evidence, made: Report) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column("measure", no_wrap=True)
    for name in (one_line(made.a), one_line(made.b), "raw turns", "of"):
        table.add_column(name, justify="right", no_wrap=True)
    for score in found.scores:
        figures = [interval(value) for value in (score.a, score.b, score.plain)]
        table.add_row(f"evidence among {score.depth} notes", *figures, counted(score.plain.count, "question"))
    table.add_row("turns built", str(found.built_a), str(found.built_b), "", str(found.turns))
    both = tokens(found.a, found.turns), tokens(found.b, found.turns)
    table.add_row("tokens a turn, asked + answered", *both, "", "")
    return table


def _tokens(spent: Usage) -> str:
    return f"{spent.prompt_tokens + spent.completion_tokens:,}"


def _remark(case: Compared) -> Text:
    """Say what stands in the way of comparing a case, or what is wrong with a reply."""
    for side, measured in (("A", case.a), ("B", case.b)):
        if measured.problem:
            return Text(f"{side}: {one_line(measured.problem, 80)}", style="yellow")
    return Text("asks the same" if case.same_request else one_line(case.name, _NAME), style="dim")


def _summary_table(total: Totals, made: Report) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column(f"{total.answered} of {total.cases} answered by both", no_wrap=True)
    table.add_column(one_line(made.a), justify="right")
    table.add_column(one_line(made.b), justify="right")
    table.add_column("")
    for line in summary(total):
        table.add_row(line.name, line.a, line.b, Text(line.about, style="dim"))
    return table
