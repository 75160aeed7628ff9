"""Two wordings side by side: `amem prompts diff` shows what they ask, `amem prompts compare` what comes of it."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations at run time
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from amem.errors import BudgetSpent, InputError
from amem.interfaces.cli import parameters as given
from amem.interfaces.cli import prompts_shared as shared
from amem.interfaces.cli.call import Call, call_of
from amem.interfaces.cli.exits import UNFINISHED
from amem.interfaces.cli.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.prompts import PromptSet
    from amem.workbench.answers import Answers
    from amem.workbench.cases import Case
    from amem.workbench.comparing import Pair, Report
    from amem.workbench.differing import Difference
    from amem.workbench.judging import Verdict
    from amem.workbench.labelled import Half
    from amem.workbench.remembering import Evidence

Names = Annotated[
    list[str],
    typer.Argument(
        metavar="[PROMPT]... A B",
        help="The prompts [those that differ], and two versions; one may be a folder of templates over the other.",
    ),
]


def diff(
    ctx: typer.Context,
    names: Names,
    *,
    prompts: shared.Prompts = None,
    case: shared.Cases = None,
    everything: Annotated[bool, typer.Option("--all", help="Every case, instead of the first of each prompt.")] = False,
    source: Annotated[bool, typer.Option("--source", help="The templates themselves, not what they make.")] = False,
    recordings: shared.Recordings = None,
    recorded_by: shared.RecordedBy = None,
    as_json: given.Json = False,
) -> None:
    """Show what two versions ask of the same case as a diff, and what was replied, where both are recorded.

    The exit code is 1 where they differ. JSON: a list of `amem.workbench.differing.Difference`.
    """
    from amem.interfaces.cli import prompts_findings as show
    from amem.workbench.differing import of_sources

    call = call_of(ctx)
    wanted, first, second, a, b = _opened(names, prompts)
    if source:
        found = of_sources(shared.common(first, second, wanted), first, second, (a, b))
    else:
        cases = shared.cases(recordings, shared.common(first, second, wanted), case)
        asked = cases if everything or case else _first_of_each(call, cases)
        found = _of_cases(asked, first, second, (a, b), shared.answers(call, recordings, recorded_by=recorded_by))
    if as_json:
        call.terminal.json(found)
    else:
        for one in found:
            call.terminal.say(*show.difference(one))
    if any(one.asked or one.replied for one in found):
        raise typer.Exit(UNFINISHED)


def _opened(names: Sequence[str], root: Path | None) -> tuple[list[str], PromptSet, PromptSet, str, str]:
    from amem.workbench.sides import open_sides

    wanted, a, b = shared.sides(names)
    first, second = open_sides(a, b, root)
    return wanted, first, second, a, b


def _first_of_each(call: Call, cases: Sequence[Case]) -> list[Case]:
    first: dict[str, Case] = {}
    for case in cases:
        first.setdefault(case.prompt, case)
    if len(first) < len(cases):
        call.terminal.remark(f"{len(first)} of {counted(len(cases), 'case')}; --all shows every one, --case another")
    return list(first.values())


def _of_cases(
    cases: Sequence[Case], first: PromptSet, second: PromptSet, labels: tuple[str, str], asked: Answers
) -> list[Difference]:
    from amem.workbench.differing import of_pair

    return [of_pair(pair, labels) for pair in _pairs(cases, first, second, asked, None)]


def compare(
    ctx: typer.Context,
    names: Names,
    *,
    prompts: shared.Prompts = None,
    case: shared.Cases = None,
    recordings: shared.Recordings = None,
    into: shared.Into = None,
    recorded_by: shared.RecordedBy = None,
    labelled: Annotated[
        Literal["develop", "report"] | None,
        typer.Option("--labelled", help="Score both on this half of the labelled set as well."),
    ] = None,
    evidence: Annotated[
        bool,
        typer.Option("--evidence", help="Build an invented conversation with both `note`s, and say what search finds."),
    ] = False,
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write a page with every case side by side.")
    ] = None,
    as_json: given.Json = False,
) -> None:
    """Compare what two versions come to, case by case, on recordings; with --llm, what is missing is recorded.

    JSON: an `amem.workbench.comparing.Report`.
    """
    from amem.interfaces.cli import prompts_show as show
    from amem.workbench.comparing import report

    call = call_of(ctx)
    wanted, first, second, a, b = _opened(names, prompts)
    chosen = shared.common(first, second, wanted)
    cases = shared.cases(recordings, chosen, case, needed=labelled is None and not evidence)
    asked = shared.answers(call, recordings, into, recorded_by=recorded_by)
    pairs = _pairs(cases, first, second, asked, call)
    verdict = None if labelled is None else _judged(labelled, chosen, (first, second), asked, call)
    found = _remembered((first, second), asked, call) if evidence else None
    made = report(pairs, a, b, asked.llm.model, labelled=verdict, evidence=found)
    if html is not None:
        _write(call, html, pairs, made)
    if as_json:
        call.terminal.json(made)
    else:
        call.terminal.say(*show.tables(made))
    _end(call, made, asked)


def _pairs(cases: Sequence[Case], first: PromptSet, second: PromptSet, asked: Answers, call: Call | None) -> list[Pair]:
    import asyncio
    from contextlib import ExitStack

    from amem.interfaces.cli.progress import progress
    from amem.workbench.comparing import Pair

    both = [(case, prompts) for prompts in (first, second) for case in cases]
    with ExitStack() as stack:
        heard = None
        if call is not None and asked.llm.mode != "none":
            moved = stack.enter_context(progress(call.terminal, "asking"))
            heard = shared.counting(moved, len(both), asked.meter)
        trials = asyncio.run(asked.all(both, heard))
    middle = len(cases)
    return [Pair(case, a, b) for case, a, b in zip(cases, trials[:middle], trials[middle:], strict=True)]


def _judged(
    half: Half, prompts: Sequence[str], sides: tuple[PromptSet, PromptSet], asked: Answers, call: Call
) -> Verdict:
    from amem.workbench.judging import judge
    from amem.workbench.putting import put

    puts = put(half, prompts)
    if half == "report":
        call.terminal.remark("write down that the reporting half was looked at: each look makes it less one")
    pairs = _pairs([one.case for one in puts], *sides, asked, call)
    return judge(half, puts, [pair.a for pair in pairs], [pair.b for pair in pairs])


def _remembered(sides: tuple[PromptSet, PromptSet], asked: Answers, call: Call) -> Evidence:
    import asyncio

    from amem.workbench.labelled import QuestionCase, load, load_conversation
    from amem.workbench.remembering import remembered, windows

    spoken = load_conversation()
    put = windows(spoken, call.settings())
    pairs = _pairs([window.case for window in put], *sides, asked, call)
    questions = load(QuestionCase)
    return asyncio.run(remembered(spoken, questions, put, [pair.a for pair in pairs], [pair.b for pair in pairs]))


def _write(call: Call, path: Path, pairs: Sequence[Pair], made: Report) -> None:
    from amem.llm.recording_file import write_whole
    from amem.workbench.page import page

    try:
        write_whole(path, page(pairs, made).encode())
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error}") from error
    call.terminal.remark(f"side by side in {path}")


def _end(call: Call, made: Report, asked: Answers) -> None:
    """Say what is missing, and leave with the code that tells of it."""
    if asked.error is not None and not isinstance(asked.error, BudgetSpent):
        raise asked.error
    sums = [found for found in (made.total, made.labelled, made.evidence) if found is not None]
    missing_a, missing_b = sum(found.missing_a for found in sums), sum(found.missing_b for found in sums)
    missing = missing_a + missing_b
    if missing:
        how = "say --llm MODEL --into DIR to record them" if asked.llm.mode == "none" else "the same command goes on"
        sides = f"{missing_a} of {made.a}, {missing_b} of {made.b}"
        call.terminal.warn(f"{counted(missing, 'reply', 'replies')} missing ({sides}); {how}")
        raise typer.Exit(UNFINISHED)
