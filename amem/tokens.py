"""Counting tokens, and the one place that loads `tokenizers`.

Budgets are counted with the WordPiece vocabulary that ships with amem, so that a count needs no download and
means the same everywhere; `file:<tokenizer.json>` counts with another model's vocabulary.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from amem.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from amem.settings import Settings

SHIPPED_NAME = "wordpiece (all-MiniLM-L6-v2)"


@runtime_checkable
class Tokenizer(Protocol):
    """Counts tokens; `name` is shown beside every count."""

    @property
    def name(self) -> str:
        """What stands in results, so that a count can be repeated."""
        ...

    def count(self, text: str) -> int:
        """Return how many tokens `text` has, special tokens not included."""
        ...

    def count_many(self, texts: Iterable[str]) -> list[int]:
        """Return the count of each text, in order."""
        ...


class FileTokenizer:
    """A `tokenizer.json` without its truncation and padding, read at the first count."""

    def __init__(self, path: Path, name: str | None = None) -> None:
        self.name = name or f"file ({path.name})"
        self._path = path

    def count(self, text: str) -> int:
        """Return how many tokens `text` has, special tokens not included."""
        return len(self.ids(text))

    def count_many(self, texts: Iterable[str]) -> list[int]:
        """Return the count of each text, in order."""
        return [self.count(text) for text in texts]

    def ids(self, text: str) -> list[int]:
        """Return the token ids of the whole of `text`, without special tokens."""
        return list(_load(self._path).encode(encodable(text), add_special_tokens=False).ids)

    def around(self) -> tuple[list[int], list[int]]:
        """Return the special tokens that a model expects before and after the text's own."""
        encoded = _load(self._path).encode("a")
        own = [place for place, special in enumerate(encoded.special_tokens_mask) if not special]
        return list(encoded.ids[: own[0]]), list(encoded.ids[own[-1] + 1 :])

    def pad_id(self) -> int:
        """Return the id that fills up shorter texts of a batch; the model never looks at it."""
        return _load(self._path).token_to_id("[PAD]") or 0


def shipped_tokenizer() -> FileTokenizer:
    """Return the tokenizer that comes with amem."""
    return FileTokenizer(Path(str(files("amem") / "_data" / "tokenizer.json")), SHIPPED_NAME)


def open_tokenizer(settings: Settings) -> Tokenizer:
    """Return the tokenizer that `settings.tokenizer` names.

    Raises:
        SettingsError: the name is none of `wordpiece` and `file:<tokenizer.json>`, or there is no such file.
    """
    kind, _, place = settings.tokenizer.partition(":")
    if settings.tokenizer == "wordpiece":
        return shipped_tokenizer()
    if kind == "file" and Path(place).is_file():
        return FileTokenizer(Path(place))
    problem = f"there is no file {place!r}" if kind == "file" else f"unknown tokenizer {settings.tokenizer!r}"
    raise SettingsError(f"tokenizer: {problem}. Use `wordpiece`, or `file:` and the path of a tokenizer.json.")


def encodable(text: str) -> str:
    """Return `text` with lone surrogates replaced, since no tokenizer and no index takes them."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@cache  # reading takes 70 ms, and the counter and the embedder use the same file
def _load(path: Path) -> Any:
    from tokenizers import Tokenizer as Engine

    try:
        text = path.read_text(encoding="utf-8")
        model = json.loads(text).get("model", {})
    except (OSError, ValueError, AttributeError) as error:
        raise SettingsError(f"{path} cannot be used as a tokenizer: {error}. Give an intact one.") from error
    if "vocab" not in model:
        raise SettingsError(f"{path} is not a tokenizer: it has no vocabulary. Give a tokenizer.json.")
    engine = Engine.from_str(text)
    engine.no_truncation()
    engine.no_padding()
    return engine
