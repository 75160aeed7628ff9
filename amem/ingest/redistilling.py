"""Distilling turns anew: what the new wording tells takes the place of the memories that the old one told.

A memory that is told again word for word stays the same note. The others go to the archive, and new ones come out of
it, in one plan; what facts among them ended is taken back, and settled anew.
"""

from __future__ import annotations

from asyncio import CancelledError, to_thread
from typing import TYPE_CHECKING, Any, NamedTuple

from amem.changes import coming_in, take_back
from amem.errors import AmemError, BadReply, EmbeddingError, LLMError, StoreError
from amem.ingest.distiller import NOTHING
from amem.ingest.distilling import ALIKE, Window, build
from amem.ingest.redraft import Whole, not_linked_by, with_additions
from amem.ingest.vectors import embed
from amem.model import Cause, Fact, Note, Skipped, Usage
from amem.store.plan import LINK_FIELD, Change, Plan
from amem.store.rewind import SETS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import numpy as np
    from pydantic import JsonValue

    from amem.ingest.distiller import Memory
    from amem.ingest.draft import Draft
    from amem.model import Revision
    from amem.rooms import Rooms
    from amem.store.written import Written

    Told = tuple[Sequence[Memory], Mapping[str, Note], int]

TOLD_BESIDE = "another memory of its turns says it, or was put aside"


class Anew(NamedTuple):
    """What making something anew comes to; only what it cost, where there is an error."""

    plan: Plan
    usage: Usage
    vectors: Mapping[str, np.ndarray]
    """Those made on the way, by rendered text."""
    new: Sequence[Note] = ()
    """Memories that come with the plan."""
    error: AmemError | None = None


async def distil_again(rooms: Rooms, old: Written, waiting: Collection[str]) -> Anew:
    """Distil turns again, in the place of what an older wording told of them; nothing is stored.

    Args:
        rooms: where they are.
        old: what is to be replaced.
        waiting: all memories that are still to be made anew, these among them: what they say does not count as told.
    """
    draft = Whole(rooms, old.sources, rebuild=False)
    window = Redistilling(draft, old, waiting)
    try:
        await window.distil(old.sources)
        await window.settle()
    except (LLMError, EmbeddingError, StoreError) as error:
        return Anew(draft.plan().bill, draft.usage, {}, error=error)
    except CancelledError:
        await draft.pay()
        raise
    return Anew(window.plan(), draft.usage, draft.vectors, window.new)


