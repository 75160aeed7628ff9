"""Stage 2, link (A-Mem, arXiv 2502.12110, equation 6): which neighbours a new note is connected with, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.ingest.judged import FOLLOWS, is_same
from amem.ingest.shown import known
from amem.model import Skipped
from amem.replies import JudgedLinkReply, LinkReply, ProposedLink
from amem.values import Frozen

if TYPE_CHECKING:
    from pydantic import JsonValue

    from amem.ingest.shown import Numbered
    from amem.llm.protocol import Request
    from amem.model import Note
    from amem.prompts import PromptSet

PROMPT = "link"
REPLIES = (LinkReply, JudgedLinkReply)


class LinkProposal(Frozen):
    """A connection a model proposed, mapped back to ids."""

    source: str
    target: str
    relation: str
    reason: str


def request(note: Note, neighbours: Numbered, prompts: PromptSet, *, max_tokens: int) -> Request:
    """Ask which of the neighbours the new note is connected with."""
    variables: dict[str, JsonValue] = {"note": known(note), "neighbours": list(neighbours.known())}
    return prompts.render(PROMPT, variables, params={"max_tokens": max_tokens})


def reply_model(prompts: PromptSet) -> type[LinkReply | JudgedLinkReply]:
    """Return the model of the replies that the template asks for."""
    return prompts.reply(PROMPT, *REPLIES)


def parse(
    reply: LinkReply | JudgedLinkReply, note: Note, neighbours: Numbered
) -> tuple[list[LinkProposal], list[Skipped]]:
    """Map a reply back to ids; numbers that were never shown are dropped and reported."""
    proposals: list[LinkProposal] = []
    skipped: list[Skipped] = []
    for link in reply.links:
        target = neighbours.note(link.neighbour)
        if target is None:
            skipped.append(unknown("link", link.neighbour))
        elif isinstance(link, ProposedLink):
            proposals.append(proposal(note, target, link.relation, link.reason))
        elif is_same(link):
            proposals.append(proposal(note, target, FOLLOWS, link.newer))
    return proposals, skipped


def proposal(source: Note, target: Note, relation: str, reason: str) -> LinkProposal:
    """Return a connection between two notes."""
    return LinkProposal(source=source.id, target=target.id, relation=relation.strip(), reason=reason.strip())


def unknown(stage: str, number: int) -> Skipped:
    """Report a number that the request never showed."""
    return Skipped.model_validate(
        {"stage": stage, "what": f"note number {number}", "why": "the request showed no note of that number"}
    )
