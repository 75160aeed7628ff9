"""A reader without a model: the best sentence's words, a date by rules, or a refusal where nothing matches.

It is weak, quick, and the same everywhere: for machines without a model, and for CI. It reads what a language model
would: the context's lines, `[3] 2023-05-25 Melanie: …`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.recall.timefocus import time_focus
from amem.recall.words import asks_when
from amem.render import MONTHS, long_date

from ..metrics.dialsim import LETTERS, UNKNOWN  # noqa: TID252 - in a wheel, this package has another name
from .protocol import NOT_MENTIONED, Answer
from .sentences import Wanted, sentences, stemmed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from amem.llm.protocol import LLM

    from .protocol import Asked
    from .sentences import Sentence

_WORD = re.compile(r"\w+(?:['\u2019-]\w+)*")
_ENOUGH = 0.5
"""Of the weight of a question's words, the share that a sentence and what stands beside it must have."""


class ExtractiveReader:
    """Takes answers out of the context."""

    about = "extractive reader, version 1"

    async def answer(self, asked: Asked, llm: LLM | None) -> Answer:  # noqa: ARG002 - the protocol's
        """Answer from the sentence that shares most with the question."""
        said = sentences(asked.context)
        wanted = Wanted.of(asked.question, said)
        close = [one for one in said if wanted.worth(one) and wanted.share(one) >= _ENOUGH]
        if asked.options:
            return Answer(text=_choice(asked.options, close, wanted))
        return Answer(text=_open(asked.question, close, wanted))


def _open(question: str, close: Sequence[Sentence], wanted: Wanted) -> str:
    best = _best(close, wanted)
    if best is None:
        return NOT_MENTIONED
    return _when(best) if asks_when(question) else _span(best.text, wanted.words) or best.text


def _choice(options: Sequence[str], close: Sequence[Sentence], wanted: Wanted) -> str:
    """Return the option that the sentence most about the question has the words of; the last one where none has."""
    named = list(zip(LETTERS, options, stemmed(options), strict=True))[:-1]
    held = [one for one in close if any(words and words <= one.own | one.about for *_, words in named)]
    best = _best(held, wanted)
    if best is None:
        return f"({UNKNOWN}) {options[-1]}"
    return next(f"({letter}) {text}" for letter, text, words in named if words and words <= best.own | best.about)


def _best(close: Sequence[Sentence], wanted: Wanted) -> Sentence | None:
    """Return the sentence that is most about a question; of equals the newest, which may have changed the others."""
    place = max(range(len(close)), key=lambda place: (wanted.worth(close[place]), place), default=None)
    return None if place is None else close[place]


def _when(sentence: Sentence) -> str:
    """Return the time a sentence speaks of, or the day on which it was said."""
    span = time_focus(sentence.text, sentence.day)
    if span is None:
        return long_date(sentence.day)
    days = (span.end - span.start).days
    if days <= 1:
        return long_date(span.start)
    if days < 28:
        return f"the week of {long_date(span.start)}"
    return str(span.start.year) if days > 300 else f"{MONTHS[span.start.month - 1]} {span.start.year}"


def _span(text: str, wanted: frozenset[str]) -> str:
    """Return the longest run of a sentence's words that are not the question's, from one telling word to another."""
    words = list(_WORD.finditer(text))
    known = stemmed([word[0] for word in words])
    kept = [bool(stem) and not stem & wanted for stem in known]
    runs = list(_runs(kept, [bool(stem & wanted) for stem in known]))
    if not runs:
        return ""
    start, end = max(runs, key=lambda run: (sum(kept[run[0] : run[1]]), run[0]))
    return text[words[start].start() : words[end - 1].end()]


def _runs(telling: Sequence[bool], heard: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Yield stretches without a word of the question, cut to begin and end with a telling one."""
    start = 0
    for place, stop in enumerate([*heard, True]):
        if not stop:
            continue
        inside = [at for at in range(start, place) if telling[at]]
        if inside:
            yield inside[0], inside[-1] + 1
        start = place + 1