class Redistilling(Window):
    """A window whose turns are distilled anew."""

    arrives: Mapping[str, JsonValue] = {"status": "archived"}
    """What brings a memory out of the archive can be taken back, and then it is there again."""

    def __init__(self, draft: Draft, old: Written, waiting: Collection[str]) -> None:
        """Take what is to be replaced, and all memories that are still to be made anew, its own among them."""
        super().__init__(draft)
        self._waiting = frozenset(waiting)
        self._old = old
        self._told: list[Told] = []
        self._stay: set[str] = set()
        self._gone = Plan(box=draft.box, at=self.rooms.now())
        self._ended: dict[str, dict[str, JsonValue]] = {}
        """Facts that memories ended which go, as they are without that end."""

    async def take(self, memories: Sequence[Memory], turns: Mapping[str, Note], call: int) -> None:
        """Keep what a call told, until all is told."""
        self._told.append((memories, turns, call))

    async def settle(self) -> None:
        """Decide, once all is told, which memories stay, go and come.

        Raises:
            BadReply: nothing is told; no empty answer erases what was told before.
            StoreError: somebody took something of it back, or wrote over it, meanwhile.
            EmbeddingError: what was told cannot be embedded.
        """
        if not any(memories for memories, _, _ in self._told):
            raise BadReply(NOTHING)
        rest = [(await self._new(memories, call), turns, call) for memories, turns, call in self._told]
        self.passed_by = self._waiting - self._stay
        going = await to_thread(self._ends)
        self._gone = await to_thread(
            take_back, self.rooms.ledger, self.draft.box, going, self.rooms.now(), kind="rebuild"
        )
        for change in self._gone.changes:
            self._ended.setdefault(change.note_id, {}).update(change.fields)
        for memories, turns, call in rest:
            await super().take(memories, turns, call)
        there = await to_thread(self.rooms.ledger.links_of, [note.id for note in self.draft.window])
        self.links, skipped = not_linked_by(there, self._gone, self.links)
        self.draft.skipped += skipped

    async def known_facts(self) -> Sequence[Note]:
        """Return the facts of the box without those that go, and without the ends that these brought about."""
        going = {note.id for note in self.gone}
        facts = [fact for fact in await super().known_facts() if fact.id not in going]
        return [
            Note.model_validate({**dict(fact), **self._ended[fact.id]}) if fact.id in self._ended else fact
            for fact in facts
        ]

    def is_settled(self, change: Change) -> bool:
        """Whether this end was there before, when another wording told of it."""
        successors = {note.superseded_by for note in self.gone if note.superseded_by is not None}
        return change.note_id in self._ended or change.fields.get("superseded_by") in successors

    def arriving(self) -> Sequence[Change]:
        """Return what is changed while the new memories come out of the archive."""
        return [*self.changes, *(coming_in(note) for note in self.new)]

    @property
    def gone(self) -> list[Note]:
        """The memories that go."""
        return [note for note in self._old.memories if note.id not in self._stay]

    def plan(self) -> Plan:
        """Return the taking back, the going and the coming, all of it or nothing."""
        plan = super().plan()
        going = [_to_archive(note) for note in self.gone]
        coming = [coming_in(note) for note in self.new]
        given = {
            "changes": (*self._gone.changes, *going, *plan.changes, *coming), "unlink": self._gone.unlink,
            "undone": self._gone.undone, "failed": None, "whole": True,
        }  # fmt: skip
        return plan.model_copy(update=given)

    async def _new(self, memories: Sequence[Memory], call: int) -> list[Memory]:
        """Return what is news; what was told before, word for word, is built anew where it stands."""
        news: list[Memory] = []
        for memory in memories:
            same = next((note for note in self._old.memories if self._is_same(note, memory)), None)
            if same is not None:
                self._stay.add(same.id)
                await self._build_anew(same, memory, call)
            elif await self._is_told_beside(memory):
                self.draft.skipped.append(Skipped(stage="distill", what=repr(_said(memory)), why=TOLD_BESIDE))
            else:
                news.append(memory)
        return news

    def _is_same(self, note: Note, memory: Memory) -> bool:
        told = note.content == _said(memory) and note.about == memory.about
        return told and set(note.sources) == set(memory.sources) and note.id not in self._stay

    async def _build_anew(self, note: Note, memory: Memory, call: int) -> None:
        settings = self.rooms.settings
        change = build(note, memory, settings, call)
        history = await to_thread(self.rooms.ledger.revisions, note.box, note_id=note.id)
        last = {r.field: r.after for r in history if r.cause.kind == "build" and not r.undone}
        words = {
            field: with_additions(note, field, change.fields[field], last.get(field), settings)
            for field in SETS
            if field in change.fields
        }
        self.changes.append(change.model_copy(update={"fields": words}))

    async def _is_told_beside(self, memory: Memory) -> bool:
        others = [note for note in self._old.others if not set(memory.sources).isdisjoint(note.sources)]
        if any(note.content == _said(memory) for note in others):
            return True
        others = [note for note in others if note.kind == "note"]
        if memory.about is not None or not others:
            return False
        words = {"keywords": memory.keywords, "tags": memory.tags}
        told = others[0].model_copy(update={**words, "content": memory.text, "speaker": None, "context": ""})
        (vector,) = (await embed(self.rooms, [self.rooms.render(told)])).values()
        _, matrix = await to_thread(self.rooms.index.vectors, [note.id for note in others])
        return bool(len(matrix) and float((matrix @ vector).max()) >= ALIKE)

    def _ends(self) -> list[Revision]:
        """Return what is to be taken back, oldest first: links that said `tells again`, and the ends of other facts."""
        ledger, box = self.rooms.ledger, self.draft.box
        found: dict[int | None, Revision] = {revision.id: revision for revision in self._old.links}
        going = {note.id for note in self.gone}
        for fact in (note for note in self.gone if isinstance(note.about, Fact)):
            ends = [r for r in ledger.revisions(box, caused_by=fact.id) if _is_end(r, going)]
            ended: dict[str, Any] = ledger.get([revision.note_id for revision in ends], boxes=[box])
            shows = {i for i, note in ended.items() if note.superseded_by == fact.id and note.status != "archived"}
            found.update({revision.id: revision for revision in ends if revision.note_id in shows})
        return [found[key] for key in sorted(found, key=lambda key: key or 0)]


def _is_end(revision: Revision, going: Collection[str]) -> bool:
    stands = revision.cause.kind == "supersede" and not revision.undone and revision.field != LINK_FIELD
    return stands and revision.field != "status" and revision.note_id not in going


def _said(memory: Memory) -> str:
    return memory.text if memory.about is None else memory.about.text


def _to_archive(note: Note) -> Change:
    cause = Cause(kind="rebuild", notes=note.sources)
    return Change(note_id=note.id, expected_version=note.version, fields={"status": "archived"}, cause=cause)
