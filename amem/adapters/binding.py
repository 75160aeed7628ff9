"""Letting callers with and without async use one memory, whichever of the two kinds it is."""

from __future__ import annotations

from asyncio import to_thread
from typing import TYPE_CHECKING, Any, TypeVar

from amem.errors import InputError
from amem.sync import Memory

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from amem.memory import AsyncMemory

    AnyMemory = Memory | AsyncMemory

T = TypeVar("T")


class Bound:
    """A memory, or a view of one, that an adapter works with."""

    def __init__(self, memory: AnyMemory) -> None:
        self._memory = memory

    @property
    def read_only(self) -> bool:
        """Whether nothing may be written."""
        return self._memory.read_only

    async def run(self, work: Callable[[AsyncMemory], Coroutine[Any, Any, T]]) -> T:
        """Do some work with the memory; a `Memory` does it in its own event loop, and this one goes on meanwhile."""
        if isinstance(self._memory, Memory):
            return await to_thread(self._memory.run, work)
        return await work(self._memory)

    def run_now(self, work: Callable[[AsyncMemory], Coroutine[Any, Any, T]]) -> T:
        """Do some work with the memory, and wait for it.

        Raises:
            InputError: the memory can only be used with async.
        """
        if isinstance(self._memory, Memory):
            return self._memory.run(work)
        raise InputError("an AsyncMemory cannot be used without async; open it with amem.Memory, which serves both")
