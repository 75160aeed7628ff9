"""`amem bench`: measurements on data sets that others publish."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path  # noqa: TC003 - typer reads the annotations at run time
from typing import TYPE_CHECKING, Annotated, Any

import typer

from amem.errors import InputError
from amem.interfaces.cli import parameters as given  # noqa: TC001 - likewise
from amem.interfaces.cli.call import Call, call_of
from amem.interfaces.cli.exits import UNFINISHED
from amem.interfaces.cli.shipped import benchmarks_module

if TYPE_CHECKING:
    from amem.rooms import Rooms
    from benchmarks.datasets.locomo import Locomo
    from benchmarks.recall.options import Options
    from benchmarks.recall.report import Report
    from benchmarks.recall.run import Progress
    from benchmarks.selftest.checks import Report as Checked


def recall(
    ctx: typer.Context,
    *,
    data: Annotated[Path, typer.Option("--data", metavar="FILE", help="LoCoMo's locomo10.json.")],
    chosen: Annotated[
        str, typer.Option("--set", metavar="SET", help="tuning (conversations 26, 30, 41), reporting, or all.")
    ] = "tuning",
    now: Annotated[
        str | None,
        typer.Option("--now", metavar="DATE", help="What `last week` counts from. [the last session of each]"),
    ] = None,
    index: Annotated[
        str | None, typer.Option("--index", metavar="NAME", help="How vectors are searched: exact or chroma.")
    ] = None,
    candidates: Annotated[
        int | None, typer.Option("--candidates", metavar="N", min=1, help="Notes that each arm proposes. [200]")
    ] = None,
    everything: Annotated[bool, typer.Option("--everything", help="Score every note instead of candidates.")] = False,
    ablate: Annotated[
        str | None, typer.Option("--ablate", metavar="NAME,…", help="Let these features count for nothing.")
    ] = None,
    reconstruct: Annotated[bool, typer.Option("--reconstruct", help="Rank by cues as well, fused and alone.")] = False,
    keep: Annotated[
        Path | None, typer.Option("--keep", metavar="DIR", help="Keep the notes in DIR, for further runs.")
    ] = None,
    memory: Annotated[
        Path | None, typer.Option("--memory", metavar="DIR", help="Measure the notes of --box in this memory instead.")
    ] = None,
    as_json: given.Json = False,
) -> None:
    """Measure how much of LoCoMo's evidence recall finds, without a language model.

    JSON: a `benchmarks.recall.report.Report`.
    """
    from amem.interfaces.cli.progress import counting

    call = call_of(ctx)
    if everything and candidates is not None:
        raise InputError("give --candidates or --everything, not both")
    limit = {"candidates": candidates} if everything or candidates else {}
    options = _options(set=chosen, now=now, index=index, ablate=ablate, reconstruct=reconstruct, keep=keep, **limit)
    loaded: Locomo = benchmarks_module("datasets.locomo").load(data)
    for warning in loaded.warnings:
        call.terminal.warn(warning)
    if options.set != "tuning":
        call.terminal.remark("write down that the reporting conversations were looked at: each look makes them less so")
    with counting(call.terminal, "turns and questions") as progress:
        report = _measure(call, loaded, options, memory, progress)
    if as_json:
        call.terminal.json(report)
        return
    call.terminal.say(*benchmarks_module("recall.table").tables(report))


def selftest(
    ctx: typer.Context,
    *,
    locomo: Annotated[Path, typer.Option("--locomo", metavar="FILE", help="LoCoMo's locomo10.json.")],
    golden: Annotated[
        list[Path] | None,
        typer.Option("--golden", metavar="FILE", help="More golden values than those that ship; may be repeated."),
    ] = None,
    as_json: given.Json = False,
) -> None:
    """Check that the metrics give the published numbers; the exit code is 1 if any deviates.

    JSON: a `benchmarks.selftest.checks.Report`.
    """
    import asyncio

    from amem.embedding import open_embedder
    from amem.interfaces.cli.progress import counting

    call = call_of(ctx)
    data: Locomo = benchmarks_module("datasets.locomo").load(locomo)
    embedder = open_embedder(call.settings().model_copy(update={"embedding": "minilm"}))
    test = benchmarks_module("selftest.run").selftest
    with counting(call.terminal, "answers") as progress:
        report: Checked = asyncio.run(test(data, golden or [], embedder, progress=progress))
    for left_out in report.left_out:
        call.terminal.remark(left_out)
    if as_json:
        call.terminal.json(report)
    else:
        call.terminal.say(*(f"{one.name}: expected {one.expected}, found {one.found}" for one in report.deviations))
        call.terminal.say(f"{report.checked} values checked, {len(report.deviations) or 'none'} of them deviating")
    if report.deviations:
        raise typer.Exit(UNFINISHED)


def _options(*, now: str | None, ablate: str | None, **given: Any) -> Options:
    from pydantic import ValidationError

    from amem.filters import first_problem

    names = tuple(name.strip() for name in ablate.split(",")) if ablate else ()
    try:
        at = None if now is None else datetime.fromisoformat(now)
        options: Options = benchmarks_module("recall.options").Options(now=at, ablate=names, **given)
    except ValidationError as error:
        raise InputError(f"option refused: {first_problem(error)}") from error
    except ValueError as error:
        raise InputError(f"{now!r} is not an ISO 8601 date or moment") from error
    return options


def _measure(call: Call, data: Locomo, options: Options, memory: Path | None, progress: Progress) -> Report:
    import asyncio

    from amem.intake import box_name

    run = benchmarks_module("recall.run")
    if memory is None:
        report: Report = asyncio.run(run.measure_turns(data, call.settings(), options, progress=progress))
        return report
    if options.keep is not None:
        raise InputError("--keep is about notes that the benchmark makes; with --memory there are none")

    async def work(rooms: Rooms) -> Report:
        found: Report = await run.measure_memory(data, rooms, box_name(call.box), options, progress=progress)
        return found

    return replace(call, directory=memory, given={**call.given, **options.index_settings()}).run_rooms(work)
