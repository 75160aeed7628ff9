"""The verb that takes a memory elsewhere: export."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations at run time
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from amem.interfaces.cli import parameters as given  # noqa: TC001 - typer reads the annotations at run time
from amem.interfaces.cli.call import call_of
from amem.interfaces.cli.terminal import counted, visible

if TYPE_CHECKING:
    from typing import Literal


def export(
    ctx: typer.Context,
    path: Annotated[Path, typer.Argument(metavar="PATH", help="A file; for markdown, a new or empty folder.")],
    *,
    kind: Annotated[str, typer.Option("--format", metavar="NAME", help="jsonl or markdown.")] = "jsonl",
    vectors: Annotated[bool, typer.Option("--vectors", help="Let the vectors come along, in jsonl.")] = False,
    speaker: given.Speaker = None,
    session: given.Session = None,
    agent: given.Agent = None,
    tag: given.Tags = None,
    since: given.Since = None,
    until: given.Until = None,
    as_json: given.Json = False,
) -> None:
    """Write everything about the box, or about a person, to a file that `amem import` brings back, or to read.

    JSON: an `Exported`.
    """
    call = call_of(ctx)
    wanted: dict[str, Any] = {
        "speaker": speaker, "session_id": session, "agent_id": agent, "tags": tag or None, "since": since,
        "until": until,
    }  # fmt: skip
    wanted = {name: value for name, value in wanted.items() if value is not None}
    form = cast("Literal['jsonl', 'markdown']", kind)  # any other is refused there
    done = call.run(lambda memory: memory.export(path, format=form, vectors=vectors, **wanted))
    if as_json:
        call.terminal.json(done)
        return
    parts = (
        counted(done.notes, "note"), counted(done.links, "link"), counted(done.revisions, "revision"),
        counted(done.files, "file"),
    )  # fmt: skip
    call.terminal.say(f"{', '.join(parts)} written: {visible(done.path)}")
