"""Making anew what older prompts made, or another model: through the same stages, window by window, and undoably.

First the builds, then the links and changes. Each window is one plan: what is made anew takes the place of the old in
the same transaction, or nothing changes. So a run that was killed, or whose budget was spent, is finished by another.
"""

from __future__ import annotations

from asyncio import CancelledError, to_thread
from typing import TYPE_CHECKING

from amem.errors import EmbeddingError, InputError, LLMError, StoreError
from amem.ingest.pipeline import build
from amem.ingest.redraft import Rebuild, Reweave, windows
from amem.ingest.strategies import weave
from amem.ingest.vectors import apply
from amem.model import AddResult, Link, Revision, Usage
from amem.store.plan import GroundMoved
from amem.values import Frozen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.errors import AmemError
    from amem.ingest.draft import Draft
    from amem.ingest.worker import Progress, Worker
    from amem.model import MadeBy, Note
    from amem.rooms import Rooms
    from amem.store.plan import Committed, Plan
    from amem.store.stale import Found, IsStale

NOT_REACHED = "the run stopped before its turn"
MOVED = "it was changed by somebody else meanwhile"


class Left(Frozen):
    """A note that could not be made anew, and is as it was."""

    note_id: str
    why: str


class Rebuilt(Frozen):
    """What a rebuild did; of a dry run, what it would do."""

    built: tuple[str, ...] = ()
    """Notes that were built anew."""
    woven: tuple[str, ...] = ()
    """Notes that were linked anew, and whose changes to others were made anew."""
    left: tuple[Left, ...] = ()
    """Notes that still are as they were; another run tries them again."""
    links: tuple[Link, ...] = ()
    """The new links."""
    revisions: tuple[Revision, ...] = ()
    """Everything that changed, oldest first; `undo` takes all of it back."""
    usage: Usage = Usage()
    dry_run: bool = False


def staleness(rooms: Rooms, *, prompt: str | None, model: str | None) -> IsStale:
    """Return what tells whether a prompt and a model are older than those in use; equal wordings are one.

    Args:
        rooms: its prompts are those in use.
        prompt: only what this prompt made, by name, or by label for one wording of it.
        model: what any other model made is stale as well.

    Raises:
        InputError: there is no such prompt, and none such ever made anything.
    """
    prompts = rooms.prompts
    now = {name: prompts.get(name).hash for name in prompts.names()}
    if prompt is not None and prompt not in now:
        known = {name for label, _ in rooms.ledger.makers() for name in (label, _name(label))}
        if prompt not in known:
            there = ", ".join(sorted({*known, *now}))
            raise InputError(f"no prompt {prompt!r} made anything here. There are: {there}.")

    def is_stale(label: str, by: str) -> bool:
        asked = prompt is None or prompt in (label, _name(label))
        return asked and (label.rpartition("+")[2] != now.get(_name(label)) or by != (model or by))

    return is_stale


def _name(label: str) -> str:
    return label.partition("@")[0]


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
    found = _limited(await to_thread(rooms.ledger.stale, box, is_stale), limit)
    if dry_run:
        return Rebuilt(built=_ids(found.notes), woven=_ids(found.weavers), dry_run=True)
    with worker.holding([*found.notes, *found.weavers]):
        stopped = await work.build_all(found.notes, progress)
        if not stopped:
            chosen = None if limit is None else {*_ids(found.weavers)}
            await work.weave_all(await to_thread(rooms.ledger.stale, box, is_stale), chosen, progress)
    return work.outcome([*_ids(found.notes), *_ids(found.weavers)])


def _ids(notes: Sequence[Note]) -> tuple[str, ...]:
    return tuple(note.id for note in notes)


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
    )


class _Work:
    """One run: what is to be done, and what came of it."""

    def __init__(self, rooms: Rooms, worker: Worker) -> None:
        self._rooms = rooms
        self._worker = worker
        self._built: list[str] = []
        self._woven: list[str] = []
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

    def outcome(self, wanted: Sequence[str]) -> Rebuilt:
        """Return what came of the notes that were to be made anew."""
        done = {*self._built, *self._woven, *self._why}
        why = {**self._why, **{note_id: NOT_REACHED for note_id in wanted if note_id not in done}}
        return Rebuilt(
            built=tuple(self._built),
            woven=tuple(self._woven),
            left=tuple(Left(note_id=note_id, why=reason) for note_id, reason in why.items()),
            links=tuple(link for committed in self._committed for link in committed.links),
            revisions=tuple(revision for committed in self._committed for revision in committed.revisions),
            usage=self._usage,
        )

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
        if await self._commit(draft, draft.plan()) is None:
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
        committed = await self._commit(draft, draft.plan() if error is None else draft.plan().bill)
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

    # -- both -------------------------------------------------------------------------------------

    async def _commit(self, draft: Draft, plan: Plan) -> Committed | None:
        """Apply a window's plan; where the ground moved or nothing can be embedded, only count what it cost."""
        self._usage += draft.usage
        try:
            self._committed.append(await apply(self._rooms, plan, draft.vectors))
        except (GroundMoved, EmbeddingError):
            await apply(self._rooms, plan.bill)
            return None
        return self._committed[-1]

    def _results(self, draft: Draft) -> list[AddResult]:
        done = {*self._built, *self._woven}
        return [AddResult(note=note, built=note.id in done, usage=draft.usage) for note in draft.window]


def _said(error: AmemError | str | None) -> str:
    return error if isinstance(error, str) else f"{type(error).__name__}: {error}"
