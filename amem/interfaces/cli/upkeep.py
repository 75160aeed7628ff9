"""The verbs that look after the store: doctor and reindex."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from amem.interfaces.cli import parameters as given  # noqa: TC001 - typer reads the annotations at run time
from amem.interfaces.cli.call import call_of
from amem.interfaces.cli.exits import UNFINISHED
from amem.interfaces.cli.terminal import counted, one_line

if TYPE_CHECKING:
    from amem.rooms import Rooms
    from amem.store.report import Report


def doctor(ctx: typer.Context, *, as_json: given.Json = False) -> None:
    """Check everything that must hold, and say what mends it; nothing is changed.

    JSON: a `Report`.
    """
    call = call_of(ctx)
    report = call.run_rooms(_examine, rebind=True)  # another embedding is a finding, not a reason not to look
    if as_json:
        call.terminal.json(report)
    else:
        for problem in report.problems:
            call.terminal.say(f"{problem.kind}: {one_line(problem.what)}", f"   {one_line(problem.repair)}")
        looked = f"{counted(report.notes, 'note')} in {counted(report.boxes, 'box', 'boxes')} looked at"
        call.terminal.say(f"{looked}: {counted(len(report.problems), 'problem')}. Search: {one_line(report.index)}")
    if report.problems:
        raise typer.Exit(UNFINISHED)


async def _examine(rooms: Rooms) -> Report:
    from asyncio import to_thread

    from amem.store.doctor import doctor as look

    return await to_thread(look, rooms.ledger, rooms.vectors, rooms.index)


def reindex(ctx: typer.Context, *, as_json: given.Json = False) -> None:
    """Rebuild the index from the ledger; embed every note anew where the embedding is another one."""
    call_of(ctx)
