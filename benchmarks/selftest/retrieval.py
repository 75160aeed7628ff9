"""What BM25 over plain words finds of LoCoMo's evidence: a floor for any memory, and a check of ids and of recall.

Okapi's BM25 as the package rank-bm25 has it (k1 1.5, b .75, a word in more than half of the turns counts a quarter of
the mean), over `Speaker: text` without captions, words not stemmed; questions with evidence, ids repaired. Values were
published to three places, of which the order of turns with equal scores decides the last.
"""

from __future__ import annotations

import re
from collections import Counter
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from ..metrics import official  # noqa: TID252 - in a wheel, this package has another name
from ..metrics.evidence import worth  # noqa: TID252 - likewise
from .checks import Check

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from ..datasets.locomo import Conversation, Locomo, Question  # noqa: TID252 - likewise

KS = (5, 10, 20, 40)
TOLERANCE = 1e-3
ANSWERABLE = (0.436, 0.516, 0.578, 0.647)
"""Recall at each of KS, over the categories 1 to 4."""
BY_CATEGORY = (0.219, 0.609, 0.243, 0.610, 0.587)
"""Recall at 10, in the categories from 1 to 5."""
_K1, _B, _EPSILON = 1.5, 0.75, 0.25
_WORD = re.compile(r"\w+")


def retrieval_checks(data: Locomo, moved: Callable[[int], None]) -> Iterator[Check]:
    """Ask BM25 every question with evidence; yield what it finds beside what it should.

    Args:
        data: the official file.
        moved: told how many more questions were asked.
    """
    found: list[tuple[int, tuple[float, ...]]] = []
    for conversation in data.conversations:
        found += _asked(conversation)
        moved(len(conversation.questions))
    answerable = [recalls for category, recalls in found if category != official.ADVERSARIAL]
    for place, k in enumerate(KS):
        name = f"BM25, plain words: evidence recall at {k}, categories 1 to 4"
        yield Check(name, ANSWERABLE[place], _mean([recalls[place] for recalls in answerable]), TOLERANCE)
    for category, expected in enumerate(BY_CATEGORY, start=1):
        recalls = [recalls[KS.index(10)] for of, recalls in found if of == category]
        yield Check(
            f"BM25, plain words: evidence recall at 10, category {category}", expected, _mean(recalls), TOLERANCE
        )


class Okapi:
    """BM25 over texts, as rank-bm25's `BM25Okapi` computes it."""

    def __init__(self, texts: Sequence[str]) -> None:
        bags = [Counter(words(text)) for text in texts]
        lengths = np.array([bag.total() for bag in bags], dtype=float)
        self._norm = _K1 * (1 - _B + _B * lengths / max(float(lengths.mean()) if bags else 0.0, 1e-9))
        self._counts: dict[str, NDArray[np.float64]] = {}
        for place, bag in enumerate(bags):
            for word, count in bag.items():
                self._counts.setdefault(word, np.zeros(len(bags)))[place] = count
        holders = np.array([np.count_nonzero(counts) for counts in self._counts.values()], dtype=float)
        idf = np.log(len(bags) - holders + 0.5) - np.log(holders + 0.5)
        common = _EPSILON * float(idf.mean()) if len(idf) else 0.0
        self._idf = dict(zip(self._counts, np.where(idf < 0, common, idf).tolist(), strict=True))

    def scores(self, question: str) -> NDArray[np.float64]:
        """Return the score of each text; a word counts as often as the question has it."""
        total = np.zeros(len(self._norm))
        for word in words(question):
            if word in self._counts:
                counts = self._counts[word]
                total += self._idf[word] * counts * (_K1 + 1) / (counts + self._norm)
        return total


def words(text: str) -> list[str]:
    """Return the words of a text, in lower case."""
    return _WORD.findall(text.lower())


def _asked(conversation: Conversation) -> list[tuple[int, tuple[float, ...]]]:
    turns = [turn for session in conversation.sessions for turn in session.turns]
    bm25 = Okapi([f"{turn.speaker}: {turn.text}" for turn in turns])
    ids = np.array([turn.id for turn in turns])
    return [
        (question.category, _recalls(question, bm25, ids)) for question in conversation.questions if question.evidence
    ]


def _recalls(question: Question, bm25: Okapi, ids: NDArray[np.str_]) -> tuple[float, ...]:
    best = np.argsort(-bm25.scores(question.question), kind="stable")[: max(KS)]
    return worth([(str(turn),) for turn in ids[best]], [], question.evidence, None, ks=KS).recall_at


def _mean(values: Sequence[float]) -> float:
    return fmean(values) if values else 0.0
