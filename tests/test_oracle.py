"""The whole memory against a simple model of it in a dict: after every verb both say the same."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from support import Clock, counting_ids
from talkative import Talkative

from amem import Memory
from amem.embedding import HashEmbedder
from amem.errors import UndoConflict
from amem.store.doctor import doctor

LEARNED = ("keywords", "tags", "context")
TRUST = {"untrusted": 0, "tool": 1, "assistant": 2, "user": 3}
LIMIT = 4
"""Of keywords and of tags, so low that it is met."""


def merged(old, new):
    folded = {word.casefold() for word in old}
    for word in new:
        if word.casefold() not in folded and len(old) < LIMIT:
            folded.add(word.casefold())
            old = (*old, word)
    return old


class Oracle:
    """What the memory should hold, said as simply as can be."""

    def __init__(self):
        self.notes = {}
        self.links = set()
        self.log = {}
        """By note: its revisions, each [field, before, after, undone]."""

    def accept(self, note, **given):
        pinned = tuple(name for name in LEARNED if given.get(name) is not None)
        self.notes[note] = {
            "content": given["content"], "trust": given.get("trust", "user"), "pinned": pinned, "built": False,
            "keywords": (), "tags": tuple(given.get("tags") or ()), "context": "", "state": "queued",
        }  # fmt: skip
        self.log[note] = []

    def set(self, note, **fields):
        about = self.notes[note]
        for name in LEARNED:
            if name in fields and fields[name] != about[name]:
                before, after = ([*v] if isinstance(v, tuple) else v for v in (about[name], fields[name]))
                self.log[note].append([name, before, after, False])
                about[name] = fields[name]

    def hear(self, exchanges):
        """Do what the model said, as far as it may."""
        for request, reply in exchanges:
            {"note": self._build, "link_evolve": self._weave}[request.prompt.name](request, reply)

    def _ids(self, shown):
        by_text = {about["content"]: note for note, about in self.notes.items()}
        return {entry["number"]: by_text[entry["text"]] for entry in shown}

    def _build(self, request, reply):
        turns = self._ids(request.variables["turns"])
        for number, note in turns.items():
            about = self.notes[note]
            if reply is None:
                about["state"] = "failed"
                continue
            fields = reply["notes"][number]
            given = {"keywords": tuple(fields["keywords"]), "tags": tuple(fields["tags"]), "context": fields["context"]}
            self.set(note, **{name: value for name, value in given.items() if name not in about["pinned"]})
            about.update(built=True, state="ready")

    def _weave(self, request, reply):
        older, newer = self._ids(request.variables["neighbours"]), self._ids(request.variables["notes"])
        for note in newer.values():
            self.notes[note]["state"] = "failed" if reply is None else "ready"
        if reply is None:
            return
        for change in reply["changes"]:
            self._change(older[change["neighbour"]], newer[change["because"][0]], change)
        for link in reply["links"]:
            everyone = {**older, **newer}
            pair = (newer[link["source"]], everyone[link["targets"][0]])
            if not {pair, pair[::-1]} & self.links:
                self.links.add(pair)
                self.log[pair[0]].append(["link", None, pair[1], False])

    def _change(self, note, because, change):
        about = self.notes[note]
        if about["state"] != "ready" or TRUST[self.notes[because]["trust"]] < TRUST[about["trust"]]:
            return
        given = {
            "keywords": merged(about["keywords"], change["keywords"]),
            "tags": merged(about["tags"], change["tags"]),
            "context": change["context"],
        }
        self.set(note, **{name: value for name, value in given.items() if name not in about["pinned"]})

    def undo(self, note, place):
        """Take back one revision; return whether that can be done."""
        field, before, after, _ = self.log[note][place]
        now = self.notes[note].get(field)
        if field == "link":
            self.links.discard((note, after))
            self.log[note].append(["link", after, None, False])
        elif field == "context":
            if now != after:
                return False
            self.set(note, context=before)
        else:
            kept = [word for word in now if word in before or word not in after]
            gone = [word for word in before if word not in after and word not in kept]
            self.set(note, **{field: (*kept, *gone)})
        self.log[note][place][3] = True
        return True

    def delete(self, note):
        del self.notes[note], self.log[note]
        self.links = {pair for pair in self.links if note not in pair}


class Whole(RuleBasedStateMachine):
    """Verbs in any order, on a real ledger, with a model that does as much as it may."""

    def __init__(self):
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.ids = counting_ids()
        self.llm, self.oracle, self.memory, self.said = Talkative(), Oracle(), None, 0

    @initialize()
    def open(self):
        self.memory = Memory.open(
            Path(self.folder.name), llm=self.llm, embedder=HashEmbedder(), now=Clock(), new_id=self.ids, chroma=False,
            similarity_floor=-1.0, window=2, max_keywords=LIMIT, max_tags=LIMIT,
        )  # fmt: skip

    def teardown(self):
        if self.memory is not None:
            rooms = self.memory._inner._rooms
            report = doctor(rooms.ledger, rooms.vectors, rooms.index)
            self.memory.close()
            assert report.problems == ()
        self.folder.cleanup()

    def texts(self, count):
        """Texts that are all near each other, each with a word of its own."""
        self.said += count
        return [f"bread oven word{number}" for number in range(self.said - count, self.said)]

    # -- verbs --------------------------------------------------------------------------------------

    @rule(
        trust=st.sampled_from(["user", "user", "assistant", "tool"]),
        tags=st.none() | st.just(["mine"]),
        wait=st.booleans(),
    )
    def add(self, trust, tags, wait):
        (text,) = self.texts(1)
        note = self.memory.add(text, trust=trust, tags=tags, wait=wait).id
        if not wait:
            self.memory.process()
        self.oracle.accept(note, content=text, trust=trust, tags=tags)
        self.oracle.hear(self.llm.taken())

    @rule(count=st.integers(1, 3), down=st.sampled_from([(), (), ("note",), ("link_evolve",)]))
    def add_many(self, count, down):
        self.llm.down = down
        texts = self.texts(count)
        for text, result in zip(texts, self.memory.add_many(texts, session_id="s"), strict=True):
            self.oracle.accept(result.id, content=text)
        self.oracle.hear(self.llm.taken())
        self.llm.down = ()

    @rule()
    def process(self):
        self.memory.process()
        self.oracle.hear(self.llm.taken())

    @precondition(lambda self: self.oracle.notes)
    @rule(data=st.data(), field=st.sampled_from(LEARNED))
    def update(self, data, field):
        note = self.pick(data)
        value = "by hand" if field == "context" else ("by", "hand")
        self.memory.update(note, **{field: value})
        self.oracle.set(note, **{field: value})
        pinned = self.oracle.notes[note]["pinned"]
        self.oracle.notes[note]["pinned"] = tuple(dict.fromkeys((*pinned, field)))

    @precondition(lambda self: any(self.oracle.log.values()))
    @rule(data=st.data())
    def undo(self, data):
        note = data.draw(st.sampled_from([note for note, log in self.oracle.log.items() if log]))
        places = [i for i, entry in enumerate(self.oracle.log[note]) if not entry[3] and entry[2] is not None]
        if not places:
            return
        place = data.draw(st.sampled_from(places))
        revision = self.memory.history(note)[place]
        if revision.cause.kind == "undo":
            return  # taking back an undoing is told apart in tests/test_changes.py
        try:
            self.memory.undo(revision)
            was_done = True
        except UndoConflict:
            was_done = False
        assert self.oracle.undo(note, place) is was_done

    @precondition(lambda self: self.oracle.notes)
    @rule(data=st.data())
    def delete(self, data):
        note = self.pick(data)
        word = self.oracle.notes[note]["content"].split()[-1]
        assert self.memory.delete(note)
        self.oracle.delete(note)
        self.adopt(word)

    @rule()
    def reopen(self):
        self.memory.close()
        self.open()

    def pick(self, data):
        return data.draw(st.sampled_from(list(self.oracle.notes)))

    def adopt(self, word):
        """Take over what forgetting left of the others, having checked that it left nothing of the word."""
        for note in self.memory.list(limit=1000).notes:
            known = self.oracle.notes[note.id]
            told = (note.keywords, note.tags, note.context, self.memory.history(note.id), self.memory.links(note.id))
            assert not {word, f"of {word}", f"since {word}"} & set(repr(told).replace("'", " ").split())
            assert all(getattr(note, name) == known[name] for name in note.pinned)
            known.update({name: getattr(note, name) for name in LEARNED}, state=state(note))
            self.oracle.log[note.id] = [entry(revision) for revision in self.memory.history(note.id)]
            self.oracle.links -= {pair for pair in self.oracle.links if note.id in pair}
        left = {(link.source, link.target) for note in self.oracle.notes for link in self.memory.links(note)}
        self.oracle.links |= left

    # -- what must hold -----------------------------------------------------------------------------

    @invariant()
    def both_say_the_same(self):
        if self.memory is None:
            return
        notes = self.memory.list(limit=1000).notes
        assert {note.id: about(note) for note in notes} == {i: expected(n) for i, n in self.oracle.notes.items()}
        links = {(link.source, link.target) for note in notes for link in self.memory.links(note.id)}
        assert links == self.oracle.links
        history = {note.id: [entry(revision) for revision in self.memory.history(note.id)] for note in notes}
        assert history == self.oracle.log
        stats = self.memory.stats()
        states = Counter(about["state"] for about in self.oracle.notes.values())
        assert (stats.notes, stats.ready, stats.links) == (len(notes), states.pop("ready", 0), len(links))
        assert stats.pending == states

    @invariant()
    def search_finds_every_note_once_in_the_same_order(self):
        if self.memory is None:
            return
        found, again = (self.memory.search("bread oven", k=100) for _ in range(2))
        assert [hit.note.id for hit in found] == [hit.note.id for hit in again]
        assert sorted(hit.note.id for hit in found) == sorted(self.oracle.notes)


def state(note):
    return note.status if note.status == "ready" else note.pending_reason


def about(note):
    return {**{name: getattr(note, name) for name in (*LEARNED, "content", "trust", "pinned")}, "state": state(note)}


def expected(known):
    return {name: known[name] for name in (*LEARNED, "content", "trust", "pinned", "state")}


def entry(revision):
    """One revision as the oracle keeps it; of a link, its other end."""
    ends = [value["target"] if isinstance(value, dict) else value for value in (revision.before, revision.after)]
    return [revision.field, *ends, revision.undone]


Whole.TestCase.settings = settings(
    max_examples=6, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck)
)
TestWhole = Whole.TestCase
