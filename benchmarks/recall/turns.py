"""From notes back to the turns they stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem.model import Note


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
