"""Asking: `amem prompts run` tries one case, `amem prompts record` records many."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from amem.errors import BudgetSpent, InputError
from amem.interfaces.cli import parameters as given
from amem.interfaces.cli import prompts_shared as shared
from amem.interfaces.cli.call import Call, call_of
from amem.interfaces.cli.exits import MODEL, UNFINISHED
from amem.interfaces.cli.prompts import Variables, variable
from amem.interfaces.cli.terminal import counted, one_line, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue
    from rich.console import RenderableType

    from amem.llm.protocol import Request
    from amem.llm.recording import RecordedLLM
    from amem.prompts import PromptSet
    from amem.workbench.answers import Answers
    from amem.workbench.cases import Case
    from amem.workbench.recorder import Step
    from amem.workbench.trials import Trial


def run(
    ctx: typer.Context,
    name: shared.Name,
    *,
    version: shared.Version = None,
    prompts: shared.Prompts = None,
    case: Annotated[
        str | None, typer.Option("--case", metavar="CASE", help="A recorded case: the beginning of its digits.")
    ] = None,
    recording: Annotated[
        Path | None, typer.Option("--recording", metavar="FILE", help="The case of this recording.")
    ] = None,
    vars_from: Annotated[
        str | None, typer.Option("--vars", metavar="FILE", help="Variables as a JSON object; - reads standard input.")
    ] = None,
    variables: Variables = None,
    recordings: shared.Recordings = None,
    recorded_by: shared.RecordedBy = None,
    as_json: given.Json = False,
) -> None:
    """Ask one case, by replay or of the model of --llm, and show all of it; nothing is saved.

    JSON: an `amem.workbench.trials.Trial`.
    """
    import asyncio

    call = call_of(ctx)
    chosen = shared.prompt_set(call, version, prompts)
    sources = _Sources(case, recording, vars_from, variables or [], recordings)
    request = sources.chosen(name).request(chosen)
    live = call.given.get("llm") is not None
    llm = shared.asking(call) if live else shared.replaying(sources.folders, recorded_by)
    trial = asyncio.run(_tried(request, chosen, llm, call))
    if as_json:
        call.terminal.json(trial)
    else:
        call.terminal.say(*_shown(trial))
        call.terminal.remark(_cost(trial))
    if not trial.usable:
        call.terminal.fail(trial.problem)
        raise typer.Exit(MODEL)


async def _tried(request: Request, prompts: PromptSet, llm: RecordedLLM, call: Call) -> Trial:
    from amem.workbench.trials import try_request

    try:
        return await try_request(request, prompts, llm, shared.meter(call))
    finally:
        await llm.aclose()


@dataclass(frozen=True)
class _Sources:
    """Where the one case may come from."""

    case: str | None
    recording: Path | None
    vars_from: str | None
    variables: Sequence[str]
    recordings: list[Path] | None

    def chosen(self, name: str) -> Case:
        """Return the case that the options name, with single variables put over its own."""
        sources = sum(source is not None for source in (self.case, self.recording, self.vars_from))
        if sources > 1:
            raise InputError("give one of --case, --recording and --vars")
        if not sources and not self.variables:
            raise InputError(f"which case? Give {self._offers(name)}--recording FILE, --vars FILE or --var NAME=VALUE")
        found = self._found(name)
        if found.prompt != name:
            raise InputError(f"{self.recording} is a recording of {found.prompt!r}, not of {name!r}")
        over = dict(map(variable, self.variables))
        return found.model_copy(update={"variables": {**found.variables, **over}}) if over else found

    def _offers(self, name: str) -> str:
        recorded = [case.id for case in shared.cases(self.recordings, [name], None, needed=False)]
        return f"--case, as in `--case {recorded[0][:6]}` ({len(recorded)} are recorded), " if recorded else ""

    def _found(self, name: str) -> Case:
        from amem.llm.recording_file import read_recording
        from amem.workbench.cases import Case

        if self.case is not None:
            return shared.cases(self.recordings, [name], [self.case])[0]
        if self.recording is None:
            return Case.given(name, _object(self.vars_from) if self.vars_from is not None else {})
        if not self.recording.is_file():
            raise InputError(f"there is no recording {self.recording}")
        return Case.of(read_recording(self.recording).request)

    @property
    def folders(self) -> list[Path] | None:
        """Where to replay from: a recording that is named by its file is looked for in its own folder as well."""
        if self.recording is None:
            return self.recordings
        return [self.recording.parent.parent.parent, *(self.recordings or [])]


def _object(source: str) -> dict[str, JsonValue]:
    try:
        text = sys.stdin.read() if source == "-" else Path(source).read_text(encoding="utf-8")
        value = json.loads(text)
    except (OSError, ValueError) as error:
        raise InputError(f"{source} cannot be read as JSON: {error}") from error
    if not isinstance(value, dict):
        raise InputError(f"{source} should hold a JSON object with a value for each variable")
    return value


def _shown(trial: Trial) -> list[RenderableType]:
    from rich.text import Text

    from amem.workbench.diffing import value_text

    parts: list[RenderableType] = []
    for message in trial.request.messages if trial.request else ():
        parts += [Text(f"--- {message.role}", style="bold cyan"), Text(visible(message.content))]
    for reply in trial.replies:
        parts += [Text("--- reply", style="bold green"), Text(visible(reply.text))]
    if trial.usable:
        parts += [Text("--- understood as", style="bold green"), Text(visible(value_text(trial.value)))]
    return parts


def _cost(trial: Trial) -> str:
    spent, label = trial.usage, trial.request.prompt.label if trial.request else ""
    by = trial.replies[-1].model if trial.replies else "nobody"
    price = "price unknown" if spent.unpriced else f"${spent.cost:.4f}"
    tokens = f"{spent.prompt_tokens} tokens asked, {spent.completion_tokens} answered"
    return (
        f"{label}, answered by {one_line(by)}: {counted(spent.calls, 'call')}, {tokens}, {spent.seconds:.1f} s, {price}"
    )


def record(
    ctx: typer.Context,
    names: Annotated[list[str] | None, typer.Argument(metavar="[PROMPT]...", help="Which prompts. [all]")] = None,
    *,
    version: shared.Version = None,
    prompts: shared.Prompts = None,
    case: shared.Cases = None,
    mode: Annotated[
        Literal["new", "all"], typer.Option("--mode", help="new records what is missing, all everything again.")
    ] = "new",
    recordings: shared.Recordings = None,
    into: shared.Into = None,
    as_json: given.Json = False,
) -> None:
    """Record the cases of --recordings in one wording, by the model of --llm; a stopped run goes on.

    Without --llm it stamps the present hash on recordings whose request is what it was, and says what is missing.

    JSON: a list of `amem.workbench.recorder.Step`.
    """
    call = call_of(ctx)
    chosen = shared.prompt_set(call, version, prompts)
    wanted = names or list(chosen.names())
    for name in wanted:
        chosen.get(name)
    found = shared.cases(recordings, wanted, case)
    _stamp(call, chosen, wanted, into or (recordings[0] if recordings else shared.SHIPPED))
    asked = shared.answers(call, recordings, into, mode=mode)
    steps = _record(call, found, chosen, asked)
    if as_json:
        call.terminal.json(steps)
    else:
        call.terminal.say(*_lines(steps))
    _end(call, steps, asked)


def _stamp(call: Call, prompts: PromptSet, names: Sequence[str], root: Path) -> None:
    from amem.workbench.recorder import restamp

    stamped = restamp(root, prompts, names)
    if stamped:
        call.terminal.remark(f"{counted(len(stamped), 'recording')} asked the same: the present hash was put on them")


def _record(call: Call, cases: Sequence[Case], prompts: PromptSet, asked: Answers) -> list[Step]:
    import asyncio

    from amem.interfaces.cli.progress import progress
    from amem.workbench.recorder import record

    with progress(call.terminal, "recording") as moved:
        heard = shared.counting(moved, len(cases), asked.meter)
        return asyncio.run(record(cases, prompts, asked, heard=heard))


def _lines(steps: Sequence[Step]) -> list[RenderableType]:
    from rich.text import Text

    styles = {"recorded": "green", "unusable": "yellow", "left": "red"}
    return [
        Text.assemble(
            (f"{step.state:9}", styles[step.state]),
            f" {step.prompt} {step.case} {one_line(step.name)}",
            (f"  {one_line(step.why, 160)}" if step.why else "", "dim"),
        )
        for step in steps
        if step.state != "kept"
    ]


def _end(call: Call, steps: Sequence[Step], asked: Answers) -> None:
    """Sum up, and leave with the code that says whether anything is still to be done."""
    states = [step.state for step in steps]
    spent = asked.meter.total
    parts = [f"{states.count(state)} {state}" for state in ("recorded", "unusable", "kept", "left") if state in states]
    tokens = f"{counted(spent.calls, 'call')}, {spent.prompt_tokens + spent.completion_tokens:,} tokens"
    call.terminal.remark(f"{', '.join(parts)}; {tokens}, {spent.seconds:.1f} s")
    if asked.error is not None and not isinstance(asked.error, BudgetSpent):
        raise asked.error
    if "left" in states:
        if asked.llm.mode == "none":
            call.terminal.warn("nothing was asked: say --llm MODEL to record what is left")
        else:
            call.terminal.warn(f"{states.count('left')} left; the same command goes on with them")
        raise typer.Exit(UNFINISHED)
