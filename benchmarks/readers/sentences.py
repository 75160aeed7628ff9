"""The sentences of a context, and what of a question each of them has."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from amem.recall.words import is_question, named
from amem.render import long_date

from ..recall.bm25 import stems  # noqa: TID252 - in a wheel, this package has another name

if TYPE_CHECKING:
    from collections.abc import Sequence

_LINE = re.compile(r"\[\d+\] (\d{4}-\d\d-\d\d)(?: (.*?))?: (.*)")
_END = re.compile(r"(?<=[.!?])\s+")
_NAMES = re.compile(r"(?<=[\w,;'\u2019] )[A-Z]\w+")
"""Words with a capital inside a sentence."""
_ASKER = re.compile(r"[\w.'\u2019-]+(?: [\w.'\u2019-]+){0,2}: ")
"""Who asks, in front of a question of DialSim: no part of it."""
_NAME, _ABSENT = 3.0, 0.5
"""Weights of a name in a question, and of a word that nobody says in the context; other words have 1."""
_NAMED = 1.3
"""How much more a sentence counts that is said by somebody whom the question names."""
_REST, _BEFORE = 0.8, 0.4
"""What the words of the rest of the line count for, and those of the line before."""


class Sentence(NamedTuple):
    """A sentence of a context."""

    text: str
    speaker: str
    day: datetime
    own: frozenset[str]
    """Its stems."""
    line: frozenset[str]
    """Those of its whole line."""
    before: frozenset[str]
    """Those of the line before."""
    about: frozenset[str]
    """Those of its speaker and its day."""


def sentences(context: str) -> list[Sentence]:
    """Return the sentences of a context's lines, in order."""
    lines = [_read(found) for found in map(_LINE.fullmatch, context.splitlines()) if found]
    parts = [(place, part) for place, (_, _, text) in enumerate(lines) for part in _END.split(text)]
    who = [f"{speaker} {long_date(day)}" for day, speaker, _ in lines]
    known = stemmed([*(text for _, _, text in lines), *who, *(part for _, part in parts)])
    whole, about, own = known[: len(lines)], known[len(lines) : 2 * len(lines)], known[2 * len(lines) :]
    return [
        Sentence(
            text=part,
            speaker=lines[place][1],
            day=lines[place][0],
            own=words,
            line=whole[place],
            before=whole[place - 1] if place else frozenset(),
            about=about[place],
        )
        for (place, part), words in zip(parts, own, strict=True)
    ]


class Wanted(NamedTuple):
    """What a question is about."""

    words: frozenset[str]
    """Its stems, without the names of those who speak: they are a signal of their own."""
    weights: dict[str, float]
    speakers: frozenset[str]

    @classmethod
    def of(cls, question: str, said: Sequence[Sentence]) -> Wanted:
        """Read a question over a context."""
        asker = _ASKER.match(question)
        asked = question[asker.end() :] if asker else question
        speakers = frozenset(named(asked, sorted({one.speaker for one in said if one.speaker})))
        names, plain, own = stemmed([" ".join(_NAMES.findall(asked)), asked, " ".join(sorted(speakers))])
        heard = frozenset[str]().union(*(one.own for one in said))
        weights = {word: _NAME if word in names else 1.0 if word in heard else _ABSENT for word in plain - own}
        return cls(plain - own, weights, speakers)

    def share(self, sentence: Sentence) -> float:
        """Return the share of the question's words, by weight, that a sentence and what stands beside it have."""
        total = self._weight(self.words)
        own = self._weight(self.words & sentence.own)
        rest = self._weight(self.words & sentence.line - sentence.own)
        before = self._weight(self.words & sentence.before - sentence.line)
        return (own + _REST * rest + _BEFORE * before) / total if total else 0.0

    def worth(self, sentence: Sentence) -> float:
        """Return the same with a bonus for who is named, and nothing for a question."""
        if is_question(sentence.text):
            return 0.0
        return self.share(sentence) * (_NAMED if sentence.speaker in self.speakers else 1.0)

    def _weight(self, words: frozenset[str]) -> float:
        return sum(self.weights[word] for word in sorted(words))


def stemmed(texts: Sequence[str]) -> list[frozenset[str]]:
    """Return the distinct stems of each text, without stop words."""
    return [frozenset(words) for words in stems(texts)]


def _read(line: re.Match[str]) -> tuple[datetime, str, str]:
    day, speaker, text = line.groups()
    return datetime.fromisoformat(day).replace(tzinfo=UTC), speaker or "", text
