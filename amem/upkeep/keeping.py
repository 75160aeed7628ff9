"""Upkeep in the background: a task for each box, which ends with the memory and never in the middle of a step."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from amem.errors import AmemError
from amem.upkeep.tidying import tidy

if TYPE_CHECKING:
    from amem.rooms import Rooms

log = logging.getLogger("amem.upkeep")


class Keeper:
    """The upkeep of one box, at intervals."""

    def __init__(self, rooms: Rooms, box: str, seconds: float) -> None:
        self._rooms = rooms
        self._box = box
        self._seconds = seconds
        self._over = asyncio.Event()
        self._task = asyncio.get_running_loop().create_task(self._keep())
        self._task.add_done_callback(_tell)

    async def stop(self) -> None:
        """Begin no further step, and wait for the one under way."""
        self._over.set()
        await asyncio.wait([self._task])

    async def _keep(self) -> None:
        while not await self._is_over():
            try:
                done = await tidy(self._rooms, self._box, stopped=self._over.is_set)
            except AmemError as error:
                log.warning("upkeep of %r failed, and is tried again in %g s: %s", self._box, self._seconds, error)
                continue
            if done.archived or done.merged:
                log.info("upkeep of %r: %d archived, %d merged", self._box, len(done.archived), len(done.merged))

    async def _is_over(self) -> bool:
        """Wait for the next turn; say whether there is none."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._over.wait(), self._seconds)
        return self._over.is_set()


def _tell(task: asyncio.Task[None]) -> None:
    """Log what broke, since nobody is there to raise it to."""
    error = None if task.cancelled() else task.exception()
    if error is not None:
        log.error("upkeep in the background broke off", exc_info=error)
