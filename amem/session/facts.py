"""Facts: subject, predicate, object, and when they hold. A newer statement ends an older one and keeps it."""

from __future__ import annotations

from asyncio import to_thread
from collections import defaultdict
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from amem.errors import EmbeddingError, InputError
from amem.filters import Filter, first_problem, make_filter
from amem.ingest.distilling import WHY_HELD
from amem.ingest.timeline import ALL_FACTS, Policy, Settled, begins, ever_held, folded, said_of, same_question, settle
from amem.ingest.vectors import embed
from amem.intake import When
from amem.model import Fact, Note, Trust
from amem.recall.asking import ask
from amem.recall.timefocus import time_focus
from amem.store.plan import Plan
from amem.values import Frozen, Moment, Term
from amem.view import writes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from amem.rooms import Rooms
    from amem.view import View

_INSTANT = timedelta(microseconds=1)


class Statement(Frozen):
    """What is said to be so."""

    subject: Term
    predicate: Term
    object: Term
    since: When | None = None
    """When it began; when it was said, where that is not known."""
    single: bool = True
    """Whether the subject has one such object at a time."""
    sources: tuple[str, ...] = ()
    """Ids of the notes that say so, or of messages."""
    trust: Trust = "user"


class KnownFact(Frozen):
    """A fact as it stands."""

    id: str
    subject: str
    predicate: str
    object: str
    since: Moment
    until: Moment | None
    superseded_by: str | None
    """The fact that ended it."""
    sources: tuple[str, ...]
    contradicts: tuple[str, ...] = ()
    """Other facts that claim the same time, with nothing to put them in order."""
    box: str
    agent_id: str | None = None
    """Who learned it."""

    @property
    def text(self) -> str:
        """It, in words."""
        return f"{self.subject} {self.predicate} {self.object}"


class Stated(Frozen):
    """What became of a statement."""

    fact: KnownFact
    is_new: bool
    """False where it only repeats what is known."""
    ended: tuple[str, ...] = ()
    """Facts that hold no longer than to its beginning."""
    held: int | None = None
    """Number under which the ending of others waits for review."""


