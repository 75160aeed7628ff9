"""Accepting notes and taking them through the pipeline window by window, now or in the background."""

from __future__ import annotations

import asyncio
import logging
from asyncio import to_thread
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from amem.errors import AmemError, BudgetSpent, EmbeddingError, ModelRejected, ModelUnavailable
from amem.ingest.distilling import distil_window
from amem.ingest.pipeline import process_window
from amem.ingest.suspicion import company, suspicions
from amem.ingest.vectors import embed
from amem.intake import raw_note
from amem.llm.faults import is_about_its_texts
from amem.model import AddResult, Usage
from amem.values import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    import numpy as np

    from amem.intake import NewNote
    from amem.model import Note
    from amem.rooms import Rooms

log = logging.getLogger("amem.ingest")

HOPELESS = (BudgetSpent, ModelRejected, ModelUnavailable)
"""Errors after which the next window would fail the same way, unless the error is about the texts themselves."""
IN_VAIN = 16
"""Notes, one after another, that nothing could be made of: then a run takes the model, or the embedder, for unfit."""


class Step(Frozen):
    """How far a run has come."""

    done: int
    total: int
    pending: int
    """Of those done, how many had to be left pending."""
    usage: Usage


Progress = Callable[[Step], None]
Work = Callable[[Sequence["Note"]], Awaitable[tuple[list[AddResult], AmemError | None]]]
"""What is done with a window: one result for each note, in order, and the first error met."""


class Run(NamedTuple):
    """What came of some notes, in order, and the first error met."""

    results: list[AddResult]
    error: AmemError | None


class Raw(NamedTuple):
    """A text on its way into the ledger."""

    note: Note
    source: str | None
    text: str
    """As it is embedded and indexed."""


class Accepted(NamedTuple):
    """A text that is in the ledger now."""

    note: Note
    is_new: bool
    embedded: bool
    """Whether its vector came with it."""
    suspicions: tuple[str, ...]


