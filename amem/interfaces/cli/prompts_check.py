"""Keeping versions: `amem prompts check`, `amem prompts new` and `amem prompts release`."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Annotated

import typer

from amem.errors import InputError
from amem.interfaces.cli import parameters as given
from amem.interfaces.cli import prompts_shared as shared
from amem.interfaces.cli.call import call_of
from amem.interfaces.cli.exits import UNFINISHED
from amem.interfaces.cli.terminal import counted


def check(
    ctx: typer.Context,
    *,
    prompts: shared.Prompts = None,
    recordings: shared.Recordings = None,
    as_json: given.Json = False,
) -> None:
    """Check templates, locks, changelog and recordings, without a model; the exit code is 1 if anything is wrong.

    JSON: an `amem.workbench.checking.Checked`.
    """
    from amem.interfaces.cli import prompts_findings as show
    from amem.workbench.checking import check

    call = call_of(ctx)
    roots = recordings or [shared.SHIPPED]
    for root in roots:
        if not root.is_dir():
            raise InputError(f"there is no folder {root} of recordings")
    found = check(roots, prompts, call.settings().prompts_overrides)
    if as_json:
        call.terminal.json(found)
    else:
        call.terminal.say(*show.findings(found))
        what = f"{counted(found.templates, 'template')}, {counted(found.recordings, 'recording')}"
        call.terminal.say(f"{what}: {counted(len(found.findings), 'problem') if found.findings else 'all in order'}")
    if found.findings:
        raise typer.Exit(UNFINISHED)


def new(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The new version, such as v2.")],
    *,
    source: Annotated[
        str | None, typer.Option("--from", metavar="VERSION", help="The version to copy. [the default]")
    ] = None,
    prompts: shared.Prompts = None,
    as_json: given.Json = False,
) -> None:
    """Begin a version as a copy of another; with --prompts DIR, in a copy of the shipped prompts.

    JSON: an `amem.workbench.versioning.Drafted`.
    """
    from amem.prompts import shipped_prompts
    from amem.workbench.versioning import draft, own_folder

    call = call_of(ctx)
    made = draft(own_folder(prompts, shipped_prompts()), name, source)
    if as_json:
        call.terminal.json(made)
        return
    call.terminal.say(f"{made.folder}: {counted(len(made.prompts), 'template')} of {made.source}, to be changed")
    call.terminal.remark("say in its CHANGELOG.md what the version is for")


def release(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="VERSION", help="The draft to release.")],
    *,
    on: Annotated[str | None, typer.Option("--date", metavar="DATE", help="The day of the release. [today]")] = None,
    prompts: shared.Prompts = None,
    as_json: given.Json = False,
) -> None:
    """Lock a draft by the hashes of its files; from then on a change goes into the next version.

    JSON: an `amem.workbench.versioning.Released`.
    """
    from amem.prompts import shipped_prompts
    from amem.workbench.versioning import own_folder, release

    call = call_of(ctx)
    try:
        day = date.fromisoformat(on) if on else datetime.now(UTC).date()
    except ValueError as error:
        raise InputError(f"{on!r} is not a date such as 2027-01-31") from error
    made = release(own_folder(prompts, shipped_prompts()), name, day)
    if as_json:
        call.terminal.json(made)
        return
    call.terminal.say(f"{made.version} is released on {made.date}: {counted(len(made.files), 'template')} locked")
