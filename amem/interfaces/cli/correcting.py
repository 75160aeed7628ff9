"""The user's own hand: correct, pin and unpin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from amem.interfaces.cli import parameters as given  # noqa: TC001 - typer reads the annotations at run time
from amem.interfaces.cli.call import call_of
from amem.interfaces.cli.writing import leave_unfinished, read_text

if TYPE_CHECKING:
    from amem.memory import AsyncMemory
    from amem.model import AddResult, Note

Fields = Annotated[
    list[str] | None,
    typer.Option("--field", metavar="NAME", help="keywords, tags or context; may be repeated. [all]"),
]


def correct(
    ctx: typer.Context,
    note: given.NoteId,
    content: Annotated[
        str | None, typer.Argument(metavar="[TEXT]", help="What is right; read from standard input where left out.")
    ] = None,
    *,
    at: Annotated[
        str | None, typer.Option("--at", metavar="DATE", help="Since when; the old note held good until then. [never]")
    ] = None,
    as_json: given.Json = False,
) -> None:
    """Put a new note in the place of one that is wrong; that one stays, hidden, and can be had back.

    JSON: an `AddResult`.
    """
    call = call_of(ctx)
    text = read_text(content)
    result, others = call.run(lambda memory: _correct(memory, note, text, at))
    if as_json:
        call.terminal.json(result)
    else:
        from amem.interfaces.cli import render

        call.terminal.say(render.result(result, others))
        call.terminal.remark(f"to take it back: amem undo --caused-by {result.id}")
    leave_unfinished(call.terminal, [result.note])


async def _correct(memory: AsyncMemory, note: str, text: str, at: str | None) -> tuple[AddResult, dict[str, Note]]:
    result = await memory.correct(note, text, occurred_at=at)
    return result, {other.id: other for other in await memory.neighbours(result.id)}


def pin(ctx: typer.Context, note: given.NoteId, *, field: Fields = None, as_json: given.Json = False) -> None:
    """Keep fields of a note as they are: no model changes them, and upkeep does not archive the note.

    JSON: a `Note`.
    """
    _show(ctx, note, field, pinned=True, as_json=as_json)


def unpin(ctx: typer.Context, note: given.NoteId, *, field: Fields = None, as_json: given.Json = False) -> None:
    """Let models change fields of a note again.

    JSON: a `Note`.
    """
    _show(ctx, note, field, pinned=False, as_json=as_json)


def _show(ctx: typer.Context, note: str, fields: list[str] | None, *, pinned: bool, as_json: bool) -> None:
    call = call_of(ctx)
    done = call.run(lambda memory: (memory.pin if pinned else memory.unpin)(note, fields or None))
    if as_json:
        call.terminal.json(done)
        return
    from amem.interfaces.cli import render

    call.terminal.say(render.note(done), f"   pinned: {', '.join(done.pinned) or 'nothing'}")
