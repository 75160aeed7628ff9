"""The strategy `atomic`: one call distils a window of turns, which stay verbatim, into memories that cite them."""

from __future__ import annotations

from asyncio import CancelledError, to_thread
from typing import TYPE_CHECKING

import numpy as np
from pydantic import JsonValue

from amem.errors import EmbeddingError, LLMError
from amem.ingest import distiller, pipeline
from amem.ingest.draft import Draft
from amem.ingest.gate import why_skip
from amem.ingest.plan import READY, merge
from amem.ingest.suspicion import why_quarantined
from amem.ingest.timeline import ALL_FACTS, settle_all
from amem.ingest.vectors import embed, embed_those
from amem.llm.faults import is_about_its_texts
from amem.model import TRUST_RANK, AddResult, Cause, Fact, Link, Note, Skipped
from amem.store.plan import Change, Plan, PlannedLink, apply_change

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.errors import AmemError
    from amem.ingest.distiller import Memory
    from amem.rooms import Rooms
    from amem.settings import Settings
    from amem.store.plan import Committed

ALIKE = 0.95
"""Cosine from which a distilled note says what another one says already: then its turns are linked with that one."""
_AGAIN = "tells again"
WHY_HELD = "it would end another fact, and the setting fact_policy is ask"


class Window:
    """One window on its way: what it came to, and what that changes."""

    arrives: Mapping[str, JsonValue] = {"pending_reason": "queued"}
    """How a memory is stored, before its build in the same plan."""
    passed_by: frozenset[str] = frozenset()
    """Notes that do not count as having said something."""

    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.rooms = draft.rooms
        self.new: list[Note] = []
        self.changes: list[Change] = []
        self.waits: list[Change] = []
        """Endings of other facts, where they are to be reviewed first."""
        self.links: list[PlannedLink] = []

    async def distil(self, turns: Sequence[Note]) -> None:
        """Ask once, and take what turns really tell; a window that gets no usable reply is split."""
        draft = self.draft
        before = await pipeline.earlier_turns(draft, turns)
        request = distiller.request(turns, before, self.rooms.prompts, max_tokens=self.rooms.reply_cap(2 * len(turns)))
        try:
            reply = await draft.ask(request, "distill", distiller.reply_model(self.rooms.prompts))
        except LLMError as error:
            if not is_about_its_texts(error):
                raise
            await self._split(turns, error)
            return
        call = draft.record_call("distill", request, [*before, *turns])
        found = distiller.parse(reply, turns)
        draft.skipped += found.skipped
        for note in turns:
            draft.built(note, {}, call)
        await self.take(found.memories, {note.id: note for note in turns}, call)

    async def _split(self, turns: Sequence[Note], error: LLMError) -> None:
        if len(turns) == 1:
            self.draft.leave(turns[0], error)
            return
        middle = len(turns) // 2
        await self.distil(turns[:middle])
        await self.distil(turns[middle:])

    async def take(self, memories: Sequence[Memory], turns: Mapping[str, Note], call: int) -> None:
        """Make notes of what a call told, unless it is known; put facts among the others."""
        notes = [self._note(memory, [turns[i] for i in memory.sources]) for memory in memories]
        settings = self.rooms.settings
        builds = {note.id: build(note, memory, settings, call) for note, memory in zip(notes, memories, strict=True)}
        built = {note.id: apply_change(note, builds[note.id]) for note in notes}
        facts = [note for note in notes if isinstance(note.about, Fact)]
        others = [note for note in notes if not isinstance(note.about, Fact)]
        self.draft.vectors |= await embed(self.rooms, [self.rooms.render(note) for note in built.values()])
        known = [*await self.known_facts(), *(note for note in self.new if isinstance(note.about, Fact))]
        news, ends = settle_all(facts, known, settings.fact_policy)
        kept = [note for note in others if not await to_thread(self._is_told, built[note.id], call)]
        self.new += [*kept, *news]
        self.changes += [builds[note.id] for note in (*kept, *news)]
        for change in ends:
            waits = settings.fact_policy == "ask" and not self.is_settled(change)
            (self.waits if waits else self.changes).append(change.model_copy(update={"call": call}))

    async def known_facts(self) -> Sequence[Note]:
        """Return the facts of the box, which new ones are put among."""
        return await to_thread(self.rooms.ledger.every, self.draft.box, ALL_FACTS)

    def is_settled(self, change: Change) -> bool:  # noqa: ARG002 - for windows that are not the first of their turns
        """Whether the end of a fact needs no review, although the setting `fact_policy` is `ask`."""
        return False

    def _note(self, memory: Memory, tell: Sequence[Note]) -> Note:
        lowest = min((note.trust for note in tell), key=TRUST_RANK.__getitem__)
        last = max(tell, key=lambda note: note.occurred_at)
        agents = {note.agent_id for note in tell}
        given = {
            "id": self.rooms.new_id(), "box": self.draft.box, "sources": memory.sources, "trust": lowest,
            "occurred_at": last.occurred_at, "created_at": self.rooms.now(),
            "agent_id": last.agent_id if len(agents) == 1 else None, **self.arrives,
        }  # fmt: skip
        about = memory.about
        if about is not None:
            since = last.occurred_at if isinstance(about, Fact) else None
            return Note(content=about.text, about=about, valid_from=since, **given)
        return Note(content=memory.text, **given)

    def _is_told(self, note: Note, call: int) -> bool:
        """Whether a note says what is known; its turns are linked with what says it, then."""
        if note.about is not None:
            return False
        vector = self.draft.vectors[self.rooms.render(note)]
        (near,) = self.rooms.index.similar(self.draft.box, np.stack([vector]), 3 + len(self.passed_by))
        alike = {note_id: cosine for note_id, cosine in near if cosine >= ALIKE and note_id not in self.passed_by}
        for other in self.draft.read(sorted(alike)).values():
            if other.about is None and other.sources and other.superseded_by is None:
                self.links += [self._again(turn, other, alike[other.id], call) for turn in note.sources]
                self.draft.skipped.append(
                    Skipped(stage="distill", what=repr(note.content), why=f"note {other.id} says it")
                )
                return True
        return False

    def _again(self, turn: str, other: Note, cosine: float, call: int) -> PlannedLink:
        link = Link(
            box=self.draft.box, source=turn, target=other.id, relation=_AGAIN, reason=other.content[:200],
            strength=min(1.0, cosine), created_at=self.rooms.now(),
        )  # fmt: skip
        return PlannedLink(link=link, cause=Cause(kind="link", notes=(turn,)), call=call)

    def plan(self) -> Plan:
        """Return everything the window wants to change."""
        plan = self.draft.plan()
        held = self._held(plan)
        return plan.model_copy(
            update={"changes": (*plan.changes, *self.changes), "links": tuple(self.links), "held": held}
        )

    def _held(self, plan: Plan) -> Plan | None:
        if not self.waits:
            return None
        arrived = {note.id: note for note in self.new}
        for change in self.arriving():
            if change.note_id in arrived:
                arrived[change.note_id] = apply_change(arrived[change.note_id], change)
        versions = {note_id: note.version for note_id, note in arrived.items()}
        waits = tuple(
            change.model_copy(update={"expected_version": versions.get(change.note_id, change.expected_version)})
            for change in self.waits
        )
        return Plan(
            box=plan.box, at=plan.at, calls=plan.calls, changes=waits, model=plan.model, why=(WHY_HELD,),
            agent_id=plan.agent_id,
        )  # fmt: skip

    def arriving(self) -> Sequence[Change]:
        """Return what is changed while the new memories come in: what waits for review changes them only after that."""
        return self.changes

    def results(self, committed: Committed) -> list[AddResult]:
        """Return what became of each turn."""
        made = {note.id: note.sources for note in self.new if note.id in committed.notes}
        return [
            result.model_copy(update={"distilled": tuple(i for i, sources in made.items() if result.id in sources)})
            for result in self.draft.results(committed)
        ]


