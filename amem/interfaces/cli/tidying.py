"""The verb that keeps a memory tidy: upkeep."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from amem.interfaces.cli import parameters as given  # noqa: TC001 - typer reads the annotations at run time
from amem.interfaces.cli.call import call_of
from amem.interfaces.cli.exits import UNFINISHED
from amem.interfaces.cli.rebuild import spans
from amem.interfaces.cli.terminal import counted, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amem.upkeep.consolidate import Merged
    from amem.upkeep.tidying import Upkept


def upkeep(
    ctx: typer.Context,
    *,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only list what would be done; no model is asked.")
    ] = False,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=0, help="At most so many summaries, each a call.")
    ] = None,
    as_json: given.Json = False,
) -> None:
    """Archive notes that have faded, and let one note stand for several that say the same.

    Nothing is erased, and `amem undo` takes it back. Without a model, only repeats of a text are merged.

    JSON: an `Upkept`.
    """
    call = call_of(ctx)
    done = call.run(lambda memory: memory.upkeep(dry_run=dry_run, limit=limit))
    if as_json:
        call.terminal.json(done)
    else:
        call.terminal.say(*_told(done))
    if done.usage.calls:
        from amem.interfaces.cli import render

        call.terminal.remark(render.usage(done.usage))
    if done.left:
        why = one_line(done.left[0].why)
        left = counted(len(done.left), "group")
        call.terminal.fail(f"not summed up: {left} of notes, which stay as they are; the same command goes on. {why}")
        raise typer.Exit(UNFINISHED)


def _told(done: Upkept) -> Iterator[str]:
    would = "would be " if done.dry_run else ""
    yield f"{counted(len(done.archived), 'note')} {would}archived"
    for item in done.archived:
        why = f"importance {item.importance:.3f}, {item.days:.0f} days, recalled {counted(item.accesses, 'time')}"
        yield f"   {one_line(item.note_id)}: {why}"
    if done.kept:
        yield f"{counted(done.kept, 'note')} as faded, and kept: pinned, in use, or what others rest on"
    yield f"{counted(len(done.merged), 'group')} of notes {would}merged"
    for merged in done.merged:
        yield from _merged(merged)
    if done.revisions:
        numbers = " ".join(spans(r.id for r in done.revisions if r.id is not None))
        yield f"to take it back: amem undo {numbers}"


def _merged(merged: Merged) -> Iterator[str]:
    how = "repeated by" if merged.repeats else "stands for"
    yield f"   {one_line(merged.into or 'a summary')} {how} {', '.join(map(one_line, merged.notes))}"
    if merged.text:
        yield f"      {one_line(merged.text, 200)}"
