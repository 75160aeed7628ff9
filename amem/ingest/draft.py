"""A draft: what one window has come to so far, kept in memory until it is committed whole."""

from __future__ import annotations

import asyncio
import math
from typing import TYPE_CHECKING, TypeVar

from amem.errors import BudgetSpent
from amem.ingest.holding import hold
from amem.ingest.plan import READY, build_change
from amem.llm.structured import ask
from amem.model import AddResult
from amem.store.plan import Call, Plan, apply_change

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from pydantic import JsonValue

    from amem.errors import AmemError
    from amem.llm.protocol import Request
    from amem.model import Note, Skipped, Stage, Usage
    from amem.replies import Reply
    from amem.rooms import Rooms
    from amem.store.plan import Change, Committed, PlannedLink

R = TypeVar("R", bound="Reply")
_OF_TURNS: tuple[Stage, ...] = ("build", "distill")
"""Stages that see what was said, and nothing that a model made of it."""
BUILT_FIELDS = frozenset({"keywords", "tags", "context"})


class Draft:
    """The state of one window: proposals accepted, errors met, calls made."""

    reach = math.inf
    """How many of the nearest notes are looked at, where few of them may be neighbours."""

    def __init__(self, rooms: Rooms, notes: Sequence[Note], *, rebuild: bool = True) -> None:
        self.rooms = rooms
        self.window = tuple(notes)
        self.box = notes[0].box
        self.notes: dict[str, Note] = {note.id: note for note in notes}
        """Every note involved, as it will be if the draft is committed."""
        self.originals: dict[str, Note] = dict(self.notes)
        """Every note involved, as it was found."""
        self.vectors: dict[str, np.ndarray] = {}
        """Rendered text to vector, as far as they were made on the way."""
        self.changes: list[Change] = []
        self.links: list[PlannedLink] = []
        self.skipped: list[Skipped] = []
        self._meter = rooms.meter.child()
        self._calls: list[Call] = []
        self._builds: dict[str, tuple[dict[str, JsonValue], int | None]] = {}
        self._errors: dict[str, AmemError] = {}
        self._passed: dict[str, str] = {}
        self._kept: dict[str, str] = {}
        self._rebuild = rebuild

    def read(self, note_ids: Sequence[str]) -> dict[str, Note]:
        """Return notes of the box as the window sees them."""
        return self.rooms.ledger.get(note_ids, boxes=[self.box])

    def may_meet(self, note: Note, other: Note) -> bool:  # noqa: ARG002 - for drafts that choose
        """Whether a note of the window may have another as its neighbour, beyond what holds for every neighbour."""
        return True

    async def ask(
        self, request: Request, stage: Stage, output: type[R], check: Callable[[R], str | None] | None = None
    ) -> R:
        """Ask the model, on this window's account.

        Raises:
            LLMError: the call failed, or its reply is of no use.
        """
        assert self.rooms.llm is not None
        return await ask(self.rooms.llm, request, output, check=check, meter=self._meter, stage=stage)

    def needs_building(self, note: Note) -> bool:
        """Whether stage 1 has still to be done: not for a note built earlier, nor where the caller set every field."""
        return note.made_by is None and not set(note.pinned) >= BUILT_FIELDS

    def record_call(self, stage: Stage, request: Request, shown: Sequence[Note]) -> int:
        """Note down a call and every note it was shown; return its position.

        A build sees turns alone, as distilling does, so nothing that a model made of them. What a build of this window
        made of a note is shown with the note, and with it what that build had seen: forgetting follows the calls.
        """
        assert self.rooms.llm is not None
        model = request.model or self.rooms.llm.model
        sights = [(note.id, 0 if stage in _OF_TURNS else self.originals[note.id].version) for note in shown]
        builds = {self._builds[note.id][1] for note in shown if note.id in self._builds}
        for build in [self._calls[call] for call in builds if call is not None]:
            sights += zip(build.shown, build.versions, strict=True)
        ids, versions = zip(*sights, strict=True)
        call = Call(stage=stage, model=model, prompt=request.prompt.label, shown=ids, versions=versions)
        self._calls.append(call)
        return len(self._calls) - 1

    def built(self, note: Note, fields: dict[str, JsonValue], call: int) -> None:
        """Accept what stage 1 made of a note."""
        self._builds[note.id] = (fields, call)
        self.notes[note.id] = apply_change(note, build_change(note, fields, call))

    def pass_over(self, note: Note, why: str) -> None:
        """Leave a note raw that is not worth a call."""
        self._passed[note.id] = why

    def passes(self, note: Note) -> bool:
        """Whether a note is left raw."""
        return note.id in self._passed

    def keep(self, note: Note, why: str) -> None:
        """Note down why a note is worth a call."""
        self._kept[note.id] = why

    def leave(self, note: Note, error: AmemError) -> None:
        """Leave one note pending, with its error."""
        self._errors[note.id] = error

    def fail(self, error: AmemError) -> None:
        """Leave every note pending that has no error of its own; what stage 1 made of them is kept."""
        for note in self.window:
            self._errors.setdefault(note.id, error)
        self.changes.clear()
        self.links.clear()

    def forget_texts(self) -> None:
        """Give up everything that would need a new vector."""
        self._builds.clear()

    @property
    def error(self) -> AmemError | None:
        """The first error met, in order of the window."""
        return next((self._errors[note.id] for note in self.window if note.id in self._errors), None)

    @property
    def built_notes(self) -> list[Note]:
        """The notes that stages 2 and 3 go on with."""
        return [self.notes[note.id] for note in self.window if note.id not in {*self._errors, *self._passed}]

    def plan(self) -> Plan:
        """Return everything the draft wants to change."""
        own = [
            build_change(note, self._own_fields(note), self._builds.get(note.id, ({}, None))[1]) for note in self.window
        ]
        plan = Plan(
            box=self.box,
            at=self.rooms.now(),
            calls=tuple(self._calls),
            changes=(*(own if self._rebuild else ()), *self.changes),
            links=tuple(self.links),
            failed=self._failed(),
            spent=self._meter.by_stage(),
            model="" if self.rooms.llm is None else self.rooms.llm.model,
            agent_id=self._agent,
        )
        return hold(plan, self.window, self.rooms.settings)

    @property
    def _agent(self) -> str | None:
        """The agent whose notes these are; None where they are nobody's, or several agents'."""
        agents = {note.agent_id for note in self.window}
        return agents.pop() if len(agents) == 1 else None

    def _failed(self) -> Call | None:
        """Return what the calls that failed may have been shown, as one call."""
        if not self._errors:
            return None
        seen = self.originals.values()
        versions = tuple(note.version for note in seen)
        return Call(stage="build", model="", prompt="", shown=tuple(note.id for note in seen), versions=versions)

    def _own_fields(self, note: Note) -> dict[str, JsonValue]:
        fields = self._builds.get(note.id, ({}, None))[0]
        if note.id in self._passed:
            return {"status": "pending", "pending_reason": "raw", "error": f"skipped: {self._passed[note.id]}"}
        error = self._errors.get(note.id)
        if error is None:
            return {**fields, **READY}
        reason = "queued" if isinstance(error, BudgetSpent) else "failed"
        return {**fields, "status": "pending", "pending_reason": reason, "error": describe(error)}

    async def pay(self) -> None:
        """Have what was spent counted where nothing is committed, also while the caller is being cancelled."""
        bill = self.plan().bill
        await asyncio.shield(asyncio.to_thread(self.rooms.ledger.commit, bill, {}))

    @property
    def usage(self) -> Usage:
        """What the window has cost so far."""
        return self._meter.total

    def results(self, committed: Committed) -> list[AddResult]:
        """Return what became of each note of the window."""
        return [
            AddResult(
                note=committed.notes.get(note.id, note),
                built=note.id in self._builds,
                links=tuple(link for link in committed.links if note.id in (link.source, link.target)),
                evolved=tuple(
                    r for r in committed.revisions
                    if r.cause.kind == "evolve" and note.id in r.cause.notes and r.note_id != note.id
                ),
                kept=self._kept.get(note.id),
                skipped=(*self.skipped, *committed.skipped),
                held=committed.held,
                usage=self.usage,
            )
            for note in self.window
        ]  # fmt: skip


def describe(error: AmemError) -> str:
    """Return an error as it is kept on a note: its type and its message."""
    return f"{type(error).__name__}: {error}"
