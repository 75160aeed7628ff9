"""A-Mem's sentence similarity, with the embedder of amem.

Published values are those of all-MiniLM-L6-v2 in full precision. The shipped file has 8-bit weights, which moves a
similarity by .01 or so; and a text of more than 256 tokens is pooled here, not cut. So the measure is named after the
embedder, and is not to be set beside published values without saying so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.values import Frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.embedding import Embedder


class Similarities(Frozen):
    """The cosine of each pair of texts, and what embedded them."""

    embedder: str
    fingerprint: str
    values: tuple[float, ...]


async def similarities(pairs: Sequence[tuple[str, str]], embedder: Embedder) -> Similarities:
    """Compare predictions with their references; an empty one is like nothing.

    Raises:
        EmbeddingError: the model failed, or is not installed.
    """
    places: dict[str, int] = {}
    for text in (text.strip() for pair in pairs for text in pair):
        places.setdefault(text, len(places))
    rows = await embedder.embed(list(places))
    values = [
        float(rows[places[said.strip()]] @ rows[places[wanted.strip()]]) if said.strip() and wanted.strip() else 0.0
        for said, wanted in pairs
    ]
    return Similarities(embedder=embedder.name, fingerprint=embedder.fingerprint, values=tuple(values))
