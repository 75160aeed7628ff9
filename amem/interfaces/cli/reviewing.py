"""Looking through what was held back: `amem review`, `amem review accept` and `amem review reject`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from amem.interfaces.cli import parameters as given  # noqa: TC001 - typer reads the annotations at run time
from amem.interfaces.cli.call import call_of
from amem.interfaces.cli.terminal import one_line

if TYPE_CHECKING:
    from rich.text import Text

    from amem.interfaces.cli.call import Call
    from amem.memory import AsyncMemory
    from amem.model import Note, Proposal, Reviewed

Number = Annotated[int, typer.Argument(metavar="PROPOSAL", help="The number that `amem review` shows.")]


def list_(ctx: typer.Context, *, as_json: given.Json = False) -> None:
    """List the links and changes that suspicious notes would bring about; then accept or reject them.

    JSON: a list of `Proposal`.
    """
    if ctx.invoked_subcommand is not None:
        return
    call = call_of(ctx)
    waiting, notes = call.run(_waiting)
    if as_json:
        call.terminal.json(waiting)
        return
    call.terminal.say(*(_shown(proposal, notes) for proposal in waiting))
    if not waiting:
        call.terminal.remark("nothing waits for review")


def accept(ctx: typer.Context, proposal: Number, *, as_json: given.Json = False) -> None:
    """Do what a proposal says.

    JSON: a `Reviewed`.
    """
    call = call_of(ctx)
    _tell(call, call.run(lambda memory: memory.accept(proposal)), as_json=as_json)


def reject(ctx: typer.Context, proposal: Number, *, as_json: given.Json = False) -> None:
    """Throw a proposal away.

    JSON: a `Reviewed`.
    """
    call = call_of(ctx)
    _tell(call, call.run(lambda memory: memory.reject(proposal)), as_json=as_json)


async def _waiting(memory: AsyncMemory) -> tuple[list[Proposal], dict[str, Note]]:
    waiting = list(await memory.review())
    ids = {note_id for one in waiting for note_id in (*one.notes, *one.outdated)}
    ids |= {note_id for one in waiting for link in one.links for note_id in (link.source, link.target)}
    ids |= {change.note_id for one in waiting for change in one.changes}
    return waiting, {note_id: await memory.get(note_id) for note_id in sorted(ids)}


def _shown(proposal: Proposal, notes: dict[str, Note]) -> Text:
    from rich.text import Text

    from amem.interfaces.cli import render

    text = Text(f"{proposal.id}. ", style="bold")
    text.append("; ".join(map(one_line, proposal.why)), style="yellow")
    for note_id in proposal.notes:
        text.append(f"\n   from {render.quoted(notes[note_id])}", style="dim")
    for found in proposal.links:
        text.append("\n").append_text(render.link(found, notes, seen_from=found.source))
    for change in proposal.changes:
        text.append(f"\n   would change {render.quoted(notes[change.note_id])}\n   {one_line(change.field)}")
        text.append("\n   before: ", style="red")
        text.append(render.value(change.before))
        text.append("\n   after:  ", style="green")
        text.append(render.value(change.after))
    for note_id in proposal.outdated:
        text.append(f"\n   out of date: {render.quoted(notes[note_id])} has changed since", style="yellow")
    return text


def _tell(call: Call, done: Reviewed, *, as_json: bool) -> None:
    from amem.interfaces.cli import render

    if as_json:
        call.terminal.json(done)
        return
    what = f"{len(done.links)} links and {len(done.changes)} changes made" if done.accepted else "thrown away"
    call.terminal.say(f"proposal {done.id}: {what}", *render.skipped(done.skipped))
