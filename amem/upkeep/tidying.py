"""Upkeep: archive what has faded, let one note stand for its repeats, sum up what is near each other; or say so only.

Each step is a plan of its own, so that a run which is stopped, or whose budget is spent, leaves nothing half done, and
another run goes on.
"""

from __future__ import annotations

from asyncio import to_thread
from typing import TYPE_CHECKING, NamedTuple

from amem.errors import EmbeddingError, LLMError
from amem.filters import Filter
from amem.ingest.draft import describe
from amem.ingest.suspicion import why_quarantined
from amem.ingest.vectors import apply, embed_missing
from amem.ingest.worker import HOPELESS, IN_VAIN
from amem.llm.faults import is_about_its_texts
from amem.model import Revision, Usage
from amem.store import tending
from amem.store.plan import GroundMoved, Plan
from amem.upkeep import alike
from amem.upkeep.consolidate import PROMPT, Merged, standing_in, summarise, summing_up
from amem.upkeep.decay import Faded, archiving, faded
from amem.values import Frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from amem.errors import AmemError
    from amem.llm.metering import Meter
    from amem.model import Note
    from amem.rooms import Rooms
    from amem.store.plan import Committed
    from amem.store.tending import Rests, Tended
    from amem.upkeep.alike import Group

    Vectors = Mapping[str, NDArray[np.float32]]

NOT_REACHED = "the run stopped before its turn"
BUSY = "another run is at work on one of them"
MOVED = "one of them was changed by somebody else meanwhile"
_PAGE = 1000


class Unmerged(Frozen):
    """Notes that were to become one, and stay as they are."""

    notes: tuple[str, ...]
    why: str


class Upkept(Frozen):
    """What upkeep did; of a dry run, what it would do."""

    archived: tuple[Faded, ...] = ()
    """Notes that have faded, the least important first."""
    kept: int = 0
    """Notes that have faded as well, and stay: the user pinned them, other notes rest on them, or a run is at work."""
    merged: tuple[Merged, ...] = ()
    left: tuple[Unmerged, ...] = ()
    """What could not be merged; another run tries again."""
    revisions: tuple[Revision, ...] = ()
    """Everything that changed, oldest first; `undo` takes all of it back."""
    usage: Usage = Usage()
    dry_run: bool = False


class _State(NamedTuple):
    """How a box stands when a run begins."""

    tended: list[Tended]
    rests: Rests
    parted: set[tuple[str, str]]
    summarised: set[frozenset[str]]


async def tidy(
    rooms: Rooms,
    box: str,
    *,
    dry_run: bool = False,
    limit: int | None = None,
    stopped: Callable[[], bool] = lambda: False,
    agent_id: str | None = None,
) -> Upkept:
    """Do what is due in a box, or with `dry_run` only say what that is.

    Args:
        rooms: the memory's parts.
        box: the box.
        dry_run: change nothing, and ask no model.
        limit: summaries at most, each of which is a call.
        stopped: asked before each step: whether to go no further.
        agent_id: who asks for it.
    """
    run = _Run(rooms, box, dry_run=dry_run, stopped=stopped, agent_id=agent_id)
    state = await to_thread(_state, rooms, box)
    await run.archive(state)
    notes = await to_thread(_in_use, rooms, box, state, run.gone)
    await run.merge_repeats(alike.repeats(notes, rooms.settings), state)
    if not rooms.raw and PROMPT in rooms.prompts.names():
        some = [note for note in notes if note.id not in run.gone and _is_free(note, state, rooms)]
        vectors = await _vectors(rooms, box, some)
        groups = [group for group in alike.near(some, vectors, rooms.settings) if _is_new(group, state)]
        await run.summarise(groups[:limit], vectors)
    return run.outcome()


def _state(rooms: Rooms, box: str) -> _State:
    rooms.accesses.flush()
    database = rooms.ledger.database
    return _State(
        tending.tended(database, box),
        tending.rests(database, box),
        tending.parted(database, box),
        tending.summarised(database, box),
    )


def _in_use(rooms: Rooms, box: str, state: _State, gone: set[str]) -> list[Note]:
    """Return the notes that may become one with others, or stand for them."""
    known = {note.id for note in state.tended} - gone
    notes: list[Note] = []
    after: str | None = None
    while True:
        page = rooms.ledger.page(box, Filter(kinds=("note",)), after=after, limit=_PAGE)
        notes += [note for note in page.notes if note.id in known and note.valid_to is None]
        after = page.next
        if after is None:
            return notes


def _is_free(note: Note, state: _State, rooms: Rooms) -> bool:
    """Whether another note may stand in the place of this one."""
    pinned = note.pinned or note.metadata.get(tending.KEEP) is True
    in_use = note.id in state.rests.cited or note.id in rooms.runs.in_hand
    return not (pinned or in_use or why_quarantined(note, rooms.settings))


def _is_new(group: Group, state: _State) -> bool:
    """Whether no summary of just these notes was made before: one that was taken back is not made again."""
    return frozenset(group.ids) not in state.summarised


async def _vectors(rooms: Rooms, box: str, notes: Sequence[Note]) -> Vectors:
    await embed_missing(rooms, box)
    ids, matrix = await to_thread(rooms.index.vectors, [note.id for note in notes])
    return dict(zip(ids, matrix, strict=True))


