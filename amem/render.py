"""The one function that turns a note into the text that is embedded and indexed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from amem.model import Note

RenderName = Literal["spoken-1", "paper-1"]
MONTHS = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905 - shorter to read
)


def long_date(moment: datetime) -> str:
    """Write a date as people ask for it, the same in every locale: `8 May 2023`."""
    return f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}"


def spoken(note: Note) -> str:
    """Render speaker, content, context, keywords and tags.

    The date is not in it: recall reads it from the note itself, where it tells more (docs/recall.md), and in the
    vector it would draw notes of one day together, when linking is about what connects the days.
    """
    who = f"{note.speaker}: " if note.speaker else ""
    return "\n".join([f"{who}{note.content}", *_known_for(note)])


def paper(note: Note) -> str:
    """Render equation 3 of A-Mem (arXiv 2502.12110): content, keywords, tags and context, concatenated."""
    return " ".join([note.content, *note.keywords, *note.tags, note.context]).strip()


def _known_for(note: Note) -> list[str]:
    lists = (", ".join(note.keywords), ", ".join(note.tags))
    return [part for part in (note.context, *lists) if part]


def renderer(name: RenderName) -> Callable[[Note], str]:
    """Return the function of that name; the name is part of the embedding's fingerprint."""
    return {"spoken-1": spoken, "paper-1": paper}[name]
