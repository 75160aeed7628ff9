"""The verbs that write single notes or finish them: add, process, undo."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from amem.errors import InputError
from amem.interfaces.cli import parameters as given  # noqa: TC001 - typer reads the annotations at run time
from amem.interfaces.cli.call import call_of
from amem.interfaces.cli.exits import UNFINISHED
from amem.interfaces.cli.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.interfaces.cli.terminal import Terminal
    from amem.memory import AsyncMemory
    from amem.model import AddResult, Note


def add(
    ctx: typer.Context,
    content: Annotated[
        str | None, typer.Argument(metavar="[TEXT]", help="The text; read from standard input where left out.")
    ] = None,
    *,
    speaker: Annotated[str | None, typer.Option("--speaker", metavar="NAME", help="Who said it.")] = None,
    at: Annotated[str | None, typer.Option("--at", metavar="DATE", help="When it happened. [now]")] = None,
    session: Annotated[
        str | None, typer.Option("--session", metavar="ID", help="The conversation it belongs to.")
    ] = None,
    agent: Annotated[str | None, typer.Option("--agent", metavar="ID", help="The agent that saw it.")] = None,
    source: Annotated[
        str | None, typer.Option("--source", metavar="ID", help="Your id of it: never stored twice.")
    ] = None,
    trust: Annotated[
        str, typer.Option("--trust", metavar="LEVEL", help="user, assistant, tool or untrusted.")
    ] = "user",
    keywords: Annotated[
        list[str] | None, typer.Option("--keyword", metavar="WORD", help="Set keywords; may be repeated.")
    ] = None,
    tags: Annotated[list[str] | None, typer.Option("--tag", metavar="TAG", help="Set tags; may be repeated.")] = None,
    context: Annotated[
        str | None, typer.Option("--context", metavar="TEXT", help="Set the sentence of context.")
    ] = None,
    as_json: given.Json = False,
) -> None:
    """Remember a text, link it, and let it change its neighbours.

    JSON: an `AddResult`.
    """
    call = call_of(ctx)
    fields = {
        "content": read_text(content), "speaker": speaker, "occurred_at": at, "session_id": session, "agent_id": agent,
        "source": source, "trust": trust, "keywords": keywords, "tags": tags, "context": context,
    }  # fmt: skip
    result, others = call.run(lambda memory: _add(memory, fields), create=True)
    if as_json:
        call.terminal.json(result)
    else:
        from amem.interfaces.cli import render

        call.terminal.say(render.result(result, others))
    leave_unfinished(call.terminal, [result.note])


def process(
    ctx: typer.Context,
    *,
    all: Annotated[bool, typer.Option("--all", help="Also the notes that were stored raw.")] = False,
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", min=0, help="At most so many notes.")] = None,
    as_json: given.Json = False,
) -> None:
    """Finish the notes that are pending.

    JSON: a list of `AddResult`.
    """
    from amem.interfaces.cli.progress import progress

    call = call_of(ctx)
    require_model(call.settings().llm)
    with progress(call.terminal, "processing") as moved:
        results = call.run(lambda memory: memory.process(all=all, limit=limit, progress=moved))
    if as_json:
        call.terminal.json(results)
    else:
        call.terminal.say(summary(results))
    leave_unfinished(call.terminal, [result.note for result in results])


def undo(
    ctx: typer.Context,
    revisions: Annotated[
        list[str] | None,
        typer.Argument(metavar="[REVISION…]", help="The number that `amem history` shows; several, or 3-7, are one."),
    ] = None,
    *,
    caused_by: Annotated[
        str | None, typer.Option("--caused-by", metavar="NOTE", help="All that this note changed in others.")
    ] = None,
    as_json: given.Json = False,
) -> None:
    """Take back changes, or all that a note brought about; all of it or nothing.

    JSON: a list of `Revision`.
    """
    call = call_of(ctx)
    numbers = [number for text in revisions for number in _numbers(text)] if revisions else None
    undone = call.run(lambda memory: memory.undo(numbers, caused_by=caused_by))
    if as_json:
        call.terminal.json(undone)
        return
    from amem.interfaces.cli import render

    call.terminal.say(*(render.revision(change) for change in undone))
    if not undone:
        call.terminal.remark("there was nothing to take back")


async def _add(memory: AsyncMemory, fields: dict[str, Any]) -> tuple[AddResult, dict[str, Note]]:
    result = await memory.add(**fields)
    return result, {note.id: note for note in await memory.neighbours(result.note.id)}


def _numbers(text: str) -> range:
    """Return the numbers that `7` or `3-7` stands for."""
    first, dash, last = text.partition("-")
    if not (text.isascii() and first.isdecimal() and last.isdecimal() == bool(dash)):
        raise InputError(f"{text!r} is not the number of a revision, nor a span such as 3-7")
    return range(int(first), int(last or first) + 1)


def read_text(content: str | None) -> str:
    """Return a text that was given, or piped in.

    Raises:
        InputError: there is neither.
    """
    if content is not None:
        return content
    if sys.stdin.isatty():
        raise InputError("there is nothing to remember: give the text, or pipe it in")
    return sys.stdin.read()


def require_model(llm: str | None) -> None:
    """Refuse work that needs a model where none is set.

    Raises:
        InputError: no model is set.
    """
    if llm is None:
        raise InputError("no model is set: give --llm, AMEM_LLM, or llm in amem.toml. Nothing was changed.")


def summary(results: Sequence[AddResult]) -> str:
    """Return what became of many texts, in one line."""
    ready = sum(result.status == "ready" for result in results)
    links = {link.id for result in results for link in result.links}
    changes = {change.id for result in results for change in result.evolved}
    done = f"{counted(len(results), 'note')} worked on: {ready} ready"
    return f"{done}, {counted(len(links), 'link')}, {counted(len(changes), 'change')} to older notes"


def leave_unfinished(terminal: Terminal, notes: Sequence[Note]) -> None:
    """End with code 1 and the reason where notes stay pending that should have been finished."""
    raw = sum(note.status == "pending" and note.pending_reason == "raw" for note in notes)
    if raw:
        terminal.remark(
            f"{counted(raw, 'note')} stored raw: searchable; `amem process --all` with a model links what is raw"
        )
    left = [note for note in notes if note.status == "pending" and note.pending_reason != "raw"]
    if not left:
        return
    why = next((note.error for note in left if note.error), "the run stopped before their turn")
    terminal.fail(f"left pending: {counted(len(left), 'note')}; `amem process` finishes what is pending. {why}")
    raise typer.Exit(UNFINISHED)
