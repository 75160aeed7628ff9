"""Plain retrieval over single turns: BM25, dense vectors, and both fused by their ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..recall.baselines import fused, ranked  # noqa: TID252 - in a wheel, this package has another name
from ..recall.bm25 import BM25  # noqa: TID252 - likewise
from .lines import as_text, packed
from .plain import Turns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from amem.embedding import Embedder
    from amem.tokens import Tokenizer

    from ..datasets.conversation import Conversation, Turn  # noqa: TID252 - likewise
    from .protocol import Found, Query

    Places = NDArray[np.int64]

_HITS = 100
"""Turns that packing chooses from, as in amem's `recall`."""
_DIGITS = 6
"""Cosines are rounded: the last bits hang on the batch, and equal ones are ordered by place."""


class Ranked(Turns):
    """What the rankings share: turns that wait are indexed together, and the best are packed."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        super().__init__(tokenizer)
        self._waiting: list[Turn] = []

    async def reset(self, conversation: Conversation) -> None:
        """Begin with an empty index."""
        await super().reset(conversation)
        self._waiting = []

    async def add(self, turn: Turn) -> int:
        """Put a turn to those that wait."""
        self._waiting.append(turn)
        return 0

    async def finish(self) -> int:
        """Index what waits."""
        waiting, self._waiting = self._waiting, []
        if waiting:
            await self.index([as_text(turn) for turn in waiting])
            self._turns += waiting
        return len(waiting)

    async def search(self, query: Query, budget: int) -> Found:
        """Pack the best turns."""
        places = (await self.rank(query.text))[:_HITS]
        return packed([self._turns[place] for place in places], budget, self._tokenizer)

    async def index(self, texts: list[str]) -> None:
        """Take texts in, after those that are there."""
        raise NotImplementedError

    async def rank(self, question: str) -> Places:
        """Return places of turns, best first."""
        raise NotImplementedError


class Lexical(Ranked):
    """BM25 over stemmed words; a turn that shares none with the question is not found."""

    async def reset(self, conversation: Conversation) -> None:
        """Begin with an empty index."""
        await super().reset(conversation)
        self._bm25 = BM25()

    async def index(self, texts: list[str]) -> None:
        """Count the words of more turns."""
        self._bm25.extend(texts)

    async def rank(self, question: str) -> Places:
        """Rank by BM25."""
        scores = self._bm25.scores(question)
        return ranked(scores, only=scores > 0)


class Dense(Ranked):
    """Cosine of the embeddings: plain RAG."""

    def __init__(self, tokenizer: Tokenizer, embedder: Embedder) -> None:
        super().__init__(tokenizer)
        self._embedder = embedder

    async def reset(self, conversation: Conversation) -> None:
        """Begin without a vector."""
        await super().reset(conversation)
        self._rows: list[NDArray[np.float32]] = []

    async def index(self, texts: list[str]) -> None:
        """Embed more turns."""
        self._rows.append(await self._embedder.embed(texts))

    async def rank(self, question: str) -> Places:
        """Rank by the cosine."""
        if not self._rows:
            return np.zeros(0, dtype=np.int64)
        self._rows = [np.concatenate(self._rows)]
        (vector,) = await self._embedder.embed([question])
        cosines = np.round((self._rows[0] @ vector).astype(float), _DIGITS)
        return ranked(cosines, only=np.ones(len(cosines), dtype=bool))


class Hybrid(Ranked):
    """BM25 and dense vectors, fused by reciprocal ranks (Cormack, Clarke and Büttcher 2009)."""

    def __init__(self, tokenizer: Tokenizer, embedder: Embedder, k: int = 60) -> None:
        super().__init__(tokenizer)
        self._k = k
        self._arms: tuple[Ranked, ...] = (Lexical(tokenizer), Dense(tokenizer, embedder))

    async def reset(self, conversation: Conversation) -> None:
        """Begin with two empty indexes."""
        await super().reset(conversation)
        for arm in self._arms:
            await arm.reset(conversation)

    async def index(self, texts: list[str]) -> None:
        """Index more turns in both."""
        for arm in self._arms:
            await arm.index(texts)

    async def rank(self, question: str) -> Places:
        """Rank by the sum of 1 / (k + rank)."""
        both = [await arm.rank(question) for arm in self._arms]
        scores = fused(both, len(self._turns), k=self._k)
        return ranked(scores, only=scores > 0)
