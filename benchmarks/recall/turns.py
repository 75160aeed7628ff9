"""From a conversation's turns to notes, and from notes back to the turns they stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.intake import NewNote

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem.model import Note
    from benchmarks.datasets.locomo import Conversation


def turn_id(conversation: str, turn: str) -> str:
    """Return a turn's id in the whole file, as `amem import` gives it to the turn's note as its source."""
    return f"{conversation}/{turn}"


def session_of(turn: str) -> str:
    """Return what the ids of a session's turns have in common."""
    return turn.rpartition(":")[0]


def as_notes(conversation: Conversation) -> list[NewNote]:
    """Return one note for each turn."""
    return [
        NewNote(
            content=turn.said,
            speaker=turn.speaker,
            occurred_at=session.at,
            session_id=f"{conversation.id}/session_{session.number}",
            source=turn_id(conversation.id, turn.id),
        )
        for session in conversation.sessions
        for turn in session.turns
    ]


def turns_of(notes: Mapping[str, Note]) -> dict[str, tuple[str, ...]]:
    """Return for each note the messages it was made from, through the notes it was distilled from, each once."""
    return {note_id: tuple(_traced(note_id, notes, set())) for note_id in notes}


def _traced(note_id: str, notes: Mapping[str, Note], passed: set[str]) -> dict[str, None]:
    """Return the sources of a note that are no notes; an ordered set."""
    passed.add(note_id)
    found: dict[str, None] = {}
    for source in notes[note_id].sources:
        if source not in notes:
            found[source] = None
        elif source not in passed:
            found.update(_traced(source, notes, passed))
    return found
