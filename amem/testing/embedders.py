"""RecordedEmbedder: vectors that were recorded.

A quantised model's vectors differ in the last bit from one processor to another, and one neighbour that changes
places is another prompt. So whoever replays replies replays the vectors with them.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from amem.errors import EmbeddingMismatch
from amem.llm.recording_file import RecordingInvalid, write_whole
from amem.llm.recording_miss import RecordingMiss

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from amem.embedding import Embedder

    Vectors = NDArray[np.float32]

_FIX = (
    "Fix:\n"
    "  1. if this is what should be embedded, record it once: RecordedEmbedder(path, real=…), then save()\n"
    "  2. if not, take back the change that made the text another one"
)


class RecordedEmbedder:
    """An embedder that says what was recorded, kept in one .npz file.

    Args:
        path: The file.
        real: Who embeds what is not recorded; `save` keeps it. Without one, an unknown text is a miss.

    Raises:
        RecordingInvalid: the file is damaged.
        RecordingMiss: there is neither a file nor a real embedder.
        EmbeddingMismatch: the file was made with another embedder than `real`.
    """

    def __init__(self, path: Path | str, real: Embedder | None = None) -> None:
        self.path = Path(path)
        self._real = real
        self._vectors: dict[str, Vectors] = {}
        self.used: set[str] = set()
        """Keys of the texts asked for so far."""
        if self.path.exists():
            self._load()
        elif real is None:
            raise RecordingMiss(f"NO recorded vectors: {self.path} does not exist (empty)\n\n{_FIX}", reason="empty")
        else:
            self.name, self.fingerprint, self.dimension = real.name, real.fingerprint, real.dimension
        if real is not None and real.fingerprint != self.fingerprint:
            raise EmbeddingMismatch(
                f"{self.path} holds vectors of {self.fingerprint}, not of {real.fingerprint}. "
                "Nothing was changed; delete the file to record it anew."
            )

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return the recorded vectors of `texts`.

        Raises:
            RecordingMiss: one is not recorded and there is no real embedder.
        """
        keys = [text_key(text) for text in texts]
        unknown = {k: text for k, text in zip(keys, texts, strict=True) if k not in self._vectors}
        if unknown:
            await self._ask(unknown)
        self.used.update(keys)
        rows = [self._vectors[key] for key in keys]
        return np.array(rows, dtype=np.float32).reshape(len(rows), self.dimension)

    def unused(self) -> list[str]:
        """Return the keys of texts that were recorded and not asked for, sorted."""
        return sorted(self._vectors.keys() - self.used)

    def save(self) -> None:
        """Write the file whole, or not at all; equal vectors make equal files."""
        keys = sorted(self._vectors)
        rows = np.array([self._vectors[key] for key in keys], dtype=np.float32)
        file = io.BytesIO()
        np.savez(
            file,
            keys=np.array(keys, dtype="U16"),
            vectors=rows.reshape(len(keys), self.dimension),
            name=np.array(self.name),
            fingerprint=np.array(self.fingerprint),
        )
        write_whole(self.path, file.getvalue())

    async def _ask(self, unknown: dict[str, str]) -> None:
        if self._real is None:
            text = next(iter(unknown.values()))
            shown = text if len(text) <= 200 else f"{text[:200]}…"
            head = f"NO recorded vector for {len(unknown)} of the texts (new_input); the first:"
            raise RecordingMiss(f"{head}\n{shown}\n\n{_FIX}", reason="new_input")
        rows = await self._real.embed(list(unknown.values()))
        self._vectors.update(zip(unknown, rows, strict=True))
        self.dimension = rows.shape[1]  # a provider may not have known it before

    def _load(self) -> None:
        try:
            with self.path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
                vectors = file["vectors"].astype(np.float32)
                self.name, self.fingerprint = str(file["name"]), str(file["fingerprint"])
                self._vectors = dict(zip(file["keys"].tolist(), vectors, strict=True))
                self.dimension = int(vectors.shape[1])
        except (OSError, ValueError, KeyError, IndexError, EOFError, zipfile.BadZipFile) as error:
            raise RecordingInvalid(self.path, f"not a file of vectors: {error}") from error


def text_key(text: str) -> str:
    """Return the key that a text's vector is kept under."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
