"""Embedding texts: the protocol, and the embedders that settings can name.

`minilm` comes with `pip install` and runs here (`amem.onnx`), `folder:<path>` runs another model file, `hash` needs
no model at all, and `litellm:<model>` asks a provider. No model is loaded, and nobody is asked, before the first text.
"""

from __future__ import annotations

import hashlib
import math
import re
from asyncio import to_thread
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from amem.errors import EmbeddingError, SettingsError
from amem.pooling import pool
from amem.tokens import encodable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from amem.pooling import Vectors
    from amem.settings import Settings


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def name(self) -> str:
        """What a person calls it."""
        ...

    @property
    def fingerprint(self) -> str:
        """What must be equal for two vectors to be comparable."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector; 0 while nobody has asked a provider that does not say."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row of length 1 for each text, float32.

        Raises:
            EmbeddingError: the model failed, or is not installed.
        """
        ...


class HashEmbedder:
    """Hash words and their letter trigrams into a vector: texts that share words or stems are near.

    It depends on nothing but the text, so that vectors are the same on every machine and in every process.

    Args:
        dimension: Length of the vectors.
    """

    def __init__(self, dimension: int = 256) -> None:
        self.dimension = dimension
        self.name = "hash"
        self.fingerprint = f"hash-{dimension}-v1"

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts, one L2-normalised row each."""
        rows = await to_thread(lambda: [self._row(text) for text in texts])
        return np.array(rows, dtype=np.float32).reshape(len(rows), self.dimension)

    def _row(self, text: str) -> list[float]:
        """Add whole numbers up, so that no rounding depends on the order or on the processor."""
        sums = [0] * self.dimension
        for feature, weight in _features(text).items():
            digest = int.from_bytes(hashlib.blake2b(feature.encode("utf-8", "replace"), digest_size=8).digest())
            sums[(digest >> 1) % self.dimension] += weight if digest & 1 else -weight
        length = math.sqrt(sum(value * value for value in sums))
        if length == 0:
            return [1.0, *[0.0] * (self.dimension - 1)]
        return [value / length for value in sums]


_WORD_WEIGHT = 3


def _features(text: str) -> Counter[str]:
    features: Counter[str] = Counter()
    for word in re.findall(r"\w+", text.casefold()):
        features[word] += _WORD_WEIGHT
        features.update(f"{a}{b}{c}#" for a, b, c in zip(f"^{word}", word, f"{word[1:]}$", strict=False))
    return features


class RemoteEmbedder:
    """A model behind a provider's API; long texts go as several pieces and are pooled by their lengths.

    Args:
        model: the provider's name of it.
        ask: sends texts and returns their vectors, in order.
        piece: characters of one piece. Providers count tokens, of which a character is at most one or so.
        batch: pieces sent with one request.
    """

    def __init__(
        self,
        model: str,
        ask: Callable[[list[str]], Awaitable[list[list[float]]]],
        *,
        piece: int = 6000,
        batch: int = 64,
    ) -> None:
        self.name = model
        self.fingerprint = f"litellm-{model}"
        self.dimension = 0
        self._ask = ask
        self._piece = piece
        self._batch = batch

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row of length 1 for each text.

        Raises:
            EmbeddingError: the provider failed, or answered with something else than one vector for each piece.
        """
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        pieces = [
            (owner, text[start : start + self._piece] or " ")  # providers refuse the empty text
            for owner, text in enumerate(map(encodable, texts))
            for start in range(0, max(len(text), 1), self._piece)
        ]
        rows: list[list[float]] = []
        for start in range(0, len(pieces), self._batch):
            rows += await self._answered([piece for _, piece in pieces[start : start + self._batch]])
        owners, weights = [owner for owner, _ in pieces], [len(piece) for _, piece in pieces]
        with np.errstate(over="ignore"):  # too large a number becomes infinite, and is refused as such
            return pool(np.array(rows, dtype=np.float32), owners, weights)

    async def _answered(self, pieces: list[str]) -> list[list[float]]:
        rows = await self._ask(pieces)
        lengths = {len(row) for row in rows}
        if len(rows) != len(pieces) or len(lengths | {self.dimension or max(lengths)}) != 1:
            raise EmbeddingError(
                f"{self.name} answered {len(pieces)} texts with {len(rows)} vectors of length {sorted(lengths)}"
                f" (expected {self.dimension or 'one'}). Nothing was embedded; check the model's name and server."
            )
        self.dimension = lengths.pop()
        return rows


class CheckedEmbedder:
    """Another embedder, whose answers are looked at before anything is made of them, whoever wrote it.

    Args:
        inner: the other one.
        dimension: length of the vectors that are stored already, where `inner` does not say its own.
    """

    def __init__(self, inner: Embedder, dimension: int = 0) -> None:
        self._inner = inner
        self._expected = inner.dimension or dimension

    @property
    def name(self) -> str:
        """The other's."""
        return self._inner.name

    @property
    def fingerprint(self) -> str:
        """The other's."""
        return self._inner.fingerprint

    @property
    def dimension(self) -> int:
        """The other's."""
        return self._inner.dimension

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row for each text.

        Raises:
            EmbeddingError: the model failed, or gave something else than one sound vector for each text.
        """
        expected = self._expected
        rows = await self._inner.embed(texts)
        wanted = (len(texts), expected or (rows.shape[-1] if isinstance(rows, np.ndarray) and rows.ndim else 0))
        if not isinstance(rows, np.ndarray) or rows.shape != wanted or not np.isfinite(rows).all():
            gave = f"numbers of shape {rows.shape}" if isinstance(rows, np.ndarray) else type(rows).__name__
            raise EmbeddingError(
                f"{self.name} should give finite vectors of shape {wanted} for {len(texts)} texts, and gave {gave}."
                " Nothing was embedded; notes are kept and found by their words."
            )
        self._expected = rows.shape[1]
        return rows


def open_embedder(settings: Settings) -> Embedder:
    """Return the embedder that `settings.embedding` names.

    Raises:
        SettingsError: the name is unknown.
    """
    kind, _, rest = settings.embedding.partition(":")
    if settings.embedding == "hash":
        return HashEmbedder()
    if settings.embedding == "minilm" or (kind == "folder" and rest):
        from amem import onnx

        return onnx.from_folder(Path(rest)) if rest else onnx.minilm()
    if kind == "litellm" and rest:
        return RemoteEmbedder(rest, _provider(rest, settings))
    raise SettingsError(
        f"embedding: unknown model {settings.embedding!r}. Use `minilm`, `hash`, `folder:<path>` or `litellm:<model>`."
    )


def _provider(model: str, settings: Settings) -> Callable[[list[str]], Awaitable[list[list[float]]]]:
    async def ask(texts: list[str]) -> list[list[float]]:
        from amem.llm.litellm_client import embed_texts

        base, key, timeout = settings.embedding_api_base, settings.api_key, settings.timeout
        return await embed_texts(model, texts, base, key, timeout, retries=settings.retries)

    return ask
