"""The verbs that read: search, recall, list, show, links, history, stats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from amem.interfaces.cli import parameters as given
from amem.interfaces.cli.call import call_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.memory import AsyncMemory
    from amem.model import Link, Note, Revision


def search(
    ctx: typer.Context,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What is asked, in any words.")],
    *,
    k: Annotated[int, typer.Option("-k", metavar="N", help="How many notes at most.")] = 10,
    explain: Annotated[bool, typer.Option("--explain", help="Say how each score came about.")] = False,
    speaker: given.Speaker = None,
    session: given.Session = None,
    agent: given.Agent = None,
    tags: given.Tags = None,
    since: given.Since = None,
    until: given.Until = None,
    as_of: given.AsOf = None,
    kinds: given.Kinds = None,
    archived: given.Archived = False,
    outdated: given.Outdated = False,
    as_json: given.Json = False,
) -> None:
    """Find the notes that fit a question best.

    JSON: a list of `Hit`.
    """
    call = call_of(ctx)
    chosen = given.filters(
        speaker=speaker, session=session, agent=agent, tags=tags, since=since, until=until, as_of=as_of, kinds=kinds,
        archived=archived, outdated=outdated,
    )  # fmt: skip
    hits = call.run(lambda memory: memory.search(question, k=k, explain=explain, **chosen))
    if as_json:
        call.terminal.json(hits)
        return
    from amem.interfaces.cli import render

    call.terminal.say(*(render.hit(number, found) for number, found in enumerate(hits, start=1)))
    if not hits:
        call.terminal.remark("nothing was found")


def recall(
    ctx: typer.Context,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What is asked, in any words.")],
    *,
    budget: Annotated[int, typer.Option("--budget", metavar="TOKENS", help="Tokens the text may have.")] = 1000,
    speaker: given.Speaker = None,
    session: given.Session = None,
    agent: given.Agent = None,
    tags: given.Tags = None,
    since: given.Since = None,
    until: given.Until = None,
    as_of: given.AsOf = None,
    kinds: given.Kinds = None,
    archived: given.Archived = False,
    outdated: given.Outdated = False,
    as_json: given.Json = False,
) -> None:
    """Pack the notes that answer a question into a text that cites them.

    JSON: a `Context`.
    """
    call = call_of(ctx)
    chosen = given.filters(
        speaker=speaker, session=session, agent=agent, tags=tags, since=since, until=until, as_of=as_of, kinds=kinds,
        archived=archived, outdated=outdated,
    )  # fmt: skip
    context = call.run(lambda memory: memory.recall(question, budget=budget, **chosen))
    if as_json:
        call.terminal.json(context)
        return
    from amem.interfaces.cli.terminal import visible

    if context.text:
        call.terminal.say(visible(context.text))
    for citation in context.citations:
        call.terminal.remark(f"[{citation.number}] {citation.note_id}")
    call.terminal.remark(
        f"{context.tokens} of {context.budget} tokens ({context.tokenizer}); {len(context.left_out)} notes left out"
    )


def list_(
    ctx: typer.Context,
    *,
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", help="Notes a page.")] = 20,
    after: Annotated[str | None, typer.Option("--after", metavar="NEXT", help="The `next` of the page before.")] = None,
    speaker: given.Speaker = None,
    session: given.Session = None,
    agent: given.Agent = None,
    tags: given.Tags = None,
    since: given.Since = None,
    until: given.Until = None,
    as_of: given.AsOf = None,
    kinds: given.Kinds = None,
    archived: given.Archived = False,
    outdated: given.Outdated = False,
    as_json: given.Json = False,
) -> None:
    """List notes in the order they were accepted.

    JSON: a `Page`.
    """
    call = call_of(ctx)
    chosen = given.filters(
        speaker=speaker, session=session, agent=agent, tags=tags, since=since, until=until, as_of=as_of, kinds=kinds,
        archived=archived, outdated=outdated,
    )  # fmt: skip
    page = call.run(lambda memory: memory.list(limit=limit, after=after, **chosen))
    if as_json:
        call.terminal.json(page)
        return
    from amem.interfaces.cli import render

    call.terminal.say(*(render.note(note) for note in page.notes))
    if page.next is not None:
        call.terminal.remark(f"there is more: --after {page.next}")


def show(ctx: typer.Context, note_id: given.NoteId, *, as_json: given.Json = False) -> None:
    """Show a note with its links.

    JSON: a `Note`.
    """
    call = call_of(ctx)
    note, links, others = call.run(lambda memory: _linked(memory, note_id))
    if as_json:
        call.terminal.json(note)
        return
    from amem.interfaces.cli import render

    call.terminal.say(render.note(note), *_details(note))
    call.terminal.say(*(render.link(link, others, seen_from=note_id) for link in links))


def links(ctx: typer.Context, note_id: given.NoteId, *, as_json: given.Json = False) -> None:
    """Show what a note is linked with, and why.

    JSON: a list of `Link`.
    """
    call = call_of(ctx)
    _, found, others = call.run(lambda memory: _linked(memory, note_id))
    if as_json:
        call.terminal.json(found)
        return
    from amem.interfaces.cli import render

    call.terminal.say(*(render.link(link, others, seen_from=note_id) for link in found))
    if not found:
        call.terminal.remark("this note is linked with none")


def history(ctx: typer.Context, note_id: given.NoteId, *, as_json: given.Json = False) -> None:
    """Show every change of a note, oldest first.

    JSON: a list of `Revision`.
    """
    call = call_of(ctx)
    revisions: Sequence[Revision] = call.run(lambda memory: memory.history(note_id))
    if as_json:
        call.terminal.json(revisions)
        return
    from amem.interfaces.cli import render

    call.terminal.say(*(render.revision(revision) for revision in revisions))
    if not revisions:
        call.terminal.remark("this note was never changed")


def stats(ctx: typer.Context, *, as_json: given.Json = False) -> None:
    """Count notes, links and changes, and what the calls have cost.

    JSON: a `Stats`.
    """
    call = call_of(ctx)
    counts = call.run(lambda memory: memory.stats())
    if as_json:
        call.terminal.json(counts)
        return
    from amem.interfaces.cli import render
    from amem.interfaces.cli.terminal import counted, one_line

    waiting = ", ".join(f"{count} {reason}" for reason, count in counts.pending.items() if count)
    call.terminal.say(
        f"box {one_line(counts.box)}: {counted(counts.notes, 'note')} ({counts.ready} ready, "
        f"{counts.archived} archived{f'; pending: {waiting}' if waiting else ''})",
        f"{counted(counts.links, 'link')}, {counted(counts.revisions, 'revision')}",
        f"search: {one_line(counts.index)}; {counted(counts.unindexed, 'note')} not indexed yet, but found",
        *(f"{stage}: {render.usage(spent)}" for stage, spent in counts.usage.items()),
    )


async def _linked(memory: AsyncMemory, note_id: str) -> tuple[Note, Sequence[Link], dict[str, Note]]:
    note = await memory.get(note_id)
    found = await memory.links(note_id)
    return note, found, {other.id: other for other in await memory.neighbours(note_id)}


def _details(note: Note) -> list[str]:
    """Return what is known about a note besides its text and fields, a line each."""
    from amem.interfaces.cli.terminal import one_line

    rows = {
        "session": note.session_id and f"{note.session_id}, turn {note.position}",
        "sources": ", ".join(note.sources),
        "pinned": ", ".join(note.pinned),
        "made by": note.made_by and f"{note.made_by.model}, {note.made_by.prompt}",
        "error": note.error,
    }
    return [f"   {name}: {one_line(text)}" for name, text in rows.items() if text]
