"""`amem bench report`, `compare` and `judge`: what came of runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from amem.errors import InputError
from amem.interfaces.cli import parameters as given  # noqa: TC001 - typer reads the annotations at run time
from amem.interfaces.cli.call import call_of
from amem.interfaces.cli.shipped import benchmarks_module

if TYPE_CHECKING:
    from rich.console import RenderableType

    from amem.interfaces.cli.terminal import Terminal
    from amem.settings import Settings
    from benchmarks.reports.table import Table
    from benchmarks.reports.types import Report
    from benchmarks.runs.work import Step

Runs = Annotated[list[Path], typer.Argument(metavar="RUN…", help="Folders of runs.")]
Ours = Annotated[
    str | None, typer.Option("--ours", metavar="SYSTEM", help="Whom the others are compared with. [the last amem]")
]
Force = Annotated[bool, typer.Option("--force", help="Put unlike runs together, and say first in what they differ.")]


def report(
    ctx: typer.Context,
    folders: Runs,
    *,
    out: Annotated[Path | None, typer.Option("--out", metavar="DIR", help="Where to write. [the first run]")] = None,
    ours: Ours = None,
    force: Force = False,
    as_json: given.Json = False,
) -> None:
    """Write a report of runs: report.md, report.html, report.json and scores.jsonl, without the data's texts.

    JSON: a `benchmarks.reports.types.Report`.
    """
    terminal = call_of(ctx).terminal
    runs = [benchmarks_module("reports.gathering").read(folder) for folder in folders]
    found: Report = benchmarks_module("reports.summing").report(runs, ours=ours, force=force)
    paths = benchmarks_module("reports.export").export(found, runs, out or folders[0] / "report")
    _warn(terminal, found)
    if as_json:
        terminal.json(found)
        return
    terminal.say(*(str(path) for path in paths))


def compare(
    ctx: typer.Context, folders: Runs, *, ours: Ours = None, force: Force = False, as_json: given.Json = False
) -> None:
    """Compare systems question by question, in one run or in several that are alike.

    JSON: a `benchmarks.reports.types.Report`.
    """
    terminal = call_of(ctx).terminal
    runs = [benchmarks_module("reports.gathering").read(folder) for folder in folders]
    found: Report = benchmarks_module("reports.summing").report(runs, ours=ours, force=force)
    _warn(terminal, found)
    if as_json:
        terminal.json(found)
        return
    for table in benchmarks_module("reports.tables").comparisons(found):
        terminal.say(*_shown(table))


def _warn(terminal: Terminal, report: Report) -> None:
    for line in report.differences:
        terminal.warn(f"the runs differ: {line}")
    for line in report.unfinished:
        terminal.warn(f"not finished: {line}")


def judge(
    ctx: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="The run's folder.")],
    *,
    manner: Annotated[str, typer.Option("--manner", metavar="NAME", help="strict, lenient, or both.")] = "both",
    cases: Annotated[
        int, typer.Option("--test", metavar="N", min=0, help="Test the judge with so many questions first.")
    ] = 20,
) -> None:
    """Let the model of --llm mark a run's answers; the same command goes on after an interruption."""
    import asyncio

    from amem.interfaces.cli.progress import spending

    call = call_of(ctx)
    known = benchmarks_module("judge.judging").MANNERS
    manners = known if manner == "both" else (manner,)
    if not set(manners) <= set(known):
        raise InputError(f"--manner is strict, lenient or both, not {manner!r}")
    with spending(call.terminal) as moved:

        def told(step: Step) -> None:
            moved(step.what, step.done, step.total, step.usage)

        model = _judge_model(call.settings())
        judging = benchmarks_module("runs.judging")
        found = asyncio.run(judging.judge(folder, model, manners, cases=cases, progress=told))
    call.terminal.say(f"{len(found.rulings)} rulings in {folder}", f"a report: amem bench report {folder}")


def _judge_model(settings: Settings) -> object:
    if settings.llm is None:
        raise InputError("a judge needs a model: amem --llm MODEL bench judge RUN")
    return benchmarks_module("runs.config").Model(
        name=settings.llm,
        api_base=settings.api_base,
        timeout=settings.timeout,
        deadline=settings.deadline,
        retries=settings.retries,
    )


def _shown(table: Table) -> list[RenderableType]:
    from rich.table import Table as Shown

    shown = Shown(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    for number, name in enumerate(table.head):
        shown.add_column(name, justify="right" if number else "left")
    for row in table.rows:
        shown.add_row(*row)
    return [f"\n{table.title}", shown, table.about]
