"""BM25 as a baseline: Robertson and Zaragoza 2009, over words stemmed as the ledger's full-text index stems them."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from contextlib import closing
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from amem.recall.words import content_words
from amem.store.sqlite import searchable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

K1, B = 0.9, 0.4
"""The best of nine pairs on LoCoMo's conversations 26, 30 and 41; the usual 1.2 and 0.75 find .02 less."""
_WORD = re.compile(r"\w+")
_TABLES = (
    "CREATE VIRTUAL TABLE text USING fts5(body, tokenize = 'porter unicode61')",
    "CREATE VIRTUAL TABLE word USING fts5vocab(text, 'instance')",
)


class BM25:
    """Scores texts against questions; stop words count for nothing, and a question's word counts once."""

    def __init__(self, texts: Sequence[str] = (), *, k1: float = K1, b: float = B) -> None:
        self._k1, self._b = k1, b
        self._lengths: list[int] = []
        self._postings: dict[str, tuple[list[int], list[int]]] = {}
        self.extend(texts)

    def extend(self, texts: Sequence[str]) -> None:
        """Take more texts in, after those that are there."""
        for words in stems(texts):
            place = len(self._lengths)
            self._lengths.append(len(words))
            for word, count in Counter(words).items():
                places, counts = self._postings.setdefault(word, ([], []))
                places.append(place)
                counts.append(count)

    def scores(self, question: str) -> NDArray[np.float64]:
        """Return the score of each text; 0 where it shares no word with the question."""
        lengths = np.array(self._lengths, dtype=float)
        total = np.zeros(len(lengths))
        if not len(lengths):
            return total
        norm = self._k1 * (1 - self._b + self._b * lengths / max(lengths.mean(), 1e-9))
        (words,) = stems([question])
        for word in dict.fromkeys(words):
            if word not in self._postings:
                continue
            places, counts = (np.array(column) for column in self._postings[word])
            idf = np.log(1 + (len(lengths) - len(places) + 0.5) / (len(places) + 0.5))
            total[places] += idf * counts * (self._k1 + 1) / (counts + norm[places])
        return total


def stems(texts: Sequence[str]) -> list[list[str]]:
    """Return each text's words in order, stemmed and without stop words."""
    found: list[list[str]] = [[] for _ in texts]
    with closing(sqlite3.connect(":memory:")) as connection:
        for table in _TABLES:
            connection.execute(table)
        rows = ((place, " ".join(filter(_tells, _WORD.findall(searchable(text))))) for place, text in enumerate(texts))
        connection.executemany("INSERT INTO text (rowid, body) VALUES (?, ?)", rows)
        for place, word in connection.execute("SELECT doc, term FROM word ORDER BY doc, offset"):
            found[place].append(word)
    return found


@lru_cache(maxsize=100_000)
def _tells(word: str) -> bool:
    """Whether a word carries meaning."""
    return bool(content_words(word))
