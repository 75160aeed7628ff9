"""Stages 2 and 3 in one call, for a whole window of new notes: prompt `link_evolve`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.ingest.evolver import Evolution, evolution
from amem.ingest.linker import LinkProposal, unknown
from amem.ingest.shown import Numbered

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from amem.ingest.neighbours import Neighbours
    from amem.llm.protocol import Request
    from amem.model import Note, Skipped
    from amem.prompts import PromptSet
    from amem.replies import LinkEvolveReply

PROMPT = "link_evolve"
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


def parse_links(
    reply: LinkEvolveReply, neighbours: Numbered, notes: Numbered
) -> tuple[list[LinkProposal], list[Skipped]]:
    """Map proposed connections back to ids; each starts at a new note."""
    proposals: list[LinkProposal] = []
    skipped: list[Skipped] = []
    for link in reply.links:
        source = notes.note(link.source)
        for number in link.targets:
            target = neighbours.note(number) or notes.note(number)
            if source is None or target is None:
                skipped.append(unknown("link", link.source if source is None else number))
                continue
            about = {"relation": link.relation.strip(), "reason": link.reason.strip()}
            proposals.append(LinkProposal(source=source.id, target=target.id, **about))
    return proposals, skipped


def parse_changes(
    reply: LinkEvolveReply, neighbours: Numbered, notes: Numbered
) -> tuple[list[Evolution], list[Skipped]]:
    """Map proposed changes back to ids; where no known new note is named, the whole window is the cause."""
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
