"""What a summary may not lose: numbers, names, a "not", the days that `tomorrow` meant, and any of its notes.

It stands in the place of its notes from then on, so that what it leaves out is found no more. No IO.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.ingest.relative import meant_dates
from amem.recall.words import told_share

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from amem.model import Note

_TOLD = 0.5
"""Share of each note's words with a meaning that the summary must have."""
_NAMES = 0.25
"""Share of words in capitals, within sentences, up to which they are names: German writes every noun so."""
_NUMBER = re.compile(r"\d+")
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
_SENTENCE = re.compile(r"[.!?\u2026:;\n]+[\s\"'\u201c\u201e)]*|^[\s\"'\u201c\u201e(]*")
_NOT = re.compile(
    r"\b(?:not|cannot|never|no|nobody|nothing|none|without|nicht|keine?[mnrs]?|nie|niemals|niemand|nichts|ohne|pas|jamais|rien"
    r"|sans|nunca|nada|nadie|sin|non|niente|senza|n\u00e3o|sem|\u043d\u0435|\u043d\u0435\u0442|\u0431\u0435\u0437)\b"
    r"|n['\u2019]t\b|[\u4e0d\u6ca1\u7121\u65e0]|\u306a\u3044|\u307e\u305b\u3093|\uc548 |\uc5c6|\ubabb",
    re.IGNORECASE,
)


def lost(notes: Sequence[Note], text: str) -> str | None:
    """Say what a summary of notes leaves out, or return None."""
    missing = list(dict.fromkeys(_missing(notes, text)))
    if missing:
        return f"the text leaves out {', '.join(missing)}; say all that the notes say"
    for number, note in enumerate(notes):
        if told_share(note.content, text) < _TOLD:
            return f"the text tells too little of note {number}; say all that the notes say"
    return None


def dated(notes: Sequence[Note], text: str) -> str:
    """Return a summary with the days that its notes named relative to their own: it has one date, they had several."""
    meant = dict.fromkeys(found for note in notes for found in meant_dates(note.content, note.occurred_at.date()))
    missing = [f"{phrase}: {date}" for phrase, date in meant if date not in text]
    return f"{text} ({'; '.join(missing)})" if missing else text


def _missing(notes: Sequence[Note], text: str) -> Iterator[str]:
    numbers, words = set(_NUMBER.findall(text)), {word.casefold() for word in _WORD.findall(text)}
    for note in notes:
        yield from (number for number in _NUMBER.findall(note.content) if number not in numbers)
        yield from (name for name in _names(note.content) if name.casefold() not in words)
    if not _NOT.search(text):
        yield from (found[0] for note in notes if (found := _NOT.search(note.content)))


def _names(text: str) -> list[str]:
    """Return the words in capitals that begin no sentence, where these mark names and not all nouns."""
    starts = {found.end() for found in _SENTENCE.finditer(text)}
    inner = [found[0] for found in _WORD.finditer(text) if found.start() not in starts]
    names = [word for word in inner if word[0].isupper() and word not in ("I", "I'm", "I'd", "I've", "I'll")]
    return names if len(names) <= max(1, _NAMES * len(inner)) else []
