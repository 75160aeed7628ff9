"""Looking at prompts: `amem prompts list` and `amem prompts render`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from amem.errors import InputError
from amem.interfaces.cli import parameters as given  # noqa: TC001 - typer reads the annotations at run time
from amem.interfaces.cli.call import Call, call_of
from amem.interfaces.cli.shipped import DEMO
from amem.interfaces.cli.terminal import one_line, visible

if TYPE_CHECKING:
    from pydantic import JsonValue

    from amem.prompts import PromptSet

Version = Annotated[
    str | None, typer.Option("--version", metavar="NAME", help="The version of the prompts. [the default]")
]


def list_(ctx: typer.Context, *, version: Version = None, as_json: given.Json = False) -> None:
    """List the prompts of a version with their hashes.

    JSON: a list of `Prompt`.
    """
    call = call_of(ctx)
    prompts = _prompts(call, version)
    found = [prompts.get(name) for name in prompts.names()]
    if as_json:
        call.terminal.json(found)
        return
    for prompt in found:
        call.terminal.say(
            f"{prompt.ref.label}  {one_line(prompt.description)}",
            f"   variables: {', '.join(prompt.variables)}; reply: {prompt.output or 'text'}",
        )
    for name, entry in prompts.versions().items():
        call.terminal.remark(f"version {name}: {entry.status}")


def render(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="PROMPT", help="The prompt, as `amem prompts list` names it.")],
    *,
    version: Version = None,
    variables: Annotated[
        list[str] | None,
        typer.Option("--var", metavar="NAME=VALUE", help="A variable: JSON, text, or @FILE; may be repeated."),
    ] = None,
    case: Annotated[
        str | None, typer.Option("--case", metavar="CASE", help="Take the variables of the recording of this case.")
    ] = None,
    recordings: Annotated[
        Path, typer.Option("--recordings", metavar="DIR", help="Where --case looks. [those of the demo]")
    ] = DEMO / "recordings",
    as_json: given.Json = False,
) -> None:
    """Show the messages that a prompt makes of variables.

    JSON: a `Request`.
    """
    call = call_of(ctx)
    values = _recorded(name, case, recordings) if case else {}
    values |= dict(map(_variable, variables or []))
    request = _prompts(call, version).render(name, values)
    if as_json:
        call.terminal.json(request)
        return
    for message in request.messages:
        call.terminal.say(f"--- {message.role}", visible(message.content))
    call.terminal.remark(f"{request.prompt.label}, params {json.dumps(request.params)}")


def _prompts(call: Call, version: str | None) -> PromptSet:
    from amem.prompts import PromptSet

    return PromptSet(version, settings=call.settings())


def _variable(pair: str) -> tuple[str, JsonValue]:
    """Read `name=value`; a value that is no JSON is text."""
    name, equals, text = pair.partition("=")
    if not equals:
        raise InputError(f"--var takes name=value, not {pair!r}")
    if text.startswith("@"):
        try:
            text = Path(text[1:]).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{text[1:]} cannot be read: {error}") from error
    try:
        value: Any = json.loads(text)
    except ValueError:
        value = text
    return name, value


def _recorded(name: str, case: str, root: Path) -> dict[str, JsonValue]:
    """Return the variables of the one recording whose case begins so."""
    from amem.llm.recording_file import read_recording

    paths = sorted(root.glob(f"*/{name}/*-{case}*.json"))
    found = {recording.case: recording for recording in map(read_recording, paths)}
    if len(found) != 1:
        known = ", ".join(found) or "none"
        raise InputError(f"{case!r} should name one recording of {name!r} in {root}; it names {known}")
    return dict(next(iter(found.values())).request.variables)
