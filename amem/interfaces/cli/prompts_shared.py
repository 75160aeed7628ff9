"""What the verbs of `amem prompts` share: their options, the versions, the cases, and who answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from amem.errors import InputError
from amem.interfaces.cli.shipped import DEMO

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.ingest.worker import Progress
    from amem.interfaces.cli.call import Call
    from amem.llm.metering import Meter
    from amem.llm.recording import Mode, RecordedLLM
    from amem.prompts import PromptSet
    from amem.workbench.answers import Answers, Heard
    from amem.workbench.cases import Case
    from amem.workbench.trials import Trial

Name = Annotated[str, typer.Argument(metavar="PROMPT", help="The prompt, as `amem prompts list` names it.")]
Version = Annotated[
    str | None, typer.Option("--version", metavar="NAME", help="The version of the prompts. [the default]")
]
Prompts = Annotated[
    Path | None, typer.Option("--prompts", metavar="DIR", help="The folder of all versions. [that of amem]")
]
Recordings = Annotated[
    list[Path] | None,
    typer.Option("--recordings", metavar="DIR", help="Where cases and replies are; may be repeated. [the demo's]"),
]
Cases = Annotated[
    list[str] | None,
    typer.Option("--case", metavar="CASE", help="Only this case: the beginning of its digits; may be repeated."),
]
Into = Annotated[Path | None, typer.Option("--into", metavar="DIR", help="Where to record. [the only --recordings]")]
RecordedBy = Annotated[
    str | None,
    typer.Option("--recorded-by", metavar="MODEL", help="Whose replies to replay, where several are recorded."),
]

SHIPPED = DEMO / "recordings"


def prompt_set(call: Call, version: str | None, root: Path | None) -> PromptSet:
    """Open one version of the prompts, with the overrides that the settings name."""
    from amem.prompts import PromptSet

    return PromptSet(version, settings=call.settings(), root=root)


def cases(
    recordings: Sequence[Path] | None, prompts: Sequence[str], wanted: Sequence[str] | None, *, needed: bool = True
) -> list[Case]:
    """Return the cases recorded of these prompts, those wanted; none is an error where they are needed.

    Raises:
        InputError: a folder is missing, there is no case, or one that is wanted is not there.
    """
    from amem.workbench.cases import cases_of, chosen, read_all

    roots = recordings or [SHIPPED]
    found = chosen(cases_of(read_all(roots).values(), prompts), wanted or ())
    if needed and not found:
        raise InputError(f"no case of {', '.join(prompts)} is recorded in {', '.join(map(str, roots))}")
    return found


def answers(
    call: Call,
    recordings: Sequence[Path] | None,
    into: Path | None = None,
    *,
    mode: Mode = "new",
    recorded_by: str | None = None,
) -> Answers:
    """Return who answers: the recordings, and behind them the model of --llm, which is recorded.

    AMEM_LLM is not asked, so that trying a prompt never costs anything by surprise.

    Raises:
        InputError: it is not said where to record.
    """
    from amem.workbench.answers import Answers

    roots = list(recordings or [SHIPPED])
    if call.given.get("llm") is None:
        if into is not None and into.is_dir():
            roots.insert(0, into)
        return Answers(replaying(roots, recorded_by), meter(call))
    if into is None and len(recordings or ()) != 1:
        raise InputError("say where to record: --into DIR")
    return Answers(asking(call, into or roots[0], roots, mode), meter(call), call.settings().concurrency)


def replaying(recordings: Sequence[Path] | None, model: str | None) -> RecordedLLM:
    """Return recordings without a model behind them."""
    from amem.llm.recording import RecordedLLM

    roots = recordings or [SHIPPED]
    return RecordedLLM(roots[0], also=roots[1:], model=model)


def asking(call: Call, into: Path = SHIPPED, also: Sequence[Path] = (), mode: Mode = "live") -> RecordedLLM:
    """Return the model of --llm, in one of the modes of recording; `live` records nothing."""
    from amem.llm.recording import RecordedLLM
    from amem.opening import live_model

    return RecordedLLM(into, real=live_model(call.settings()), mode=mode, also=also)


def meter(call: Call) -> Meter:
    """Return a meter with the budget of the settings."""
    from amem.llm.metering import Budget, Meter

    given = call.settings()
    return Meter(Budget(calls=given.budget_calls, tokens=given.budget_tokens, usd=given.budget_usd))


def counting(moved: Progress, total: int, meter: Meter) -> Heard:
    """Return a function that moves a bar by one trial."""
    from amem.ingest.worker import Step

    done, missing = 0, 0

    def heard(trial: Trial) -> None:
        nonlocal done, missing
        done += 1
        missing += trial.missing
        moved(Step(done=done, total=total, pending=missing, usage=meter.total))

    return heard


def sides(names: Sequence[str]) -> tuple[list[str], str, str]:
    """Split `[PROMPT]… A B`.

    Raises:
        InputError: there are not two versions.
    """
    if len(names) < 2:
        raise InputError("say two versions, such as `v1 v2`, or a version and a folder of templates")
    return list(names[:-2]), names[-2], names[-1]


def common(first: PromptSet, second: PromptSet, wanted: Sequence[str]) -> list[str]:
    """Return the prompts to compare: those wanted, else those whose templates differ, else all that both have.

    Raises:
        PromptError: a prompt that is wanted is not there, or a template is malformed.
    """
    from amem.workbench.sides import common_prompts

    if wanted:
        return [name for name in wanted if first.get(name) and second.get(name)]
    both = common_prompts(first, second)
    differing = [name for name in both if first.get(name).hash != second.get(name).hash]
    return differing or list(both)
