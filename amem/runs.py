"""Which notes are being worked on in this process: none is paid for twice, and closing waits for all."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING

from amem.errors import LedgerUnavailable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


class Runs:
    """The runs under way over one memory, and the notes they have in hand."""

    def __init__(self) -> None:
        self._notes: Counter[str] = Counter()
        self._under_way: set[asyncio.Future[None]] = set()
        self._closed = False

    @property
    def in_hand(self) -> frozenset[str]:
        """Ids of the notes that somebody works on."""
        return frozenset(self._notes)

    @contextmanager
    def holding(self, ids: Collection[str]) -> Iterator[None]:
        """Have notes in hand.

        Raises:
            LedgerUnavailable: the memory was closed, or is being closed.
        """
        if self._closed and not self.in_hand.issuperset(ids):  # what is in hand is brought to its end
            raise LedgerUnavailable("this memory was closed. Nothing was stored; open it again.")
        run: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._under_way.add(run)
        self._notes.update(ids)
        try:
            yield
        finally:
            self._notes -= Counter(ids)
            self._under_way.discard(run)
            if not run.done():
                run.set_result(None)

    async def close(self) -> None:
        """Let no run begin any more, and wait for those under way."""
        self._closed = True
        while self._under_way:
            await asyncio.wait(set(self._under_way))
