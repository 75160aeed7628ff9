"""A ledger on its own: notes, plans and vectors without an embedder or a model."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from itertools import count

import numpy as np

from amem.changes import undo_plan
from amem.filters import Filter
from amem.model import Cause, Link, Note
from amem.render import renderer
from amem.store.cleaning import clean
from amem.store.ledger import Ledger
from amem.store.outbox import LedgerVectors
from amem.store.plan import Call, Change, Plan, PlannedLink, apply_change
from amem.store.sqlite import words_of

DIMENSION = 8
NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
render = renderer("spoken-1")
ANY = Filter(archived=True, outdated=True)


def vector(text):
    """A unit vector that depends on nothing but the text."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])
    row = np.random.default_rng(seed).normal(size=DIMENSION).astype(np.float32)
    return row / np.linalg.norm(row)


class Anything(dict):
    """Vectors of whatever text is asked for."""

    def __contains__(self, text):
        return True

    def __missing__(self, text):
        return vector(text)


VECTORS = Anything()


class Maker:
    """Makes notes and plans, with ids and moments that count up."""

    def __init__(self, first=1):
        self._numbers = count(first)
        self._minutes = count()

    def now(self):
        return NOON + timedelta(minutes=next(self._minutes))

    def new(self, content, **fields):
        number = next(self._numbers)
        moment = self.now()
        given = {"id": f"00000000-0000-7000-8000-{number:012d}", "occurred_at": moment, "created_at": moment}
        return Note(**{**given, "content": content, "pending_reason": "queued", **fields})

    def plan(self, *changes, links=(), shown=None, box="default", **more):
        """A plan of one call that was shown `shown`, or of no call."""
        calls = () if shown is None else (call(*shown),)
        return Plan(box=box, at=self.now(), calls=calls, changes=changes, links=tuple(links), model="model", **more)


class Shelf(Maker):
    """A ledger in a directory, and short ways to put something into it."""

    def __init__(self, directory, name="ledger.db"):
        super().__init__()
        self.url = f"sqlite:///{directory / name}"
        self.path = directory / name
        self.ledger = Ledger(self.url, render=render)
        self.vectors = LedgerVectors(self.ledger.database, DIMENSION)

    def accept(self, *contents, source=None, **fields):
        """Accept texts; return the notes."""
        sources = {} if source is None else {"sources": (source,)}
        notes = [self.new(content, **sources, **fields) for content in contents]
        return [note for note, _ in self.ledger.accept(notes, [source] * len(notes), VECTORS)]

    def add(self, content, **fields):
        """Accept one text; return its note."""
        return self.accept(content, **fields)[0]

    def ready(self, content, **fields):
        """Accept one text and make it ready, as a model that has nothing to say would."""
        note = self.add(content, **fields)
        return self.build(note, context="")

    def get(self, note):
        return self.ledger.get([note if isinstance(note, str) else note.id])[note if isinstance(note, str) else note.id]

    def ids(self, given=ANY, box="default"):
        return self.ledger.matching_ids(box, given)

    def holding(self, question, box="default"):
        """The ids of the notes that hold any word of a question, in the order they were accepted."""
        rids = {int(rid) for rids in self.ledger.postings(box, words_of(question)) for rid in rids}
        return [note_id for rid, note_id in self.sql("SELECT rid, id FROM note ORDER BY rid") if rid in rids]

    def commit(self, plan):
        return self.ledger.commit(plan, VECTORS)

    def build(self, note, *mates, **fields):
        """Have a model build a note, having seen it and its `mates`; return the note."""
        state = {"status": "ready", "pending_reason": None, "error": None}
        step = change(note, "build", note, call=0, **fields, **state)
        return self.commit(self.plan(step, shown=(note, *mates), box=note.box)).notes[note.id]

    def evolve(self, note, *causes, shown=(), **fields):
        """Have a model change a note because of `causes`; return what was committed."""
        step = change(self.get(note), "evolve", *causes, call=0, **fields)
        return self.commit(self.plan(step, shown=(note, *causes, *shown), box=note.box))

    def edit(self, note, **fields):
        """Have the user change a note."""
        return self.commit(self.plan(change(note, "user", version=None, **fields), box=note.box))

    def link(self, source, target, *, reason="the same plan", shown=()):
        """Have a model link two notes; return what was committed."""
        planned = PlannedLink(link=a_link(source, target, reason), cause=cause("link", source), call=0)
        return self.commit(self.plan(links=[planned], shown=(source, target, *shown), box=source.box))

    def undo(self, revision=None, *, caused_by=None, box="default"):
        """Take back a revision, or what a note brought about."""
        caused_by = None if caused_by is None else caused_by.id
        return self.commit(undo_plan(self.ledger, box, revision, caused_by, self.now()))

    def forget(self, *notes, box="default"):
        receipt = self.ledger.forget(box, [note.id for note in notes])
        clean(self.ledger, self.vectors, self.path.parent)
        return receipt

    def history(self, note, box="default"):
        return self.ledger.revisions(box, note_id=note.id)

    def sql(self, statement, **values):
        """Do something to the database that amem would not."""
        from sqlalchemy import text

        with self.ledger.database.writing() as connection:
            result = connection.execute(text(statement), values)
            return result.all() if result.returns_rows else []

    def tables(self):
        """Everything that is stored, by table."""
        names = [name for (name,) in self.sql("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        return {name: self.sql(f'SELECT * FROM "{name}"') for name in names}

    def mentions(self, word):
        """The tables in which a word still is, whatever the case, the full-text index's own included."""
        word = word.casefold()
        held = {name: repr(rows).casefold() for name, rows in self.tables().items() if name != "note_fts_data"}
        return sorted(name for name, text in held.items() if word in text)

    def close(self):
        self.ledger.close()


def cause(kind, *notes):
    return Cause(kind=kind, notes=tuple(note.id for note in notes))


def call(*shown, stage="link_evolve"):
    return Call(stage=stage, model="model", prompt="prompt@v1+0", shown=tuple(note.id for note in shown))


def change(note, kind, *causes, version=..., call=None, **fields):
    expected = note.version if version is ... else version
    return Change(note_id=note.id, expected_version=expected, fields=fields, cause=cause(kind, *causes), call=call)


def a_link(source, target, reason="the same plan", **more):
    given = {"box": source.box, "relation": "continues", "strength": 0.5, "created_at": NOON}
    return Link(source=source.id, target=target.id, reason=reason, **{**given, **more})


def applied(note, **fields):
    return apply_change(note, change(note, "user", **fields))
