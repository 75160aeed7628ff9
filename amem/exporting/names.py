"""File names for notes: readable, the same every time, and safe on every file system; no text of a note is a path."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from amem.model import Note

_WORDS = 6
_LENGTH = 60
"""Bytes of the readable part."""
_UNSAFE = re.compile(r"[^\w]+")
_SHORT_ID = 8


def names(notes: Iterable[Note]) -> dict[str, str]:
    """Return a name for each note, by id, without an ending; no two differ in case alone."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for note in notes:
        name = next(name for name in _proposals(note) if name.casefold() not in taken)
        taken.add(name.casefold())
        found[note.id] = name
    return found


def _proposals(note: Note) -> Iterable[str]:
    """Yield names: day and first words, then with the end of the id, then with a number."""
    day = f"{note.occurred_at:%Y-%m-%d}"
    words = _UNSAFE.sub(" ", unicodedata.normalize("NFC", note.content[:400])).split()[:_WORDS]
    readable = _cut(f"{day} {' '.join(words)}".strip())
    yield readable
    tail = _UNSAFE.sub("", note.id)[-_SHORT_ID:]
    yield f"{readable} {tail}"
    number = 1
    while True:
        number += 1
        yield f"{readable} {tail} {number}"


def _cut(text: str) -> str:
    return text.encode("utf-8")[:_LENGTH].decode("utf-8", "ignore").strip()
