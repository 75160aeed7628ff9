"""What Chroma raises, as one error; it is loaded elsewhere, or not at all."""

from __future__ import annotations

import http.client
import sys
from typing import TYPE_CHECKING

from amem.errors import IndexUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType


class ChromaClosed(IndexUnavailable):
    """This process closed Chroma, or dropped the collection, while it was asked: that is no failure of Chroma's."""


class guarded:  # noqa: N801 - reads as the statement it is: with guarded("be opened"):
    """Turn all that Chroma raises into `IndexUnavailable`."""

    def __init__(self, what: str, closed: Callable[[], bool] = lambda: False) -> None:
        self._what = what
        self._closed = closed

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None or error is None or isinstance(error, IndexUnavailable):
            return
        if self._closed() and issubclass(kind, Exception):  # a closed client raises whatever its missing parts raise
            raise ChromaClosed(f"Chroma was closed, or the collection dropped, before it could {self._what}") from error
        # A panic inside Chroma's Rust derives from BaseException, and its class cannot be imported.
        if issubclass(kind, _chroma_errors()) or kind.__name__ == "PanicException":
            reason = " ".join(str(error).split())[:300]
            raise IndexUnavailable(f"Chroma could not {self._what}: {kind.__name__}: {reason}") from error


def _chroma_errors() -> tuple[type[Exception], ...]:
    errors: tuple[type[Exception], ...] = (ValueError, RuntimeError, OSError, http.client.HTTPException)
    loaded = sys.modules.get("chromadb.errors")
    if loaded is not None:
        import httpx

        errors = (*errors, loaded.ChromaError, httpx.HTTPError)
    return errors
