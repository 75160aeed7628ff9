"""The words of a question: which carry meaning, and what kind of answer they ask for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.render import MONTHS
from amem.store.sqlite import words_of

if TYPE_CHECKING:
    from collections.abc import Iterable

# "may" is not among them: it is a month.
_STOP_WORDS = """
a an the and or but if of in on at to for from by with about as into than then so is are was were be been being am do
does did doing done have has had having i me my mine we us our you your yours he him his she her hers it its they them
their this that these those there here what which who whom whose when where why how will would can could shall should
might must not no nor just also too very s t d ll m re ve
"""
_STOP = frozenset(_STOP_WORDS.split())
_TIME_WORD = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|weeks?|weekend|months?|years?|recently|since|days?|night"
    rf"|monday|tuesday|wednesday|thursday|friday|saturday|sunday|{'|'.join(MONTHS)}|\d{{4}})\b",
    re.IGNORECASE,
)
_ASKS_WHEN = re.compile(
    r"^\s*(?:when|how long|(?:in )?(?:what|which) (?:year|month|day|date|time))\b"
    r"|\b(?:what|which) (?:year|month|day|date|time)\b",
    re.IGNORECASE,
)


def content_words(question: str, speakers: Iterable[str] = ()) -> list[str]:
    """Return the distinct words that carry meaning; the names of speakers do not, they are a signal of their own."""
    names = {word for speaker in speakers for word in words_of(speaker)}
    return [word for word in words_of(question) if word not in _STOP and word not in names]


def told_share(said: str, source: str) -> float:
    """Return how much of what is said, in words with a meaning, a source holds, inflections apart; 1 of nothing."""
    words, known = content_words(said), {_stem(word) for word in content_words(source)}
    return sum(_stem(word) in known for word in words) / len(words) if words else 1.0


def _stem(word: str) -> str:
    """Return a word without what inflection changes, roughly; words of two and more signs of CJK are bigrams."""
    return word[: max(3, len(word) - 3)] if len(word) > 4 else word


def named(question: str, speakers: Iterable[str]) -> list[str]:
    """Return the speakers whose whole name stands in the question."""
    folded = question.casefold()
    return [s for s in speakers if re.search(rf"(?<!\w){re.escape(s.casefold())}(?!\w)", folded)]


def asks_when(question: str) -> bool:
    """Whether a question asks for a time (English)."""
    return _ASKS_WHEN.search(question) is not None


def is_question(text: str) -> bool:
    """Whether a turn ends in a question mark, of any script that has one; a picture's caption may follow it."""
    return _without_aside(text.rstrip()).endswith(("?", "\uff1f", "\u061f"))  # Latin, CJK, Arabic


def _without_aside(spoken: str) -> str:
    """Return a text without the brackets it ends in. No pattern: thousands of brackets would take one minutes."""
    if not spoken.endswith("]"):
        return spoken
    start = spoken.find("[", spoken.rfind("]", 0, -1) + 1)
    return spoken if start < 0 else spoken[:start].rstrip()


def has_time_word(text: str) -> bool:
    """Whether a turn speaks of a time (English)."""
    return _TIME_WORD.search(text) is not None
