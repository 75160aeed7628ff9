"""Accepting notes and taking them through the pipeline window by window, now or in the background."""

from __future__ import annotations

import asyncio
import logging
from asyncio import to_thread
from collections.abc import Callable
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from amem.errors import BudgetSpent, EmbeddingError, ModelRejected, ModelUnavailable
from amem.ingest.pipeline import process_window
from amem.ingest.vectors import embed
from amem.model import AddResult, Frozen, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np

    from amem.errors import AmemError
    from amem.intake import NewNote
    from amem.model import Note
    from amem.rooms import Rooms

log = logging.getLogger("amem.ingest")

HOPELESS = (BudgetSpent, ModelRejected, ModelUnavailable)
"""Errors after which the next window would fail the same way: the rest stays queued."""


class Step(Frozen):
    """How far a run has come."""

    done: int
    total: int
    pending: int
    """Of those done, how many had to be left pending."""
    usage: Usage


Progress = Callable[[Step], None]


class Run(NamedTuple):
    """What came of some notes, in order, and the first error met."""

    results: list[AddResult]
    error: AmemError | None


class Worker:
    """Takes notes of one memory through the pipeline."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms

    async def accept(self, notes: Sequence[Note], new: Sequence[NewNote]) -> list[tuple[Note, bool]]:
        """Store raw notes durably, with the vectors of their raw text; each with whether it is new."""
        vectors: dict[str, np.ndarray] = {}
        try:
            vectors = await embed(self._rooms, [self._rooms.render(note) for note in notes])
        except EmbeddingError as error:
            log.warning("%d notes are stored without vectors, found by their words: %s", len(notes), error)
        return await to_thread(self._rooms.ledger.accept, notes, [item.source for item in new], vectors)

    async def process(self, notes: Sequence[Note], *, progress: Progress | None = None) -> Run:
        """Take pending notes through all stages, window by window; a hopeless error leaves the rest queued."""
        results: list[AddResult] = []
        first: AmemError | None = None
        error: AmemError | None = None
        usage = Usage()
        for window in self._windows(notes):
            if isinstance(error, HOPELESS):
                results += [AddResult(note=note) for note in window]
                continue
            done, error = await process_window(self._rooms, window)
            first = first or error
            if error is not None:
                log.warning("%d of %d notes stay pending: %s", _pending(done), len(done), error)
            results += done
            usage += done[0].usage
            if progress is not None:
                progress(Step(done=len(results), total=len(notes), pending=_pending(results), usage=usage))
        return Run(results, first)

    async def settled(self) -> None:
        """Wait for what goes on in the background, so that no note is worked on twice."""
        if self._rooms.background:
            await asyncio.gather(*self._rooms.background, return_exceptions=True)

    def _windows(self, notes: Sequence[Note]) -> Iterator[list[Note]]:
        """Split notes into windows of turns that followed each other; a window may reach into the next session.

        If each session began a window of its own, many short sessions would cost a call a turn again.
        """
        settings = self._rooms.settings
        size = 1 if settings.strategy == "paper" else settings.window
        for _, group in groupby(notes, key=lambda note: note.box):
            turns = list(group)
            yield from (turns[start : start + size] for start in range(0, len(turns), size))

    def in_background(self, notes: Sequence[Note]) -> None:
        """Process notes after the caller has gone on; `close` waits for it."""
        task = asyncio.get_running_loop().create_task(self._quietly(notes))
        self._rooms.background.add(task)
        task.add_done_callback(self._rooms.background.discard)

    async def _quietly(self, notes: Sequence[Note]) -> None:
        await self.process(notes)


def _pending(results: Sequence[AddResult]) -> int:
    return sum(result.status == "pending" for result in results)
