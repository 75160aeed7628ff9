"""`amem bench run` and `score`: systems answer questions, and their answers are scored."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from amem.errors import LLMError
from amem.interfaces.cli import parameters as given  # noqa: TC001 - typer reads the annotations at run time
from amem.interfaces.cli.call import call_of
from amem.interfaces.cli.shipped import benchmarks_module
from amem.interfaces.cli.terminal import counted

if TYPE_CHECKING:
    from amem.interfaces.cli.terminal import Terminal
    from benchmarks.runs.config import Config
    from benchmarks.runs.folder import Manifest
    from benchmarks.runs.records import Scored
    from benchmarks.runs.work import Step

Run = Annotated[Path, typer.Argument(metavar="RUN", help="The run's folder.")]


def run(
    ctx: typer.Context,
    config: Annotated[
        Path, typer.Argument(metavar="CONFIG", help="What to measure: a TOML file, or the name of one that ships.")
    ],
    *,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="The run's folder. [bench-runs/NAME-HASH]")
    ] = None,
    data: Annotated[
        Path | None, typer.Option("--data", metavar="PATH", help="The data, instead of the place in CONFIG.")
    ] = None,
    replay: Annotated[
        Path | None, typer.Option("--replay", metavar="RUN", help="Take the model's replies from another run.")
    ] = None,
    compat: Annotated[
        str | None, typer.Option("--compat", metavar="NAME", help="official or amem: show the reader the category.")
    ] = None,
    as_json: given.Json = False,
) -> None:
    """Run systems on a data set, and score them; the same command goes on after an interruption.

    --api-base says where the models are that CONFIG gives an address.

    JSON: a list of `benchmarks.runs.records.Scored`.
    """
    import asyncio

    from amem.interfaces.cli.progress import spending

    call = call_of(ctx)
    terminal = call.terminal
    wanted: Config = benchmarks_module("runs.config").load(
        config, data=data, compat=compat, api_base=call.given.get("api_base")
    )
    folder = out or Path("bench-runs") / f"{config.stem}-{wanted.hash}"
    with spending(terminal) as moved:

        def told(step: Step) -> None:
            moved(step.what, step.done, step.total, step.usage, left=step.left)

        benchmarks_module("runs.scoring").ready(wanted)
        work = benchmarks_module("runs.run").run(wanted, folder, replay=replay, progress=told)
        try:
            manifest: Manifest = asyncio.run(work)
        except LLMError:
            terminal.warn(f"everything that was done is kept in {folder}; the same command goes on from there")
            raise
    for warning in manifest.warnings:
        terminal.remark(warning)
    _scored(terminal, folder, as_json=as_json)


def score(
    ctx: typer.Context,
    folder: Run,
    *,
    disputed: Annotated[
        Path | None,
        typer.Option("--disputed", metavar="FILE", help="Disputed questions, instead of the configuration's list."),
    ] = None,
    as_json: given.Json = False,
) -> None:
    """Score a run's answers anew; what there is of a run that is not finished, or still under way.

    JSON: a list of `benchmarks.runs.records.Scored`.
    """
    _scored(call_of(ctx).terminal, folder, disputed, as_json=as_json)


def _scored(terminal: Terminal, folder: Path, disputed: Path | None = None, *, as_json: bool) -> None:
    import asyncio

    scores: list[Scored] = asyncio.run(benchmarks_module("runs.scoring").score(folder, disputed))
    if as_json:
        terminal.json(scores)
        return
    if not scores:
        terminal.warn(f"there is no answer in {folder} yet")
        return
    systems = len({one.system for one in scores})
    terminal.say(
        f"{counted(len(scores), 'answer')} of {counted(systems, 'system')} scored in {folder}",
        f"a report: amem bench report {folder}",
    )
