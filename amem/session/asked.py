"""The question of one context: embedded once for all layers, and remembered where it could not be."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from amem.errors import EmbeddingError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.embedding import Embedder
    from amem.pooling import Vectors


class AskedOnce:
    """An embedder for the time of one question: every layer asks for the same vector."""

    def __init__(self, inner: Embedder) -> None:
        self.name, self.fingerprint, self.dimension = inner.name, inner.fingerprint, inner.dimension
        self._inner = inner
        self._vectors: dict[str, Vectors] = {}
        self.failed: EmbeddingError | None = None
        """Why the question has no vector; nobody waits for it a second time."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row of length 1 for each text, float32.

        Raises:
            EmbeddingError: the model failed, now or before.
        """
        if self.failed is not None:
            raise self.failed
        for text in texts:
            if text not in self._vectors:
                try:
                    self._vectors[text] = (await self._inner.embed([text]))[0]
                except EmbeddingError as error:
                    self.failed = error
                    raise
        return np.stack([self._vectors[text] for text in texts])
