"""Making anew what older prompts made, or another model: through the same stages, window by window, and undoably.

First the builds, then what was distilled or summed up, then the links and changes. Each window is one plan: what is
made anew takes the place of the old in the same transaction, or nothing changes. So a run that was killed, or whose
budget was spent, is finished by another.
"""

from __future__ import annotations

from asyncio import CancelledError, to_thread
from typing import TYPE_CHECKING

from amem.errors import EmbeddingError, InputError, LLMError, StoreError
from amem.ingest.pipeline import build
from amem.ingest.rebuilt import Left, Rebuilt
from amem.ingest.redistilling import distil_again
from amem.ingest.redraft import Rebuild, Reweave, windows
from amem.ingest.strategies import weave
from amem.ingest.vectors import apply
from amem.model import AddResult, Usage
from amem.store.plan import GroundMoved
from amem.upkeep.resumming import sum_up_again

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    import numpy as np

    from amem.errors import AmemError
    from amem.ingest.draft import Draft
    from amem.ingest.worker import Progress, Worker
    from amem.model import MadeBy, Note, Revision
    from amem.prompts import PromptSet
    from amem.rooms import Rooms
    from amem.store.plan import Committed, Plan
    from amem.store.stale import Found, IsStale
    from amem.store.written import Written

NO_PROMPT = "the prompts in use have none that could make it anew"
NOT_REACHED = "the run stopped before its turn"
MOVED = "it was changed by somebody else meanwhile"


