"""Looking at prompts: `amem prompts list` and `amem prompts render`."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from amem.errors import InputError
from amem.interfaces.cli import parameters as given
from amem.interfaces.cli import prompts_shared as shared
from amem.interfaces.cli.call import call_of
from amem.interfaces.cli.terminal import counted, one_line, visible

if TYPE_CHECKING:
    from pydantic import JsonValue

Variables = Annotated[
    list[str] | None,
    typer.Option("--var", metavar="NAME=VALUE", help="A variable: JSON, text, or @FILE; may be repeated."),
]


def list_(
    ctx: typer.Context,
    *,
    version: shared.Version = None,
    prompts: shared.Prompts = None,
    recordings: shared.Recordings = None,
    as_json: given.Json = False,
) -> None:
    """List the prompts of a version with their hashes, and how many of their requests are recorded.

    JSON: a list of `Prompt`.
    """
    call = call_of(ctx)
    chosen = shared.prompt_set(call, version, prompts)
    found = [chosen.get(name) for name in chosen.names()]
    if as_json:
        call.terminal.json(found)
        return
    recorded = Counter(
        (path.parent.name, path.parent.parent.name)
        for root in recordings or [shared.SHIPPED]
        for path in root.glob("*/*/*.json")
    )
    for prompt in found:
        number = counted(recorded[prompt.name, prompt.version], "recording")
        call.terminal.say(
            f"{prompt.ref.label}  {one_line(prompt.description)}",
            f"   variables: {', '.join(prompt.variables)}; reply: {prompt.output or 'text'}; {number}",
        )
    for name, entry in chosen.versions().items():
        call.terminal.remark(f"version {name}: {entry.status}{f' {entry.date}' if entry.date else ''}")


def render(
    ctx: typer.Context,
    name: shared.Name,
    *,
    version: shared.Version = None,
    prompts: shared.Prompts = None,
    variables: Variables = None,
    case: Annotated[
        str | None, typer.Option("--case", metavar="CASE", help="Take the variables of this recorded case.")
    ] = None,
    recordings: shared.Recordings = None,
    as_json: given.Json = False,
) -> None:
    """Show the messages that a prompt makes of variables.

    JSON: a `Request`.
    """
    call = call_of(ctx)
    values = dict(shared.cases(recordings, [name], [case])[0].variables) if case else {}
    values |= dict(map(variable, variables or []))
    request = shared.prompt_set(call, version, prompts).render(name, values)
    if as_json:
        call.terminal.json(request)
        return
    for message in request.messages:
        call.terminal.say(f"--- {message.role}", visible(message.content))
    call.terminal.remark(f"{request.prompt.label}, params {json.dumps(request.params)}")


def variable(pair: str) -> tuple[str, JsonValue]:
    """Read `name=value`; a value that is no JSON is text.

    Raises:
        InputError: there is no `=`, or the file cannot be read.
    """
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