class _Run:
    """One run: what it has done so far."""

    def __init__(
        self, rooms: Rooms, box: str, *, dry_run: bool, stopped: Callable[[], bool], agent_id: str | None
    ) -> None:
        self._rooms = rooms
        self._agent_id = agent_id
        self._box = box
        self._dry_run = dry_run
        self._stopped = stopped
        self._meter = rooms.meter.child()
        self._faded: list[Faded] = []
        self._kept = 0
        self._merged: list[Merged] = []
        self._left: list[Unmerged] = []
        self._revisions: list[Revision] = []
        self.gone: set[str] = set()
        """Notes that are no longer in use, or would not be."""

    def outcome(self) -> Upkept:
        """Return what came of it."""
        return Upkept(
            archived=tuple(self._faded),
            kept=self._kept,
            merged=tuple(self._merged),
            left=tuple(self._left),
            revisions=tuple(self._revisions),
            usage=self._meter.total,
            dry_run=self._dry_run,
        )

    async def archive(self, state: _State) -> None:
        """Move what has faded to the archive."""
        rooms = self._rooms
        now = rooms.now()
        found, self._kept = faded(state.tended, state.rests, rooms.settings, now, busy=rooms.runs.in_hand)
        versions = {note.id: note.version for note in state.tended}
        done = {item.note_id for item in found}
        for plan in [] if self._dry_run else archiving(self._box, now, found, versions):
            ids = [change.note_id for change in plan.changes]
            if self._stopped():
                done.difference_update(ids)
                continue
            with rooms.runs.holding(ids):
                committed = await apply(rooms, self._signed(plan))
            done.difference_update(set(ids) - committed.notes.keys())
            self._revisions += committed.revisions
        self._faded = [item for item in found if item.note_id in done]
        self.gone |= done

    async def merge_repeats(self, groups: Iterable[Group], state: _State) -> None:
        """Let the first of several repeats stand for those that are free to go."""
        for group in groups:
            first, *others = group.notes
            free = [note for note in others if _is_free(note, state, self._rooms)]
            going = [note for note in free if (note.id, first.id) not in state.parted]
            if not going or self._stopped():
                continue
            some = group.model_copy(update={"notes": (first, *going)})
            merged = Merged(notes=some.ids[1:], into=first.id, text=first.content, repeats=True)
            await self._commit(standing_in(some, self._rooms.now()), merged)

    async def summarise(self, groups: Sequence[Group], vectors: Vectors) -> None:
        """Have a model sum up each group; after an error that would meet the next one too, go no further."""
        in_vain = 0
        for number, group in enumerate(groups):
            if self._dry_run:
                self._merged.append(Merged(notes=group.ids))
                continue
            if self._stopped() or in_vain >= IN_VAIN:
                self._left += [Unmerged(notes=other.ids, why=NOT_REACHED) for other in groups[number:]]
                return
            error = await self._sum_up(group, vectors)
            in_vain = 0 if error is None else in_vain + 1
            if isinstance(error, (*HOPELESS, EmbeddingError)) and not is_about_its_texts(error):
                in_vain = IN_VAIN

    async def _sum_up(self, group: Group, vectors: Vectors) -> AmemError | None:
        rooms = self._rooms
        if not rooms.runs.in_hand.isdisjoint(group.ids):  # another run may be paying for the same summary
            self._left.append(Unmerged(notes=group.ids, why=BUSY))
            return None
        meter = self._meter.child()
        with rooms.runs.holding(group.ids):
            try:
                summary = await summarise(rooms, group, vectors, meter)
            except (LLMError, EmbeddingError) as error:
                self._left.append(Unmerged(notes=group.ids, why=describe(error)))
                return error
            finally:
                await self._pay(meter)
            plan = summing_up(summary, group, rooms.settings, rooms.now())
            merged = Merged(notes=group.ids, into=summary.note.id, text=summary.note.content)
            await self._commit(plan, merged, new=summary.note)
        return None

    def _signed(self, plan: Plan) -> Plan:
        return plan.model_copy(update={"agent_id": self._agent_id})

    async def _pay(self, meter: Meter) -> None:
        """Count what a call cost, whatever becomes of its reply."""
        rooms = self._rooms
        model = "" if rooms.llm is None else rooms.llm.model
        await apply(rooms, Plan(box=self._box, at=rooms.now(), spent=meter.by_stage(), model=model))

    async def _commit(self, plan: Plan, merged: Merged, new: Note | None = None) -> None:
        if not self._dry_run:
            try:
                committed = await apply(self._rooms, self._signed(plan), new=[] if new is None else [(new, None)])
            except GroundMoved:
                self._left.append(Unmerged(notes=merged.notes, why=MOVED))
                return
            self._revisions += _to_take_back(committed)
        self._merged.append(merged)
        self.gone.update(merged.notes)


def _to_take_back(committed: Committed) -> list[Revision]:
    """Return the revisions that undo the merging; what a summary is known for stays with it in the archive."""
    return [revision for revision in committed.revisions if revision.cause.kind != "build"]
