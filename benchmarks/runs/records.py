"""The lines of a run's files. Only those of retrieval and answers hold texts, which may be somebody's."""

from __future__ import annotations

from .journal import Record


class Ingested(Record):
    """What a system holds after a conversation; `unit` is the system and the conversation."""

    turns: int
    notes: int
    pending: int
    links: int
    revisions: int


class Retrieved(Record):
    """What a system gave for a question; `unit`, here and below, is the system and the question's key."""

    text: str
    tokens: int
    shown: tuple[str, ...]
    ranking: tuple[str, ...] | None


class Answered(Record):
    """What the reader answered."""

    answer: str
    failed: str | None = None


class Scored(Record):
    """What an answer is worth: no word of it."""

    system: str
    conversation: str
    index: int
    category: str
    answerable: bool
    disputed: bool = False
    """Whether the answer key is disputed, by the list the run names."""
    tokens: int
    """Of the context."""
    failed: bool
    refused: bool
    values: dict[str, float]
    """By measure; what is undefined for the question is left out."""


class Measured(Record):
    """What was measured by the clock, and is another number each time; `unit` begins with what was done."""

    seconds: float = 0.0
    """With the time of calls that had been made before, as long as it was then."""
    turns: int = 1
    """How many turns were written together."""
    bytes: int | None = None


def unit(system: str, key: str) -> str:
    """Return the name of one system's work on a question or a conversation."""
    return f"{system} {key}"
