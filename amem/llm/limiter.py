"""How many requests may run at once, and how many may start a minute, over all event loops of a process."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    Waiter = tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]


class Limiter:
    """Bounds one client; two clients of one process have two limiters, as they have two providers or keys.

    asyncio's own semaphore belongs to the loop that first waits on it. This one may be shared by loops that
    run one after another or in several threads: a lock guards the counts, each waiter is woken in its loop.
    """

    def __init__(self, concurrency: int, per_minute: int | None = None, *, minute: float = 60.0) -> None:
        self._lock = threading.Lock()
        self._free = concurrency
        self._waiters: deque[Waiter] = deque()
        self._minute = minute
        self._starts: deque[float] | None = None if per_minute is None else deque(maxlen=per_minute)

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Hold one of the concurrent slots; waiters are served in order of arrival."""
        await self._acquire()
        try:
            yield
        finally:
            self._release()

    async def turn(self) -> None:
        """Wait until one more request may start, so that no minute sees more than allowed."""
        pause = self._reserve()
        if pause > 0:
            await asyncio.sleep(pause)

    def _reserve(self) -> float:
        if self._starts is None:
            return 0.0
        with self._lock:
            now = time.monotonic()
            full = len(self._starts) == self._starts.maxlen
            start = max(now, self._starts[0] + self._minute) if full else now
            self._starts.append(start)
        return start - now

    async def _acquire(self) -> None:
        loop = asyncio.get_running_loop()
        with self._lock:
            if self._free:
                self._free -= 1
                return
            woken: asyncio.Future[None] = loop.create_future()
            self._waiters.append((loop, woken))
        try:
            await woken
        except asyncio.CancelledError:
            self._abandon((loop, woken))
            raise

    def _abandon(self, waiter: Waiter) -> None:
        with self._lock:
            if waiter in self._waiters:
                self._waiters.remove(waiter)
                return
        if not waiter[1].cancelled():  # the slot had already been handed over
            self._release()

    def _release(self) -> None:
        with self._lock:
            while self._waiters:
                loop, woken = self._waiters.popleft()
                if not loop.is_closed():
                    loop.call_soon_threadsafe(self._wake, woken)
                    return
            self._free += 1

    def _wake(self, woken: asyncio.Future[None]) -> None:
        if woken.cancelled():
            self._release()
        else:
            woken.set_result(None)
