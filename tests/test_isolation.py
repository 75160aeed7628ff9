"""No sequence of verbs ever shows one box's text in another, nor to the model in one breath with another's."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, initialize, invariant, multiple, rule
from support import Clock, counting_ids
from talkative import Talkative

from amem import Memory
from amem.embedding import HashEmbedder
from amem.errors import InputError, NoteNotFound, RevisionNotFound, UndoConflict

CANARIES = {"default": "zqdefault", "alice": "zqalpha", "Alice": "zqgamma", "alice/../bob": "zqdelta"}
TEXTS = ["the bread is in the oven", "the oven is hot today", "today we bake bread", "a boat on the lake"]
BOXES = st.sampled_from(list(CANARIES))
ABOUT = st.fixed_dictionaries(
    {},
    optional={
        "session_id": st.sampled_from(["s1", "s2"]),
        "speaker": st.sampled_from(["Ana", "Ben"]),
        "source": st.sampled_from(["m1", "m2", "m3"]),
        "metadata": st.sampled_from([{"box": "default"}, {"box": "alice"}]),
    },
)


class Boxes(RuleBasedStateMachine):
    """Every box says the same, but for one word of its own."""

    notes = Bundle("notes")
    revisions = Bundle("revisions")

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.ids = counting_ids()
        self.llm = Talkative()
        self.memory = None
        self.owners = {}
        self.seen = 0

    @initialize()
    def open(self):
        self.memory = Memory.open(
            Path(self.folder.name) / "memory", llm=self.llm, embedder=HashEmbedder(), now=Clock(), new_id=self.ids,
            chroma=False, similarity_floor=-1.0, window=2, reconstruct=True, reconstruct_threshold=0.0,
        )  # fmt: skip

    def box(self, name):
        return self.memory if name == "default" else self.memory.box(name)

    def teardown(self):
        if self.memory is not None:
            self.memory.close()
        self.folder.cleanup()

    # -- what may happen ---------------------------------------------------------------------------

    @rule(target=notes, box=BOXES, text=st.sampled_from(TEXTS), about=ABOUT, wait=st.booleans())
    def add(self, box, text, about, wait):
        result = self.box(box).add(f"{text} {CANARIES[box]}", **about, wait=wait)
        self.owners[result.id] = box
        return result.id

    @rule(box=BOXES, texts=st.lists(st.sampled_from(TEXTS), min_size=2, max_size=3), about=ABOUT)
    def add_many(self, box, texts, about):
        shared = {name: value for name, value in about.items() if name != "source"}
        for result in self.box(box).add_many([f"{text} {CANARIES[box]}" for text in texts], **shared):
            self.owners[result.id] = box

    @rule(note=notes)
    def update(self, note):
        with suppress(NoteNotFound):
            box = self.owners[note]
            self.box(box).update(note, tags=[f"mine {CANARIES[box]}"])

    @rule(target=notes, note=notes, text=st.sampled_from(TEXTS))
    def correct(self, note, text):
        box = self.owners[note]
        try:
            result = self.box(box).correct(note, f"{text} {CANARIES[box]}")
        except (NoteNotFound, InputError):  # it is gone, or its place is taken
            return multiple()
        self.owners[result.id] = box
        return result.id

    @rule(target=notes, box=BOXES, text=st.sampled_from(TEXTS), session=st.sampled_from(["s1", "s2"]))
    def observe(self, box, text, session):
        seen = self.box(box).session(session).observe(f"{text} {CANARIES[box]}")
        self.owners[seen.note.id] = box
        return seen.note.id

    @rule(box=BOXES, what=st.sampled_from(["bread", "cake"]))
    def state_what_holds(self, box, what):
        self.box(box).facts.add("Ana", "bakes", f"{what} {CANARIES[box]}")
        self.box(box).episodes.add(f"the {what} burnt {CANARIES[box]}", ["opened the oven"])

    @rule(box=BOXES)
    def tidy_up(self, box):
        self.box(box).upkeep()

    @rule(target=revisions, note=notes)
    def evolve(self, note):
        with suppress(NoteNotFound):
            self.box(self.owners[note]).evolve(note)
            return (note, self.box(self.owners[note]).history(note)[-1].id)
        return (note, 0)

    @rule(note=notes)
    def undo_all(self, note):
        with suppress(UndoConflict):
            self.box(self.owners[note]).undo(caused_by=note)

    @rule(note=consumes(notes))
    def delete(self, note):
        self.box(self.owners[note]).delete(note)

    @rule(box=BOXES, down=st.sampled_from([(), ("link_evolve",), ("note",)]))
    def process(self, box, down):
        self.llm.down = down
        self.box(box).process()
        self.llm.down = ()

    @rule()
    def reopen(self):
        self.memory.close()
        self.open()

    # -- what must fail -----------------------------------------------------------------------------

    @rule(note=notes, box=BOXES)
    def reach_over(self, note, box):
        if self.owners[note] == box:
            return
        other = self.box(box)
        for verb in (other.get, other.links, other.neighbours, other.history, other.evolve, other.update):
            with pytest.raises(NoteNotFound):
                verb(note)
        with pytest.raises(NoteNotFound):
            other.explain("bread", note)
        assert not other.delete(note)
        assert other.undo(caused_by=note) == ()

    @rule(made=revisions, box=BOXES)
    def undo_another_ones(self, made, box):
        note, revision = made
        if self.owners[note] != box:
            with pytest.raises(RevisionNotFound):
                self.box(box).undo(revision)

    @rule(box=BOXES)
    def search_through_a_view(self, box):
        with pytest.raises(InputError):
            self.memory.box(box).search("bread", boxes=list(CANARIES))

    # -- what must hold -----------------------------------------------------------------------------

    @invariant()
    def no_reading_verb_shows_another_box(self):
        if self.memory is None:
            return
        for name in CANARIES:
            others = [canary for other, canary in CANARIES.items() if other != name]
            shown = repr(list(_everything(self.box(name), others)))
            assert not [canary for canary in others if canary in shown]

    @invariant()
    def no_prompt_shows_two_boxes(self):
        for request in self.llm.calls[self.seen :]:
            text = repr((request.messages, request.variables))
            assert sum(canary in text for canary in CANARIES.values()) == 1
        self.seen = len(self.llm.calls)


def _everything(box, words):
    """All that a box says of itself, also when it is asked for what others hold."""
    question = f"bread oven {' '.join(words)}"
    page = box.list(limit=1000, archived=True, outdated=True)
    yield page
    yield box.search(question, k=50, explain=True, links=20)
    yield box.search(words[0], k=50, speaker="Ana")
    yield box.recall(question, budget=10_000)
    yield box.facts.list(outdated=True), box.facts.search(question, k=50), box.episodes.search(question, k=50)
    yield box.session("s1").turns(), box.session("s1").context(question, 10_000)
    for note in page.notes[-3:]:
        yield box.get(note.id), box.links(note.id), box.neighbours(note.id), box.history(note.id)
    for note in page.notes[:1]:
        yield box.explain(question, note.id).model_dump()
    yield box.stats()
    assert box.stats().notes == len(page.notes)


Boxes.TestCase.settings = settings(
    max_examples=4, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck)
)
TestBoxes = Boxes.TestCase


async def test_a_box_in_chroma_is_found_by_its_own_searches_only(open_memory):
    async with open_memory(chroma=True, exact_up_to=0, index_batch=1) as memory:
        for name, canary in CANARIES.items():
            await memory.box(name).add_many([f"{text} {canary}" for text in TEXTS])
        for name, canary in CANARIES.items():
            hits = await memory.box(name).search("bread in the oven", k=50)
            assert {hit.note.content for hit in hits} == {f"{text} {canary}" for text in TEXTS}
            assert (await memory.box(name).stats()).index == "chroma"


async def test_several_boxes_are_read_only_where_the_memory_is_asked_for_them(open_memory):
    async with open_memory() as memory:
        for name, canary in CANARIES.items():
            await memory.box(name).add(f"bread {canary}")
        hits = await memory.search("bread", boxes=["alice", "Alice"])
        assert {hit.note.box for hit in hits} == {"alice", "Alice"}
        assert {hit.note.box for hit in await memory.search("bread")} == {"default"}
