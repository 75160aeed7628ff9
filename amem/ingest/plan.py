"""From proposals to a plan: the model proposes, this code disposes (P4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import JsonValue

from amem.ingest.language import keeps_script
from amem.model import TRUST_RANK, Cause, Link, Skipped
from amem.store.plan import Change, PlannedLink

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from amem.ingest.builder import Built
    from amem.ingest.evolver import Evolution
    from amem.ingest.linker import LinkProposal
    from amem.model import Note
    from amem.settings import Settings

READY: dict[str, JsonValue] = {"status": "ready", "pending_reason": None, "error": None}


def merge(old: Sequence[str], new: Iterable[str], limit: int) -> list[str]:
    """Add words that are not there yet, whatever their case; what is there stays, and `limit` caps the whole."""
    merged = list(old)
    seen = {word.casefold() for word in old}
    for word in (word.strip() for word in new):
        if word and word.casefold() not in seen and len(merged) < limit:
            seen.add(word.casefold())
            merged.append(word)
    return merged


def build_fields(note: Note, built: Built, settings: Settings) -> dict[str, JsonValue]:
    """Return the fields that `built` gives to `note`: never a pinned one, and nothing is emptied."""
    speaker = {(note.speaker or "").casefold()}  # every word of a speaker's notes would lead to all of them
    keywords = (word for word in built.keywords if word.strip().casefold() not in speaker)
    proposed: dict[str, JsonValue] = {
        "keywords": list[JsonValue](merge((), keywords, settings.max_keywords)),
        "tags": list[JsonValue](merge((), built.tags, settings.max_tags)),
        "context": built.context,
    }
    return {name: value for name, value in proposed.items() if value and name not in note.pinned}


def build_change(note: Note, fields: dict[str, JsonValue], call: int | None) -> Change:
    """Return the change that gives a note its fields; a note the user changed meanwhile keeps what was pinned."""
    cause = Cause(kind="build", notes=(note.id,))
    return Change(note_id=note.id, expected_version=note.version, fields=fields, cause=cause, call=call)


def evolve_changes(
    evolutions: Sequence[Evolution],
    notes: Mapping[str, Note],
    likeness: Mapping[Evolution, float],
    settings: Settings,
    call: int,
) -> tuple[list[Change], list[Skipped]]:
    """Return the changes that may be made, and what may not be, with the rule that forbids it.

    Args:
        evolutions: what the model proposed.
        notes: every note involved, by id.
        likeness: cosine of a proposed context to its note, as far as it counts.
        settings: of the memory.
        call: that proposed them, by its place in the plan.
    """
    changes: list[Change] = []
    skipped: list[Skipped] = []
    done: set[str] = set()
    for proposal in evolutions:
        why = _forbidden(proposal, notes, done) or _strange(likeness.get(proposal), settings)
        if why is not None:
            skipped.append(Skipped(stage="evolve", what=f"change of note {proposal.note_id}", why=why))
            continue
        note = notes[proposal.note_id]
        fields = _evolved_fields(note, proposal, settings)
        if not fields:
            continue  # a change that changes nothing makes no revision
        done.add(note.id)
        cause = Cause(kind="evolve", notes=proposal.because)
        changes.append(Change(note_id=note.id, expected_version=note.version, fields=fields, cause=cause, call=call))
    return changes, skipped


def _forbidden(proposal: Evolution, notes: Mapping[str, Note], done: set[str]) -> str | None:
    note = notes[proposal.note_id]
    own = proposal.because == (note.id,)
    if proposal.note_id in done:
        return "it was changed by this reply already"
    if note.status == "pending" and not own:
        return "a pending note is not evolved"
    if not own and any(TRUST_RANK[notes[cause].trust] < TRUST_RANK[note.trust] for cause in proposal.because):
        return "a note of lower trust may not change one of higher trust"
    if proposal.context and not keeps_script(note.content, proposal.context):
        return "the new context is not in the language of the note"
    return None


def _strange(likeness: float | None, settings: Settings) -> str | None:
    """Refuse a context that has nothing to do with its note: a small model describes the newcomer instead of it."""
    if likeness is None or likeness >= settings.similarity_floor:
        return None
    return (
        f"the new context is not about the note: its cosine to it is {likeness:.2f}, below {settings.similarity_floor}"
    )


def _evolved_fields(note: Note, proposal: Evolution, settings: Settings) -> dict[str, JsonValue]:
    wanted: dict[str, JsonValue] = {
        "keywords": list[JsonValue](merge(note.keywords, proposal.keywords, settings.max_keywords)),
        "tags": list[JsonValue](merge(note.tags, proposal.tags, settings.max_tags)),
        "context": proposal.context or note.context,
    }
    now = {"keywords": list(note.keywords), "tags": list(note.tags), "context": note.context}
    return {name: value for name, value in wanted.items() if value != now[name] and name not in note.pinned}


def plan_links(
    proposals: Sequence[LinkProposal],
    strengths: Mapping[tuple[str, str], float],
    *,
    box: str,
    at: datetime,
    call: int,
    settings: Settings,
) -> tuple[list[PlannedLink], list[Skipped]]:
    """Return the links to store: no loops, no pair twice, and at most `max_links` from one note."""
    planned: list[PlannedLink] = []
    skipped: list[Skipped] = []
    pairs: set[frozenset[str]] = set()
    count: dict[str, int] = {}
    for proposal in proposals:
        pair = frozenset((proposal.source, proposal.target))
        why = _no_link(pair, pairs, count.get(proposal.source, 0), settings.max_links)
        if why is not None:
            skipped.append(Skipped(stage="link", what=f"{proposal.source} to {proposal.target}", why=why))
            continue
        pairs.add(pair)
        count[proposal.source] = count.get(proposal.source, 0) + 1
        strength = min(1.0, max(0.0, strengths.get((proposal.source, proposal.target), 0.0)))
        link = Link(box=box, strength=strength, created_at=at, **proposal.model_dump())
        cause = Cause(kind="link", notes=(proposal.source,))
        planned.append(PlannedLink(link=link, cause=cause, call=call))
    return planned, skipped


def _no_link(pair: frozenset[str], pairs: set[frozenset[str]], count: int, limit: int) -> str | None:
    if len(pair) == 1:
        return "a note is not linked to itself"
    if pair in pairs:
        return "proposed twice"
    if count >= limit:
        return f"more than {limit} links from one note"
    return None
