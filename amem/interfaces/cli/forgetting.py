"""The verb that erases: forget."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from amem.errors import InputError
from amem.interfaces.cli import parameters as given  # noqa: TC001 - typer reads the annotations at run time
from amem.interfaces.cli.call import call_of
from amem.interfaces.cli.exits import UNFINISHED
from amem.interfaces.cli.terminal import counted, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from amem.interfaces.cli.terminal import Terminal
    from amem.store.receipt import Receipt

Notes = Annotated[list[str] | None, typer.Option("--note", metavar="ID", help="This note; may be repeated.")]
Source = Annotated[
    str | None, typer.Option("--source", metavar="ID", help="Only what came from this source, or from under it.")
]
WholeBox = Annotated[bool, typer.Option("--whole-box", help="All that the box has, and that there was one.")]
Expired = Annotated[bool, typer.Option("--expired", help="What is past the setting retention_days.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only list what would go.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


def forget(
    ctx: typer.Context,
    *,
    note: Notes = None,
    session: given.Session = None,
    source: Source = None,
    since: given.Since = None,
    until: given.Until = None,
    speaker: given.Speaker = None,
    agent: given.Agent = None,
    tag: given.Tags = None,
    whole_box: WholeBox = False,
    expired: Expired = False,
    dry_run: DryRun = False,
    yes: Yes = False,
    as_json: given.Json = False,
) -> None:
    """Erase notes and all that came of them in others, then look for them everywhere; it cannot be undone.

    What is given must hold: `--session s --since 2024-05-01` is that part of that session.

    JSON: a `Receipt`.
    """
    call = call_of(ctx)
    wanted: dict[str, Any] = {
        "notes": note or None, "session_id": session, "source": source, "since": since, "until": until,
        "speaker": speaker, "agent_id": agent, "tags": tag or None, "whole_box": whole_box, "expired": expired,
    }  # fmt: skip
    wanted = {name: value for name, value in wanted.items() if value}
    if not (dry_run or yes):
        _ask(call.terminal, call.run(lambda memory: memory.forget(**wanted, dry_run=True)))
    receipt = call.run(lambda memory: memory.forget(**wanted, dry_run=dry_run))
    if as_json:
        call.terminal.json(receipt)
    else:
        call.terminal.say(*_told(receipt))
    if not receipt.clean:
        call.terminal.fail("not all is done: see what is unfinished, or was found")
        raise typer.Exit(UNFINISHED)


def _ask(terminal: Terminal, would: Receipt) -> None:
    """Let the user say yes to what would be done.

    Raises:
        InputError: there is nobody to ask.
    """
    if not would:
        return
    if not sys.stdin.isatty():
        raise InputError("forgetting cannot be undone: give --yes, or --dry-run to see what would go")
    terminal.say(*_told(would))
    typer.confirm("Erase this for good?", abort=True, err=True)


def _told(receipt: Receipt) -> Iterator[str]:
    if not receipt:
        yield "there is nothing to forget"
        return
    would = "would be " if receipt.dry_run else ""
    yield f"{counted(len(receipt.erased), 'note')} {would}erased, {counted(receipt.links, 'link')} with them"
    yield from _listed("erased", receipt.erased, when=receipt.dry_run)
    yield f"{counted(len(receipt.rewound), 'note')} {would}taken back to what they were without"
    yield from _listed("taken back", receipt.rewound)
    yield f"{counted(len(receipt.requeued), 'note')} {would}waiting to be made anew by `amem process`"
    yield from _listed("waiting", receipt.requeued)
    if receipt.errors:
        yield f"{counted(receipt.errors, 'message')} of errors {would}erased, since they might quote them"
    for place in receipt.searched:
        yield f"{place.place}: {place.result}" + (f" ({one_line(place.remark)})" if place.remark else "")
    for problem in receipt.unfinished:
        yield f"unfinished: {one_line(problem)}"


def _listed(what: str, ids: Sequence[str], *, when: bool = True) -> Iterator[str]:
    return (f"   {what}: {note_id}" for note_id in ids if when)