async def rebuild(
    rooms: Rooms,
    worker: Worker,
    box: str,
    is_stale: IsStale,
    *,
    limit: int | None = None,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Rebuilt:
    """Make anew what is stale in a box; with `dry_run`, only say what that is.

    Raises:
        InputError: there is no model to ask.
    """
    if rooms.raw and not dry_run:
        raise InputError("no model is set that could make anything anew. Nothing was changed.")
    work = _Work(rooms, worker)
    found = _limited(_with_prompts(await to_thread(rooms.ledger.stale, box, is_stale), rooms.prompts), limit)
    memories = [note for item in found.written for note in item.memories]
    kept = tuple(Left(note_id=note.id, why=why) for note, why in found.kept)
    if dry_run:
        return Rebuilt(
            built=_ids(found.notes), woven=_ids(found.weavers), rewritten=_ids(memories), kept=kept, dry_run=True
        )  # fmt: skip
    with worker.holding([*found.notes, *found.weavers, *memories]):
        stopped = await work.build_all(found.notes, progress)
        stopped = stopped or await work.write_all(found.written, progress)
        if not stopped:
            chosen = None if limit is None else {*_ids(found.weavers)}
            await work.weave_all(await to_thread(rooms.ledger.stale, box, is_stale), chosen, progress)
    return work.outcome([*_ids(found.notes), *_ids(memories), *_ids(found.weavers)], kept)


def _ids(notes: Sequence[Note]) -> tuple[str, ...]:
    return tuple(note.id for note in notes)


def _with_prompts(found: Found, prompts: PromptSet) -> Found:
    """Keep what was distilled or summed up where no prompt does that any more."""
    names = prompts.names()
    lost = [note for item in found.written if item.stage not in names for note in item.memories]
    return found._replace(
        written=[item for item in found.written if item.stage in names],
        kept=[*found.kept, *((note, NO_PROMPT) for note in lost)],
    )


def _limited(found: Found, limit: int | None) -> Found:
    """Take the first notes, those to be built first, and whoever brought a change about together with one of them."""
    if limit is None:
        return found
    taken = set(list(dict.fromkeys([*_ids(found.notes), *_ids(found.weavers)]))[:limit])
    for revision in found.revisions:
        if taken.intersection(revision.cause.notes):
            taken.update(revision.cause.notes)
    return found._replace(
        notes=[note for note in found.notes if note.id in taken],
        weavers=[note for note in found.weavers if note.id in taken],
        written=list(_first(found.written, limit - len(taken))),
    )


def _first(written: Sequence[Written], limit: int) -> Iterator[Written]:
    """Yield what was written, up to so many memories; what one call wrote is not parted."""
    for item in written:
        if limit <= 0:
            return
        yield item
        limit -= max(1, len(item.memories))


class _Work:
    """One run: what is to be done, and what came of it."""

    def __init__(self, rooms: Rooms, worker: Worker) -> None:
        self._rooms = rooms
        self._worker = worker
        self._built: list[str] = []
        self._woven: list[str] = []
        self._rewritten: list[str] = []
        self._written: list[str] = []
        self._why: dict[str, str] = {}
        self._committed: list[Committed] = []
        self._usage = Usage()
        self._waiting: list[tuple[Revision, set[str]]] = []
        """What is to be taken back, each with those of its causes that are to be linked anew."""

    async def build_all(self, notes: Sequence[Note], progress: Progress | None) -> bool:
        """Build notes anew; return whether an error stopped the run."""
        run = await self._worker.run(list(self._worker.windows(notes)), self._build, progress=progress)
        return len(self._built) + len(self._why) < len(run.results)

    async def weave_all(self, found: Found, chosen: set[str] | None, progress: Progress | None) -> None:
        """Link notes anew, in the windows in which they were linked before."""
        notes = {note.id: note for note in found.weavers if chosen is None or note.id in chosen}
        ready = {*_ids(found.weavers)}
        self._waiting = [(revision, ready.intersection(revision.cause.notes)) for revision in found.revisions]
        bonds: dict[MadeBy | None, dict[str, None]] = {}
        for revision in found.revisions:
            bonds.setdefault(revision.made_by, {}).update(dict.fromkeys(i for i in revision.cause.notes if i in notes))
        cut = windows(list(notes), [list(bond) for bond in bonds.values() if bond], self._worker.window_size)
        await self._worker.run([[notes[i] for i in ids] for ids in cut], self._weave, progress=progress)

    async def write_all(self, written: Sequence[Written], progress: Progress | None) -> bool:
        """Distil and sum up anew, window by window; return whether an error stopped the run."""
        pages = {_ids(item.sources): item for item in written}
        waiting = {note.id for item in written for note in item.memories}

        async def write(window: Sequence[Note]) -> tuple[list[AddResult], AmemError | None]:
            item = pages.pop(_ids(window))
            error = await self._write(item, waiting)
            waiting.difference_update(_ids(item.memories))
            return [AddResult(note=note, built=error is None) for note in window], error

        await self._worker.run([item.sources for item in written], write, progress=progress)
        return bool(pages)

    def outcome(self, wanted: Sequence[str], kept: tuple[Left, ...]) -> Rebuilt:
        """Return what came of the notes that were to be made anew."""
        done = {*self._built, *self._woven, *self._rewritten, *self._why}
        why = {**self._why, **{note_id: NOT_REACHED for note_id in wanted if note_id not in done}}
        return Rebuilt(
            built=tuple(self._built),
            woven=tuple(self._woven),
            rewritten=tuple(self._rewritten),
            written=tuple(self._written),
            kept=kept,
            left=tuple(Left(note_id=note_id, why=reason) for note_id, reason in why.items()),
            links=tuple(link for committed in self._committed for link in committed.links),
            revisions=tuple(r for committed in self._committed for r in committed.revisions if not self._came_with(r)),
            usage=self._usage,
        )

    def _came_with(self, revision: Revision) -> bool:
        """Whether a revision made a new memory what it is; that one goes back to the archive as a whole."""
        return revision.cause.kind == "build" and revision.note_id in self._written

    # -- builds -----------------------------------------------------------------------------------

    async def _build(self, window: Sequence[Note]) -> tuple[list[AddResult], AmemError | None]:
        ids = _ids(window)
        fresh, histories = await to_thread(self._with_histories, window[0].box, ids)
        draft = Rebuild(self._rooms, [fresh.get(note.id, note) for note in window], histories)
        try:
            await build(draft, draft.window)
        except (LLMError, EmbeddingError) as error:
            draft.fail(error)
        except CancelledError:
            await draft.pay()
            raise
        failed: Mapping[str, AmemError | str] = draft.errors
        if await self._commit(draft.usage, draft.plan(), draft.vectors) is None:
            failed = dict.fromkeys(ids, MOVED)
        self._why |= {note_id: _said(error) for note_id, error in failed.items()}
        self._built += [note_id for note_id in ids if note_id not in failed]
        return self._results(draft), draft.error

    def _with_histories(self, box: str, ids: Sequence[str]) -> tuple[dict[str, Note], dict[str, Sequence[Revision]]]:
        ledger = self._rooms.ledger
        return ledger.get(ids, boxes=[box]), {i: ledger.revisions(box, note_id=i) for i in ids}

    # -- links and changes ------------------------------------------------------------------------

    async def _weave(self, window: Sequence[Note]) -> tuple[list[AddResult], AmemError | None]:
        rooms, ids = self._rooms, _ids(window)
        mine = self._of(ids)
        fresh = await to_thread(rooms.ledger.get, ids, boxes=[window[0].box])
        stale = [revision for revision, _ in self._waiting]
        draft = Reweave(rooms, [fresh.get(note.id, note) for note in window], mine, stale)
        error: AmemError | None = None
        try:
            await weave(draft)
            draft.settle(await to_thread(rooms.ledger.links_of, ids))
        except (LLMError, EmbeddingError, StoreError) as met:
            error = met
        except CancelledError:
            await draft.pay()
            raise
        plan = draft.plan() if error is None else draft.plan().bill
        committed = await self._commit(draft.usage, plan, draft.vectors)
        if error is not None or committed is None:
            moved = error is None or isinstance(error, StoreError)
            self._why |= dict.fromkeys(ids, MOVED if moved else _said(error))
            return self._results(draft), error if isinstance(error, (LLMError, EmbeddingError)) else None
        self._woven += ids
        self._settle(mine, draft.lifted, committed)
        return self._results(draft), None

    def _of(self, ids: Sequence[str]) -> list[Revision]:
        """Return what is to be taken back with these notes: all whose other causes were done before, oldest first."""
        done = {*self._woven, *ids}
        return [revision for revision, causes in self._waiting if done.issuperset(causes) and causes.intersection(ids)]

    def _settle(self, mine: Sequence[Revision], lifted: Sequence[Revision], committed: Committed) -> None:
        """Note what still has to be taken back: not what was, and of what was put back on, the revision it is now."""
        new = {(r.note_id, r.cause, r.field): r for r in committed.revisions if r.cause.kind == "evolve"}
        gone = {revision.id for revision in mine}
        now = {r.id: new.get((r.note_id, r.cause, r.field)) for r in lifted}
        waiting = [(now.get(r.id, r), causes) for r, causes in self._waiting if r.id not in gone]
        self._waiting = sorted(
            ((revision, causes) for revision, causes in waiting if revision is not None),
            key=lambda item: item[0].id or 0,
        )

    # -- memories ---------------------------------------------------------------------------------

    async def _write(self, item: Written, waiting: Collection[str]) -> AmemError | None:
        """Have what one call wrote written anew; return the error that prevents it."""
        ids, rooms = _ids(item.memories), self._rooms
        fresh = await to_thread(rooms.ledger.get, [*ids, *_ids(item.sources)], boxes=[item.sources[0].box])
        if any(
            note.id not in fresh or fresh[note.id].status != note.status for note in (*item.memories, *item.sources)
        ):
            self._why |= dict.fromkeys(ids or _ids(item.sources), MOVED)
            return None
        item = item._replace(
            memories=[fresh[note_id] for note_id in ids], sources=[fresh[note.id] for note in item.sources]
        )  # fmt: skip
        anew = await (distil_again(rooms, item, waiting) if item.stage == "distill" else sum_up_again(rooms, item))
        committed = await self._commit(anew.usage, anew.plan, anew.vectors, anew.new)
        if anew.error is not None or committed is None:
            moved = anew.error is None or isinstance(anew.error, StoreError)
            self._why |= dict.fromkeys(ids or _ids(item.sources), MOVED if moved else _said(anew.error))
            return None if moved else anew.error
        self._rewritten += ids
        self._written += _ids(anew.new)
        return None

    # -- all --------------------------------------------------------------------------------------

    async def _commit(
        self, usage: Usage, plan: Plan, vectors: Mapping[str, np.ndarray], new: Sequence[Note] = ()
    ) -> Committed | None:
        """Apply a window's plan; where the ground moved or nothing can be embedded, only count what it cost."""
        self._usage += usage
        try:
            coming = [(note, None) for note in new]
            self._committed.append(await apply(self._rooms, plan, vectors, new=coming))
        except (GroundMoved, EmbeddingError):
            await apply(self._rooms, plan.bill)
            return None
        return self._committed[-1]

    def _results(self, draft: Draft) -> list[AddResult]:
        done = {*self._built, *self._woven}
        return [AddResult(note=note, built=note.id in done, usage=draft.usage) for note in draft.window]


def _said(error: AmemError | str | None) -> str:
    return error if isinstance(error, str) else f"{type(error).__name__}: {error}"
