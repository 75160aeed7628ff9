"""Notes as a prompt shows them: numbered, never by id, with the table that maps the numbers back."""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING

from amem.fences import attribute

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from amem.model import Note


LONGEST = 8_000
"""Characters of one text that a prompt shows: more would leave a model no room for the other turns."""
_END = 2_000
_WORD = re.compile(r"\w+")


class Numbered:
    """Notes under the numbers one request shows them by."""

    def __init__(self, notes: Sequence[Note], first: int = 0) -> None:
        self.notes = tuple(notes)
        self._first = first

    def __len__(self) -> int:
        return len(self.notes)

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids behind the numbers, in order."""
        return tuple(note.id for note in self.notes)

    def note(self, number: int) -> Note | None:
        """Return the note behind a number, or None where the model made the number up."""
        index = number - self._first
        return self.notes[index] if 0 <= index < len(self.notes) else None

    def anchored(self, number: int, words: str) -> Note | None:
        """Return the turn that an entry is about: the one of its number, unless its words begin another one alone."""
        note = self.note(number)
        begun = [turn for turn in self.notes if _begins(turn.content, words)]
        return note if note in begun or len(begun) != 1 else begun[0]

    def turns(self) -> list[JsonValue]:
        """Return the notes as raw turns: what was said, when and by whom."""
        return [{"number": self._first + i, **_turn(note)} for i, note in enumerate(self.notes)]

    def known(self) -> list[dict[str, JsonValue]]:
        """Return the notes with what they are known for."""
        return [{"number": self._first + i, **known(note)} for i, note in enumerate(self.notes)]


def _begins(text: str, words: str) -> bool:
    wanted = _plain(words)
    return bool(wanted) and _plain(text[: 4 * len(words) + 80]).startswith(wanted)


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def _turn(note: Note) -> dict[str, JsonValue]:
    return {"date": f"{note.occurred_at:%Y-%m-%d}", "speaker": attribute(note.speaker), "text": excerpt(note.content)}


def earlier(notes: Sequence[Note]) -> list[JsonValue]:
    """Return turns that are shown for understanding only, without numbers."""
    return [dict(_turn(note)) for note in notes]


def known(note: Note) -> dict[str, JsonValue]:
    """Return one note with what it is known for."""
    about: dict[str, JsonValue] = {
        "context": excerpt(note.context),
        "keywords": _some(note.keywords),
        "tags": _some(note.tags),
    }
    return {**_turn(note), **about}


def excerpt(text: str) -> str:
    """Return a text as prompts show it: whole, or its beginning and its end where it is very long."""
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST - _END]} […{len(text) - LONGEST} characters left out…] {text[-_END:]}"


def _some(words: Sequence[str]) -> list[JsonValue]:
    """Return as many words as there is room for; models give a dozen, callers may give a thousand."""
    lengths = accumulate(len(word) for word in words)
    return [word for word, length in zip(words, lengths, strict=True) if length <= LONGEST]
