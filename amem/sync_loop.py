"""One event loop in a thread, for the verbs without async."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any, TypeVar

from amem.errors import InputError, LedgerUnavailable

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from concurrent.futures import Future

T = TypeVar("T")


class Loop:
    """One event loop in a thread of its own, so that it also works where a loop is running already."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="amem", daemon=True)
        self._thread.start()
        self._gate = threading.Lock()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._is_open = True

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do some work in the loop and wait for it; an interrupted wait cancels the work.

        Raises:
            LedgerUnavailable: the memory was closed.
            InputError: the caller is called by the memory itself, and would wait for itself for ever.
        """
        if threading.current_thread() is self._thread:
            work.close()
            raise InputError("a function that the memory calls cannot use the memory; it would wait for itself")
        with self._gate:
            if not self._is_open or not self._thread.is_alive():  # after a fork, only the parent has the thread
                work.close()
                raise LedgerUnavailable("this memory was closed, or opened by another process. Open it again.")
            future = asyncio.run_coroutine_threadsafe(self._noted(work), self._loop)
        return _result(future)

    async def _noted(self, work: Coroutine[Any, Any, T]) -> T:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            return await work
        finally:
            self._tasks.discard(task)

    def close(self, last: Coroutine[Any, Any, None]) -> None:
        """Let no work begin any more, wait for what other threads have under way, do the last, and end the thread."""
        with self._gate:
            if not self._is_open:
                last.close()
                return
            self._is_open = False
        try:
            _result(asyncio.run_coroutine_threadsafe(self._finish(last), self._loop))
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def _finish(self, last: Coroutine[Any, Any, None]) -> None:
        while self._tasks:
            await asyncio.wait(set(self._tasks))
        await last
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:  # of libraries, such as litellm's writer of its log
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self._loop.shutdown_asyncgens()
        await self._loop.shutdown_default_executor()


def _result(future: Future[T]) -> T:
    try:
        return future.result()
    finally:
        future.cancel()  # no effect on what is done; where an interrupt ended the wait, nobody waits for the result