def build(note: Note, memory: Memory, settings: Settings, call: int) -> Change:
    """Return the change that gives a memory its words, as a revision like any build's, and has a new one ready."""
    words: dict[str, JsonValue] = {
        "keywords": list[JsonValue](merge((), memory.keywords, settings.max_keywords)),
        "tags": list[JsonValue](merge((), memory.tags, settings.max_tags)),
    }
    given = {name: value for name, value in words.items() if value}
    state = READY if note.status == "pending" else {}
    cause = Cause(kind="build", notes=note.sources)
    return Change(note_id=note.id, expected_version=note.version, fields={**given, **state}, cause=cause, call=call)


async def distil_window(
    rooms: Rooms, notes: Sequence[Note], *, embedded: bool = False
) -> tuple[list[AddResult], AmemError | None]:
    """Distil pending turns of one box; a failure leaves them pending with its error.

    A turn that says nothing, or gives back what was said before, is left raw, and so is one in quarantine: what it says
    would be stored in other words than its own.

    Args:
        rooms: where they are.
        notes: the window.
        embedded: all of them are known to have vectors.

    Returns:
        One result for each turn, in order, and the first error met.
    """
    draft = Draft(rooms, notes)
    window = Window(draft)
    try:
        if not embedded:
            await embed_those(rooms, notes)
        turns = [note for at, note in enumerate(notes) if not _passed_over(draft, note, notes[:at])]
        if turns:
            await window.distil(turns)
    except (LLMError, EmbeddingError) as error:
        draft.fail(error)
        window = Window(draft)
    except CancelledError:
        await draft.pay()
        raise
    committed = await to_thread(_commit, rooms, window)
    return window.results(committed), draft.error


def _passed_over(draft: Draft, note: Note, before: Sequence[Note]) -> bool:
    settings = draft.rooms.settings
    why = None if settings.session_gate == "off" else why_skip(note, before)
    why = why or next(iter(why_quarantined(note, settings)), None)
    if why is not None:
        draft.pass_over(note, why)
    return why is not None


def _commit(rooms: Rooms, window: Window) -> Committed:
    plan = window.plan()
    committed = rooms.ledger.commit(plan, window.draft.vectors, [(note, None) for note in window.new])
    rooms.index.put(plan.box, 2 * (len(plan.changes) + len(window.new)))
    return committed
