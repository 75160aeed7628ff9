"""Stage 3, evolve (A-Mem, arXiv 2502.12110, equation 7): how a new note changes what its neighbours are known for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.ingest.judged import is_news, told_since
from amem.ingest.linker import unknown
from amem.ingest.shown import known
from amem.replies import EvolveReply, JudgedEvolveReply, ProposedChange
from amem.values import Frozen

if TYPE_CHECKING:
    from pydantic import JsonValue

    from amem.ingest.shown import Numbered
    from amem.llm.protocol import Request
    from amem.model import Note, Skipped
    from amem.prompts import PromptSet
    from amem.replies import WindowChange

PROMPT = "evolve"
REPLIES = (EvolveReply, JudgedEvolveReply)


class Evolution(Frozen):
    """A change to one older note that a model proposed, mapped back to ids. Empty values change nothing."""

    note_id: str
    because: tuple[str, ...]
    context: str
    keywords: tuple[str, ...]
    tags: tuple[str, ...]


def request(note: Note, neighbours: Numbered, prompts: PromptSet, *, max_tokens: int) -> Request:
    """Ask how the new note changes what its neighbours are known for."""
    variables: dict[str, JsonValue] = {"note": known(note), "neighbours": list(neighbours.known())}
    return prompts.render(PROMPT, variables, params={"max_tokens": max_tokens})


def reply_model(prompts: PromptSet) -> type[EvolveReply | JudgedEvolveReply]:
    """Return the model of the replies that the template asks for."""
    return prompts.reply(PROMPT, *REPLIES)


def along_links(prompts: PromptSet) -> bool:
    """Whether only neighbours that the new note is linked with are shown: the template judges what link has judged."""
    return reply_model(prompts) is JudgedEvolveReply


def parse(
    reply: EvolveReply | JudgedEvolveReply, note: Note, neighbours: Numbered
) -> tuple[list[Evolution], list[Skipped]]:
    """Map a reply back to ids; the new note's own further tags are an evolution of itself."""
    evolutions: list[Evolution] = []
    skipped: list[Skipped] = []
    if isinstance(reply, EvolveReply) and reply.tags:
        own = Evolution(note_id=note.id, because=(note.id,), context="", keywords=(), tags=tuple(reply.tags))
        evolutions.append(own)
    for change in reply.changes:
        target = neighbours.note(change.neighbour)
        if target is None:
            skipped.append(unknown("evolve", change.neighbour))
        elif isinstance(change, ProposedChange):
            evolutions.append(evolution(change, target.id, (note.id,)))
        elif is_news(change):
            evolutions.append(news_of(target, note))
    return evolutions, skipped


def news_of(older: Note, newer: Note) -> Evolution:
    """Return the change of an older note that something has become of, as a newer one tells."""
    context = told_since(older, newer)
    return Evolution(note_id=older.id, because=(newer.id,), context=context, keywords=(), tags=())


def evolution(change: ProposedChange | WindowChange, note_id: str, because: tuple[str, ...]) -> Evolution:
    """Return a proposed change under its note's id."""
    return Evolution(
        note_id=note_id,
        because=because,
        context=change.context.strip(),
        keywords=tuple(change.keywords),
        tags=tuple(change.tags),
    )
