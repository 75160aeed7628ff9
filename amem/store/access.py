"""When Chroma is opened, by whom, and what happens when it cannot be."""

from __future__ import annotations

import logging
import math
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from amem.errors import IndexUnavailable
from amem.store.chroma import ChromaIndex
from amem.store.folder import remove
from amem.store.guard import ChromaClosed
from amem.store.lock import Holder, IndexLock
from amem.store.probe import probe

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_log = logging.getLogger("amem.store")
_PATIENCE = 10.0
"""Seconds before a Chroma that is held by another process, or a server that is down, is tried again."""


class ChromaAccess:
    """One process's way to one Chroma: opened at first need, given up when it fails, closed with the memory."""

    def __init__(self, directory: Path, url: str | None) -> None:
        self._directory = directory
        self._url = url
        self._mutex = threading.RLock()
        self._index: ChromaIndex | None = None
        self._given_up: list[ChromaIndex] = []
        self._lock: IndexLock | None = None
        self._why: str | None = None
        self._retry_at = 0.0
        self._trusted = True

    @property
    def why(self) -> str | None:
        """Why Chroma is not used; None while it is, or was not needed yet."""
        return self._why

    def get(self, *, retry: bool = False) -> ChromaIndex | None:
        """Return the open Chroma, opening it at the first call; after a failure only `retry` tries again."""
        with self._mutex:
            if self._index is None and (self._why is None or (retry and self.may_return)):
                try:
                    self._index = self._opened()
                    self._why = None
                except IndexUnavailable as error:
                    self._note(error)
            return self._index

    @property
    def damage(self) -> str | None:
        """Why Chroma is given up until it is rebuilt; None where it is not."""
        return self._why if math.isinf(self._retry_at) else None

    def distrust(self) -> None:
        """Look at an embedded Chroma from a child process before it is opened, as after a crash."""
        self._trusted = False

    @property
    def may_return(self) -> bool:
        """Whether a failure may have passed by now; damage does not pass."""
        return time.monotonic() >= self._retry_at

    def failed(self, error: IndexUnavailable) -> None:
        """Stop using the open Chroma because of `error`."""
        if isinstance(error, ChromaClosed):
            return
        with self._mutex:
            if self._index is not None:
                # Other threads may be inside it, so it is closed at the end only.
                self._given_up.append(self._index)
                self._index = None
                self._note(error)

    def fresh(self) -> ChromaIndex:
        """Remove an embedded Chroma and begin a new one, or connect to the server.

        Raises:
            IndexUnavailable: another process has it open, or it cannot be made.
        """
        with self._mutex:
            self._close_all()
            if self._url is None:
                self._take_lock()
                remove(self._directory)
                self._index = ChromaIndex.embedded(self._directory)
            else:
                self._index = ChromaIndex.server(self._url)
            self._why = None
            return self._index

    def close(self) -> None:
        """Close Chroma; a failure leaves the mark that makes the next process look before it opens."""
        with self._mutex:
            clean = self._close_all() and self._why is None
            if self._lock is not None:
                self._lock.release(clean=clean)
                self._lock = None

    def end(self) -> None:
        """Close Chroma for good: a search that comes late must not open it again, and keep its lock."""
        with self._mutex:
            self.close()
            self._why, self._retry_at = "this memory was closed", math.inf

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Keep Chroma closed in this process, and its lock free, for whoever works on its files meanwhile."""
        with self._mutex:
            self.close()
            yield

    def _opened(self) -> ChromaIndex:
        if self._url is not None:
            return ChromaIndex.server(self._url)
        if self._take_lock().was_dirty or not self._trusted:
            probe(self._directory)
        return ChromaIndex.embedded(self._directory)

    def _take_lock(self) -> IndexLock:
        if self._lock is None:
            taken = IndexLock.acquire(self._directory)
            if isinstance(taken, Holder):
                raise IndexUnavailable(f"Chroma is open in {taken}")
            self._lock = taken
        return self._lock

    def _close_all(self) -> bool:
        indexes = [*self._given_up, *([] if self._index is None else [self._index])]
        self._given_up, self._index = [], None
        closed = 0
        for index in indexes:
            with suppress(IndexUnavailable):
                index.close()
                closed += 1
        return closed == len(indexes)

    def _note(self, error: IndexUnavailable) -> None:
        passing = self._url is not None or self._lock is None
        self._retry_at = time.monotonic() + _PATIENCE if passing else math.inf
        if self._why != str(error):
            self._why = str(error)
            remedy = "it is tried again later" if passing else "run `amem reindex` to rebuild it"
            held = self._url is None and self._lock is None
            _log.log(
                logging.INFO if held else logging.WARNING,
                "%s. No note is lost: search goes on exactly over the ledger's vectors; %s.",
                error,
                remedy,
            )
