"""The verbs that look after the store: doctor and reindex."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from amem.interfaces.cli import parameters as given  # noqa: TC001 - typer reads the annotations at run time
from amem.interfaces.cli.call import call_of
from amem.interfaces.cli.exits import UNFINISHED
from amem.interfaces.cli.terminal import counted, one_line

if TYPE_CHECKING:
    from amem.interfaces.cli.call import Call
    from amem.rooms import Rooms
    from amem.store.report import Report


def doctor(
    ctx: typer.Context,
    *,
    repair: Annotated[
        bool, typer.Option("--repair", help="Mend what can be mended without changing a note, and look again.")
    ] = False,
    as_json: given.Json = False,
) -> None:
    """Check everything that must hold, and say what mends it.

    JSON: a `Report`.
    """
    call = call_of(ctx)
    report = call.run_rooms(_examine, rebind=True)  # another embedding is a finding, not a reason not to look
    if repair and report.problems:
        report = _repaired(call, report)
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


def _repaired(call: Call, report: Report) -> Report:
    from amem.interfaces.cli.progress import naming
    from amem.repair import repair

    with naming(call.terminal, "mending") as moved:
        return call.run_rooms(lambda rooms: repair(rooms, report, progress=moved))


def reindex(
    ctx: typer.Context,
    *,
    embed: Annotated[
        bool, typer.Option("--embed", help="Embed every note anew, also with the same embedding.")
    ] = False,
    as_json: given.Json = False,
) -> None:
    """Make full text, vectors and index anew from the notes; no language model is asked.

    Where the settings name another embedding than the memory has, every note is embedded with that one. A run that
    was stopped is finished by another.

    JSON: a `Reindexed`.
    """
    from amem.interfaces.cli.progress import naming
    from amem.repair import reindex as make_anew

    call = call_of(ctx)
    with naming(call.terminal, "reading") as moved:
        done = call.run_rooms(lambda rooms: make_anew(rooms, embed=embed, progress=moved), rebind=True)
    if as_json:
        call.terminal.json(done)
        return
    indexed = "Chroma is switched off" if done.indexed is None else f"{counted(done.indexed, 'vector')} in Chroma"
    call.terminal.say(f"{counted(done.notes, 'note')} indexed by words, {done.embedded:,} embedded, {indexed}")
