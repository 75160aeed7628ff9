"""A conversation's turns as amem is given them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.intake import NewNote

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .conversation import Turn


def as_notes(turns: Iterable[Turn]) -> list[NewNote]:
    """Return one note for each turn, with the turn's id as its source.

    Raises:
        InputError: a turn has no text.
    """
    return [
        NewNote.of(
            {
                "content": turn.text,
                "speaker": turn.speaker,
                "occurred_at": turn.at,
                "session_id": turn.session,
                "source": turn.id,
            }
        )
        for turn in turns
    ]