class Facts:
    """The facts of one box."""

    def __init__(self, rooms: Rooms, view: View) -> None:
        self._rooms = rooms
        self._view = view
        self._box = view.box

    @writes
    async def add(self, subject: str, predicate: str, object: str, **more: Any) -> Stated:
        """Store a fact, and end those that it follows.

        Args:
            subject: of whom or what.
            predicate: in which respect, such as `lives in`.
            object: what.
            more: `since` (a moment or ISO text), `single` (whether there is one such object at a time; default true),
                `sources` (ids of notes that say so), `trust`.

        Raises:
            InputError: an argument is refused; nothing was stored.
        """
        try:
            said = Statement(subject=subject, predicate=predicate, object=object, **more)
        except ValidationError as error:
            raise InputError(f"the fact is refused: {first_problem(error)}. Nothing was stored.") from error
        (stated,) = await self.add_all([said])
        return stated

    @writes
    async def add_all(self, said: Sequence[Statement]) -> list[Stated]:
        """Store several facts, one after another."""
        texts = [self._rooms.render(self._note(one)) for one in said]
        try:
            vectors = await embed(self._rooms, texts)
        except EmbeddingError:
            vectors = {}  # words find them, and `process` embeds them later
        return [await to_thread(self._store, one, vectors) for one in said]

    async def list(
        self,
        *,
        subject: str | None = None,
        predicate: str | None = None,
        as_of: datetime | str | None = None,
        outdated: bool = False,
    ) -> Sequence[KnownFact]:
        """Return the facts that hold, the earliest first.

        Args:
            subject: of whom or what, whatever the case.
            predicate: in which respect.
            as_of: those that held at that moment.
            outdated: also those that hold no more.
        """
        given = make_filter(kinds=("fact",), as_of=as_of, outdated=outdated)
        notes = await to_thread(self._rooms.ledger.every, self._box, given)
        wanted = [
            note for note in notes
            if _is_about(said_of(note).subject, subject) and _is_about(said_of(note).predicate, predicate)
        ]  # fmt: skip
        return known_facts(wanted)

    async def search(self, question: str, *, k: int = 5, now: datetime | None = None) -> Sequence[KnownFact]:
        """Return the facts that fit a question best: of the time it asks for, where it names one, else of the present.

        Args:
            question: in any words; `where did she live in 2021?` asks for a past fact.
            k: how many at most.
            now: what "last year" counts from; default: the present.
        """
        return await search_facts(self._rooms, [self._box], question, k=k, now=now)

    def _note(self, said: Statement) -> Note:
        now = self._rooms.now()
        about = Fact(subject=said.subject, predicate=said.predicate, object=said.object, single=said.single)
        return Note(
            id=self._rooms.new_id(), box=self._box, content=about.text, about=about, sources=said.sources,
            trust=said.trust, occurred_at=said.since or now, created_at=now, valid_from=said.since, status="ready",
            agent_id=self._view.agent_id,
        )  # fmt: skip

    def _store(self, said: Statement, vectors: Any) -> Stated:
        note = self._note(said)
        known = [
            other
            for other in self._rooms.ledger.every(self._box, ALL_FACTS)
            if same_question(said_of(other), said_of(note))
        ]
        policy: Policy = self._rooms.settings.fact_policy
        settled = settle(note, known, policy)
        if settled.repeats is not None:
            there = next(other for other in known if other.id == settled.repeats)
            return Stated(fact=known_fact(there, ()), is_new=False)
        plan = self._plan(settled, policy)
        committed = self._rooms.ledger.commit(plan, vectors, [(note, None)])
        self._rooms.index.put(self._box, 2)
        stored = committed.notes.get(note.id, note)
        ended = tuple(note_id for note_id in committed.notes if note_id != note.id)
        return Stated(fact=known_fact(stored, settled.contested), is_new=True, ended=ended, held=committed.held)

    def _plan(self, settled: Settled, policy: Policy) -> Plan:
        plan = self._view.by(Plan(box=self._box, at=self._rooms.now(), changes=settled.ends))
        if policy != "ask" or not settled.ends:
            return plan
        waits = plan.model_copy(update={"why": (WHY_HELD,)})
        return Plan(box=self._box, at=plan.at, held=waits)


async def search_facts(
    rooms: Rooms, boxes: Sequence[str], question: str, *, k: int, now: datetime | None = None
) -> list[KnownFact]:
    """Return the facts of some boxes that fit a question best; see `Facts.search`."""
    moment = rooms.now() if now is None else now
    focus = time_focus(question, moment)
    past = focus is not None and not focus.yearly and focus.end <= moment
    as_of = focus.end - _INSTANT if focus is not None and past else None
    hits = await ask(rooms, boxes, question, k=k, given=Filter(kinds=("fact",), as_of=as_of), now=moment)
    return known_facts([hit.note for hit in hits])


def known_fact(note: Note, contradicts: tuple[str, ...]) -> KnownFact:
    """Return a fact as it stands."""
    said = said_of(note)
    return KnownFact(
        id=note.id, subject=said.subject, predicate=said.predicate, object=said.object, since=begins(note),
        until=note.valid_to, superseded_by=note.superseded_by, sources=note.sources, contradicts=contradicts,
        box=note.box, agent_id=note.agent_id,
    )  # fmt: skip


def known_facts(notes: Sequence[Note]) -> list[KnownFact]:
    """Return facts in the order of time, each with those of them that claim the same time."""
    rivals: dict[tuple[str, str], list[Note]] = defaultdict(list)
    for note in notes:
        if said_of(note).single and ever_held(note):
            rivals[folded(said_of(note).subject), folded(said_of(note).predicate)].append(note)
    against: dict[str, tuple[str, ...]] = {}
    for some in rivals.values():
        for note in some:
            against[note.id] = tuple(other.id for other in some if other.id != note.id and _overlap(note, other))
    ordered = sorted(notes, key=lambda note: (begins(note), note.id))
    return [known_fact(note, against.get(note.id, ())) for note in ordered]


def _overlap(one: Note, other: Note) -> bool:
    first, second = sorted((one, other), key=begins)
    return first.valid_to is None or first.valid_to > begins(second)


def _is_about(term: str, wanted: str | None) -> bool:
    return wanted is None or folded(term) == folded(wanted)
