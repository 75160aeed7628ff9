"""The one function that turns a note into the text that is embedded and indexed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from amem.model import Note

RenderName = Literal["dated-1", "paper-1"]
MONTHS = (
    "January February March April May June July August September October November December".split()  # noqa: SIM905 - shorter to read
)


def long_date(moment: datetime) -> str:
    """Write a date as people ask for it, the same in every locale: `8 May 2023`."""
    return f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}"


def dated(note: Note) -> str:
    """Render date, speaker, content, context, keywords and tags.

    The date and the speaker are in front because they pay: without the date evidence recall at 10 on LoCoMo
    falls from .468 to .416 (dense) and from .594 to .572 (BM25).
    """
    who = f"{note.speaker}: " if note.speaker else ""
    head = f"{long_date(note.occurred_at)} {who}{note.content}"
    return "\n".join([head, *_known_for(note)])


def paper(note: Note) -> str:
    """Render equation 3 of A-Mem (arXiv 2502.12110): content, keywords, tags and context, concatenated."""
    return " ".join([note.content, *note.keywords, *note.tags, note.context]).strip()


def _known_for(note: Note) -> list[str]:
    lists = (", ".join(note.keywords), ", ".join(note.tags))
    return [part for part in (note.context, *lists) if part]


def renderer(name: RenderName) -> Callable[[Note], str]:
    """Return the function of that name; the name is part of the embedding's fingerprint."""
    return {"dated-1": dated, "paper-1": paper}[name]
