"""Stages 2 and 3 in one call, for a whole window of new notes: prompt `link_evolve`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.ingest.evolver import Evolution, evolution
from amem.ingest.judged import is_news, is_same, told_since
from amem.ingest.linker import LinkProposal, proposal, unknown
from amem.ingest.shown import Numbered
from amem.replies import JudgedWindowReply, LinkEvolveReply, WindowLink

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pydantic import JsonValue

    from amem.ingest.neighbours import Neighbours
    from amem.llm.protocol import Request
    from amem.model import Note, Skipped
    from amem.prompts import PromptSet
    from amem.replies import JudgedWindowPair

PROMPT = "link_evolve"
REPLIES = (LinkEvolveReply, JudgedWindowReply)
MOST_LIKE = 3
LIKE = 0.45
"""Cosine from which an older note is named as near a new one: a small model links whatever it is named."""


def numbered(neighbours: Sequence[Note], notes: Sequence[Note]) -> tuple[Numbered, Numbered]:
    """Number the neighbours from 0, and the new notes after them."""
    return Numbered(neighbours), Numbered(notes, first=len(neighbours))


def request(neighbours: Numbered, notes: Numbered, near: Neighbours, prompts: PromptSet, *, max_tokens: int) -> Request:
    """Ask for the connections of the window, and the changes it brings to older notes.

    Each new note carries the numbers of those before it that are most like it: a small model compares three notes
    better than twenty.
    """
    everyone = (*neighbours.ids, *notes.ids)
    numbers = {note_id: i for i, note_id in enumerate(everyone)}
    new: list[JsonValue] = []
    for note_id, about in zip(notes.ids, notes.known(), strict=True):
        like = near.nearest_of(note_id, everyone[: numbers[note_id]], MOST_LIKE, LIKE)
        new.append({**about, "near": [numbers[other] for other in like]})
    return prompts.render(
        PROMPT, {"neighbours": list(neighbours.known()), "notes": new}, params={"max_tokens": max_tokens}
    )


def reply_model(prompts: PromptSet) -> type[LinkEvolveReply | JudgedWindowReply]:
    """Return the model of the replies that the template asks for."""
    return prompts.reply(PROMPT, *REPLIES)


def parse_links(
    reply: LinkEvolveReply | JudgedWindowReply, neighbours: Numbered, notes: Numbered
) -> tuple[list[LinkProposal], list[Skipped]]:
    """Map proposed connections back to ids; each starts at a new note."""
    proposals: list[LinkProposal] = []
    skipped: list[Skipped] = []
    for link, number in _pairs(reply):
        source, target = notes.note(link.source), neighbours.note(number) or notes.note(number)
        if source is None or target is None:
            skipped.append(unknown("link", link.source if source is None else number))
        elif isinstance(link, WindowLink):
            proposals.append(proposal(source, target, link.relation, link.reason))
        elif is_same(link):
            proposals.append(proposal(source, target, link.then, link.newer))
    return proposals, skipped


def _pairs(reply: LinkEvolveReply | JudgedWindowReply) -> Iterator[tuple[WindowLink | JudgedWindowPair, int]]:
    for link in reply.links:
        yield from ((link, number) for number in (link.targets if isinstance(link, WindowLink) else [link.target]))


def parse_changes(
    reply: LinkEvolveReply | JudgedWindowReply, neighbours: Numbered, notes: Numbered
) -> tuple[list[Evolution], list[Skipped]]:
    """Map proposed changes back to ids; where no known new note is named, the whole window is the cause."""
    if isinstance(reply, JudgedWindowReply):
        return _news(reply, neighbours, notes), []
    evolutions: list[Evolution] = []
    skipped: list[Skipped] = []
    for change in reply.changes:
        target = neighbours.note(change.neighbour)
        if target is None:
            skipped.append(unknown("evolve", change.neighbour))
            continue
        named = [note.id for number in change.because if (note := notes.note(number)) is not None]
        evolutions.append(evolution(change, target.id, tuple(dict.fromkeys(named)) or notes.ids))
    return evolutions, skipped


def _news(reply: JudgedWindowReply, neighbours: Numbered, notes: Numbered) -> list[Evolution]:
    """Return the changes of older notes that something has become of; later new notes tell on after earlier ones."""
    told: dict[str, Note] = {}
    because: dict[str, list[str]] = {}
    for pair in sorted(reply.links, key=lambda pair: pair.source):
        older, newer = neighbours.note(pair.target), notes.note(pair.source)
        if older is not None and newer is not None and is_news(pair):
            so_far = told.get(older.id, older)
            told[older.id] = so_far.model_copy(update={"context": told_since(so_far, newer)})
            because.setdefault(older.id, []).append(newer.id)
    return [
        Evolution(
            note_id=note_id, because=tuple(dict.fromkeys(because[note_id])), context=note.context, keywords=(), tags=()
        )
        for note_id, note in told.items()
    ]
