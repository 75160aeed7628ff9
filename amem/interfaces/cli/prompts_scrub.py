"""Taking a text out of recordings: `amem prompts scrub`."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations at run time
from typing import Annotated

import typer

from amem.interfaces.cli import parameters as given  # noqa: TC001 - typer reads the annotations at run time
from amem.interfaces.cli.call import call_of
from amem.interfaces.cli.terminal import counted, one_line


def scrub(
    ctx: typer.Context,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What is to go, in any case and spacing.")],
    *,
    recordings: Annotated[
        Path, typer.Option("--recordings", metavar="DIR", help="A folder of recordings, or of results of benchmarks.")
    ],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list what holds it.")] = False,
    as_json: given.Json = False,
) -> None:
    """Remove what recordings and results hold of a text; `amem forget` looks after the memory only.

    Recordings that hold it are removed whole, and recorded vectors with them; files of one JSON value a line lose
    the lines that do.

    JSON: an `amem.llm.scrub.Scrubbed`.
    """
    from amem.llm.scrub import scrub as remove

    call = call_of(ctx)
    done = remove(recordings, text, dry_run=dry_run)
    if as_json:
        call.terminal.json(done)
        return
    call.terminal.say(*(f"removed: {one_line(name)}" for name in done.removed))
    call.terminal.say(*(f"shortened: {one_line(name)}" for name in done.shortened))
    held = len(done.removed) + len(done.shortened)
    call.terminal.say(f"{counted(done.searched, 'file')} looked at, {held} {'to change' if dry_run else 'changed'}")