class Worker:
    """Takes notes of one memory through the pipeline."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms

    def raw(self, new: Sequence[NewNote], box: str) -> list[Raw]:
        """Return the raw notes of some texts, as they will be stored and embedded."""
        notes = [raw_note(item, box, self._rooms) for item in new]
        return [Raw(note, item.source, self._rooms.render(note)) for note, item in zip(notes, new, strict=True)]

    async def accept(self, raw: Sequence[Raw], known: Mapping[str, np.ndarray] | None = None) -> list[Accepted]:
        """Store raw notes durably, with the vectors of their raw text, as far as these are not `known` already."""
        vectors = dict(known or {})
        try:
            vectors |= await embed(self._rooms, [text for _, _, text in raw if text not in vectors])
        except EmbeddingError as error:
            log.warning("%d notes are stored without vectors, found by their words: %s", len(raw), error)
        return await to_thread(self._store, raw, vectors)

    async def store(self, raw: Sequence[Raw]) -> list[Accepted]:
        """Store raw notes durably and without vectors, for whoever embeds them as they will be."""
        return await to_thread(self._store, raw, {})

    def _store(self, raw: Sequence[Raw], vectors: Mapping[str, np.ndarray]) -> list[Accepted]:
        notes, sources, _ = zip(*raw, strict=True) if raw else ((), (), ())
        stored = self._rooms.ledger.accept(notes, sources, vectors)
        return [Accepted(note, is_new, bool(vectors), suspicions(note.content)) for note, is_new in stored]

    async def build(
        self, box: str, accepted: Sequence[Accepted], *, wait: bool, progress: Progress | None = None
    ) -> Run:
        """Take what was just accepted in a box through the stages: now, or in the background without `wait`."""
        fresh = [item.note for item in accepted if item.is_new]
        embedded = all(item.embedded for item in accepted)
        results, error = {item.note.id: AddResult(note=item.note) for item in accepted}, None
        if self._rooms.raw or not fresh:
            await to_thread(self._rooms.index.put, box, len(fresh))
        elif wait:
            done, error = await self.process(fresh, embedded=embedded, progress=progress)
            results |= {result.note.id: result for result in done}
        else:
            self.in_background(fresh, embedded=embedded)
        return Run([_as_given(results[item.note.id], item) for item in accepted], error)

    async def process(
        self, notes: Sequence[Note], *, embedded: bool = False, gated: bool = False, progress: Progress | None = None
    ) -> Run:
        """Take pending notes through all stages, window by window; a hopeless error leaves the rest queued.

        Args:
            notes: which.
            embedded: they are known to have vectors, so that this need not be looked up.
            gated: they are turns of a session, of which the setting `session_gate` says what is worth building.
            progress: called after each window.
        """
        settings = self._rooms.settings
        if settings.strategy == "atomic":
            work: Work = partial(distil_window, self._rooms, embedded=embedded)
        else:
            asks = gated and settings.session_gate == "llm" and settings.strategy != "paper"
            work = partial(process_window, self._rooms, embedded=embedded, gated=asks)
        with self.holding(notes):
            return await self.run(list(self.windows(notes)), work, progress=progress)

    async def waiting(self, box: str, reasons: Sequence[str], limit: int | None = None) -> list[Note]:
        """Return pending notes that no run of this process has in hand; what failed before comes last.

        Else notes that no model can make anything of would stand in the way of all that were never tried.
        """
        busy = self._rooms.runs.in_hand
        found = await to_thread(self._rooms.ledger.pending, box, reasons)
        busy |= self._rooms.runs.in_hand
        free = [note for note in found if note.id not in busy]
        return sorted(free, key=lambda note: note.pending_reason == "failed")[:limit]

    def holding(self, notes: Sequence[Note]) -> AbstractContextManager[None]:
        """Keep other runs of this process off some notes, so that no note is paid for twice."""
        return self._rooms.runs.holding([note.id for note in notes])

    async def run(self, windows: Sequence[Sequence[Note]], work: Work, *, progress: Progress | None) -> Run:
        """Do some work window by window; after a hopeless error, or too much in vain, the rest is left as it is."""
        results: list[AddResult] = []
        first: AmemError | None = None
        in_vain, stopped = 0, False
        usage, total = Usage(), sum(map(len, windows))
        for window in windows:
            if stopped:
                results += [AddResult(note=note) for note in window]
                continue
            done, error = await work(window)
            first = first or error
            in_vain = in_vain + len(done) if error and not any(result.built for result in done) else 0
            stopped = _is_hopeless(error) or in_vain >= IN_VAIN
            if error is not None:
                log.warning("%s: %s", _left(done), error)
            results += done
            usage += done[0].usage
            if progress is not None:
                progress(Step(done=len(results), total=total, pending=_pending(results), usage=usage))
        return Run(results, first)

    async def settled(self) -> None:
        """Wait for what goes on in the background, so that no note is worked on twice."""
        if self._rooms.background:
            await asyncio.gather(*self._rooms.background, return_exceptions=True)

    @property
    def window_size(self) -> int:
        """How many notes a window holds at most."""
        settings = self._rooms.settings
        return 1 if settings.strategy == "paper" else settings.window

    def windows(self, notes: Sequence[Note]) -> Iterator[list[Note]]:
        """Split notes into windows of turns that followed each other; a window may reach into the next session.

        If each session began a window of its own, many short sessions would cost a call a turn again. Notes that may
        not share a call stand in windows of their own, the trusted ones first.
        """
        size = self.window_size
        settings = self._rooms.settings
        for _, group in groupby(notes, key=lambda note: note.box):
            kinds: dict[int, list[Note]] = {}
            for note in group:
                kinds.setdefault(0 if size == 1 else company(note, settings), []).append(note)
            for _, turns in sorted(kinds.items()):
                yield from (turns[start : start + size] for start in range(0, len(turns), size))

    def in_background(
        self, notes: Sequence[Note], *, embedded: bool, gated: bool = False, then: Callable[[Run], None] | None = None
    ) -> None:
        """Process notes after the caller has gone on; `close` waits for it.

        Args:
            notes: which.
            embedded: as in `process`.
            gated: likewise.
            then: told what came of it.
        """

        async def work() -> Run:
            run = await self.process(notes, embedded=embedded, gated=gated)
            if then is not None:
                then(run)
            return run

        held = ExitStack()
        held.enter_context(self.holding(notes))
        task = asyncio.get_running_loop().create_task(work())
        self._rooms.background.add(task)
        task.add_done_callback(self._rooms.background.discard)
        task.add_done_callback(lambda _: held.close())
        task.add_done_callback(_tell)


def _as_given(result: AddResult, accepted: Accepted) -> AddResult:
    return result.model_copy(update={"is_new": accepted.is_new, "suspicions": accepted.suspicions})


def _tell(task: asyncio.Task[Run]) -> None:
    """Log what broke in the background, since nobody is there to raise it to."""
    error = None if task.cancelled() else task.exception()
    if error is not None:
        log.error("work in the background broke off; its notes stay queued", exc_info=error)


def _pending(results: Sequence[AddResult]) -> int:
    return sum(result.status == "pending" for result in results)


def _is_hopeless(error: AmemError | None) -> bool:
    return isinstance(error, HOPELESS) and not is_about_its_texts(error)


def _left(results: Sequence[AddResult]) -> str:
    """Say what an error left undone; notes that were ready before stay so."""
    pending = _pending(results)
    return f"{pending} of {len(results)} notes stay pending" if pending else f"{len(results)} notes stay as they were"
