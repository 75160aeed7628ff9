"""What a child process does to a memory, and the fuse that kills it at a named step of what it does."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from support import builds

from amem.embedding import HashEmbedder
from amem.memory import AsyncMemory
from amem.store.database import Database
from amem.testing import ScriptedLLM

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
TEXTS = [f"bread number {number}" for number in range(4)]
WITH_CHROMA = {"chroma": True, "index_batch": 1}
SETTINGS = {"similarity_floor": -1.0, "max_tags": 200, "exact_up_to": 0}


def weaves(request):
    """Link every new note with the first one shown, and let it say so."""
    first, *_ = [*request.variables["neighbours"], *request.variables["notes"]]
    new = [note for note in request.variables["notes"] if note["number"] != first["number"]]
    links = [
        {"source": note["number"], "targets": [first["number"]], "relation": "goes on", "reason": "bread"}
        for note in new
    ]
    changes = [
        {
            "neighbour": first["number"],
            "because": [new[-1]["number"]],
            "context": f"About: {first['text']}, beside {new[-1]['text']}.",
            "keywords": [],
            "tags": [f"beside {new[-1]['text']}"],
        }
    ]
    return {"links": links, "changes": changes if request.variables["neighbours"] else []}


def scripted():
    return ScriptedLLM({"note": builds, "link_evolve": weaves})


def opened(directory, **settings):
    """Open a memory that does the same whenever it does it."""
    given = {**SETTINGS, "chroma": False, **settings}
    return AsyncMemory.open(directory, llm=scripted(), embedder=HashEmbedder(), now=lambda: NOON, **given)


class Fuse:
    """Counts the steps of what is done while it is lit, tells of each, and kills this process at the doomed one."""

    def __init__(self, doomed, tell):
        self.is_lit = False
        self._doomed = doomed
        self._tell = tell
        self._seen = Counter()

    def reach(self, step):
        if self.is_lit:
            self._seen[step] += 1
            name = f"{step} {self._seen[step]}"
            self._tell(("reached", name))
            if name == self._doomed:
                os.kill(os.getpid(), signal.SIGKILL)


def wire(fuse):
    """Lead the fuse to every place of amem where something lasting, or slow, is about to happen or has happened."""
    from amem.store import access
    from amem.store.chroma import ChromaIndex

    _before(HashEmbedder, "embed", fuse, lambda _: "embed")
    _before(ScriptedLLM, "complete", fuse, lambda request: f"ask {request.prompt.name}")
    for name in ("create", "upsert", "delete", "drop"):
        _before(ChromaIndex, name, fuse, lambda *_, name=name: f"chroma {name}")
    _before(access, "remove", fuse, lambda _: "chroma remove")
    for name in ("writing", "migrating"):
        setattr(Database, name, _committing(getattr(Database, name), fuse))


def _before(owner, name, fuse, step):
    original = getattr(owner, name)

    def reaching(*given, **named):
        fuse.reach(step(*(given[1:] if isinstance(owner, type) else given)))
        return original(*given, **named)

    setattr(owner, name, reaching)


def _committing(original, fuse):
    @contextmanager
    def transaction(self):
        with original(self) as connection:
            yield connection
            fuse.reach("commit")  # all is written, nothing is kept yet
        fuse.reach("committed")

    return transaction


# -- what is done ---------------------------------------------------------------------------------------


async def fill(memory):
    """Put in three notes, one after the other, of which each changes the first."""
    for number, text in enumerate(TEXTS[:3]):
        await memory.add(text, source=f"m{number}", session_id="s")


async def add(memory, ids):
    await memory.add(TEXTS[3], source="m3", session_id="s")


async def evolve(memory, ids):
    await memory.evolve(ids[1])


async def evolve_dry(memory, ids):
    await memory.evolve(ids[1], dry_run=True)


async def update(memory, ids):
    await memory.update(ids[0], tags=["mine"], context="Mine.", metadata={"a": [1]})


async def pin(memory, ids):
    await memory.pin(ids[0])


async def fact(memory, ids):
    await memory.facts.add("Mira", "bakes", "bread", sources=[ids[0]])


async def correct(memory, ids):
    await memory.correct(ids[2], TEXTS[3])


async def undo(memory, ids):
    await memory.undo(caused_by=ids[2])


async def undo_one(memory, ids):
    first, *_ = [r for r in await memory.history(ids[0]) if r.field == "context" and r.cause.kind == "evolve"]
    *_, last = [r for r in await memory.history(ids[0]) if r.field == "context" and not r.undone and r != first]
    await memory.undo(last)


async def delete(memory, ids):
    await memory.delete(ids[2])


async def process(memory, ids):
    await memory.process(all=True)


async def reindex(memory, ids, *, embed=False):
    from amem.repair import reindex as make_anew

    await make_anew(memory._rooms, embed=embed)


async def reindex_embed(memory, ids):
    await reindex(memory, ids, embed=True)


VERBS = {
    verb.__name__: verb
    for verb in (
        add, evolve, evolve_dry, update, pin, fact, correct, undo, undo_one, delete, process, reindex, reindex_embed,
    )
}  # fmt: skip


def do_verb(fuse, directory, verb, settings):
    """Open the memory and do one verb, with the fuse lit."""

    async def whole():
        async with opened(directory, **settings) as memory:
            ids = [note.id for note in (await memory.list()).notes]
            fuse.is_lit = True
            await VERBS[verb](memory, ids)

    asyncio.run(whole())


def do_import(fuse, directory, file):
    """Run `amem import` as the command line does, but with a model that is a script."""
    import amem.opening
    from amem.interfaces.cli.app import app

    amem.opening._live = lambda settings: scripted()
    amem.opening.now_utc = lambda: NOON
    fuse.is_lit = True
    options = ["--dir", directory, "--set", "chroma=false", "--set", "embedding=hash", "--set", "similarity_floor=-1"]
    app([*options, "--llm", "scripted", "import", file], standalone_mode=False)


def do_upgrade(fuse, path, scripts):
    """Open a ledger of an older schema; a statement is a step. With `scripts`, go on to what they lead to."""
    from sqlalchemy import Engine, event

    from amem.store.migrations.upgrade import upgrade

    event.listen(Engine, "before_cursor_execute", lambda *_: fuse.reach("statement"))
    fuse.is_lit = scripts is None
    database = Database(f"sqlite:///{path}")
    if scripts is not None:
        fuse.is_lit = True
        with database.migrating() as connection:
            upgrade(connection, "head", Path(scripts))
    database.close()


def live(work, doomed, pipe, *given):
    """Do `work` until it is done, or until the fuse has burnt down; a child process begins here."""
    fuse = Fuse(doomed, pipe.send)
    wire(fuse)
    work(fuse, *given)
    fuse.reach("end")
