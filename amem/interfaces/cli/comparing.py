"""`amem compare`: two configurations over one conversation and its questions, side by side."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from amem.interfaces.cli import parameters as given  # noqa: TC001 - typer reads the annotations at run time
from amem.interfaces.cli.call import call_of, settings_from
from amem.interfaces.cli.exits import UNFINISHED
from amem.interfaces.cli.terminal import one_line

if TYPE_CHECKING:
    from rich.table import Table

    from amem.interfaces.cli.call import Call
    from amem.workbench.rivals import Side


def compare(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A conversation, as `amem import` reads it.")],
    questions: Annotated[
        Path, typer.Argument(metavar="QUESTIONS", help="JSON: a list of question, expects (turns), answer.")
    ],
    *,
    left: Annotated[
        list[str] | None, typer.Option("--a", metavar="NAME=VALUE", help="A setting of the first; may be repeated.")
    ] = None,
    right: Annotated[
        list[str] | None, typer.Option("--b", metavar="NAME=VALUE", help="A setting of the second; may be repeated.")
    ] = None,
    kind: Annotated[str, typer.Option("--format", metavar="NAME", help="auto, jsonl, text or locomo.")] = "auto",
    conversation: Annotated[
        str | None, typer.Option("--conversation", metavar="ID", help="Which one of a LoCoMo file, such as conv-26.")
    ] = None,
    sessions: Annotated[int | None, typer.Option("--sessions", metavar="N", min=0, help="Only the first N.")] = None,
    budget: Annotated[int, typer.Option("--budget", metavar="TOKENS", help="Tokens of each context.")] = 1000,
    as_json: given.Json = False,
) -> None:
    """Build a memory in two ways, ask both the same questions, and show what each finds and takes.

    The memories are made in a directory that is thrown away. JSON: a list of two `Side`.
    """
    from amem.interfaces.cli.conversation import read_conversation
    from amem.workbench.rivals import read_questions

    call = call_of(ctx)
    found = read_conversation(file, kind, sessions=sessions, sample=conversation)
    for bad in found.bad:
        call.terminal.warn(f"line {bad.line} is left out: {bad.problem}")
    asked = read_questions(questions)
    sides = [
        _side(call, name, settings_from(pairs or []), (found.notes, asked), budget)
        for name, pairs in (("a", left), ("b", right))
    ]
    if as_json:
        call.terminal.json(sides)
    else:
        call.terminal.say(_table(sides), *_differences(sides))
    if any(side.pending for side in sides):
        call.terminal.warn("a model failed: turns stayed pending, and the comparison is not fair")
        raise typer.Exit(UNFINISHED)


def _side(call: Call, name: str, own: dict[str, Any], about: tuple[Any, Any], budget: int) -> Side:
    import asyncio
    from dataclasses import replace

    from amem.interfaces.cli.progress import progress
    from amem.memory import AsyncMemory
    from amem.opening import open_rooms
    from amem.workbench.rivals import contend

    settings = replace(call, given={**call.given, **own}).settings()
    turns, asked = about
    with tempfile.TemporaryDirectory() as folder, progress(call.terminal, f"building {name}") as moved:
        return asyncio.run(
            contend(
                name, lambda: AsyncMemory(open_rooms(Path(folder) / "memory", settings)), own, turns, asked,
                budget=budget, progress=moved,
            )
        )  # fmt: skip


def _table(sides: list[Side]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table("", *(_title(side) for side in sides), box=SIMPLE_HEAD)
    rows = {
        "expected turns found": [_share(side.recall) for side in sides],
        "tokens of a context": [_number(side.tokens) for side in sides],
        "seconds a question": [_number(side.seconds, 3) for side in sides],
        "seconds of building": [_number(side.building, 1) for side in sides],
        "notes made of turns": [f"{side.notes - side.turns:,} of {side.turns:,}" for side in sides],
        "calls": [f"{side.usage.calls:,}" for side in sides],
        "tokens of calls": [f"{side.usage.prompt_tokens + side.usage.completion_tokens:,}" for side in sides],
        "turns pending": [f"{side.pending:,}" for side in sides],
    }
    for name, values in rows.items():
        table.add_row(name, *values)
    return table


def _title(side: Side) -> str:
    return f"{side.name}: " + (one_line(", ".join(f"{k}={v}" for k, v in side.settings.items())) or "as it is")


def _differences(sides: list[Side]) -> list[str]:
    """Name the questions for which one found more than the other."""
    lines = []
    for one, other in zip(*(side.found for side in sides), strict=True):
        if one.recall != other.recall:
            lines.append(f"{_share(one.recall)} : {_share(other.recall)}  {one_line(one.question)}")
    return lines


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _number(value: float | None, digits: int = 0) -> str:
    return "-" if value is None else f"{value:,.{digits}f}"
