"""Processes that are killed at a named step, and what must hold of the memory they leave."""

from __future__ import annotations

import multiprocessing
import shutil
import signal
from dataclasses import dataclass, field
from functools import lru_cache

from crash_child import fill, live, opened

from amem.repair import repair
from amem.store.doctor import doctor


@dataclass
class Life:
    """What a child process did, and how it ended."""

    exitcode: int
    reached: list[str] = field(default_factory=list)

    @property
    def was_killed(self):
        return self.exitcode == -signal.SIGKILL


@lru_cache
def processes():
    """Real processes that begin with everything imported, which would take each of them a second."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["chromadb", "amem.memory", "amem.repair", "amem.testing", "amem.interfaces.cli.app"]
    )
    return context


def lead(work, *given, doomed=None):
    """Let a child process do `work`, until the step `doomed`; tell what it did."""
    receiving, sending = processes().Pipe(duplex=False)
    child = processes().Process(target=live, args=(work, doomed, sending, *given))
    child.start()
    sending.close()
    reached = []
    try:
        while True:
            reached.append(receiving.recv()[1])
    except EOFError:
        receiving.close()
    child.join(timeout=120)
    return Life(child.exitcode, reached)


def lives(work, *, place, at=lambda steps: steps):
    """Yield (step, arguments) for each step of `work`, killed there; `place` makes arguments anew each time.

    The steps are those that an undisturbed run takes, so none is ever forgotten; `at` may choose among them.
    """
    undisturbed = lead(work, *place())
    assert undisturbed.exitcode == 0
    for step in at(undisturbed.reached):
        arguments = place()
        life = lead(work, *arguments, doomed=step)
        assert life.was_killed, (step, life)
        yield step, arguments


async def state(memory):
    """All that a memory says, without ids and moments."""
    notes = {note.id: note for note in (await memory.list(limit=1000, archived=True, outdated=True)).notes}
    links = {
        (notes[link.source].content, notes[link.target].content, link.relation)
        for note_id in notes
        for link in await memory.links(note_id)
    }
    built = ("status", "pending_reason", "keywords", "tags", "context", "position", "pinned")
    said = [
        (n.content, *(getattr(n, name) for name in built), str(n.metadata), n.superseded_by is None)
        for n in notes.values()
    ]
    return said, sorted(links)


def problems(memory):
    """What the doctor finds, by kind."""
    rooms = memory._rooms
    return {problem.kind for problem in doctor(rooms.ledger, rooms.vectors, rooms.index).problems}


async def mended(memory):
    """What is left to find once everything has been repaired."""
    rooms = memory._rooms
    return (await repair(rooms, doctor(rooms.ledger, rooms.vectors, rooms.index))).problems


async def made(directory, **settings):
    """Make a memory of three notes, of which each changed the first; return its directory."""
    async with opened(directory, **settings) as memory:
        await fill(memory)
    return directory


def copies(template, directory):
    """A function that copies a memory to a new place under `directory`, each time another one."""
    count = 0

    def copy():
        nonlocal count
        count += 1
        return shutil.copytree(template, directory / f"copy{count}")

    return copy


async def goes_on(memory, status="ready"):
    """Have the memory take and find another note, beside all that it has."""
    text = "a bread that came later"
    result = await memory.add(text, source="later")
    assert result.status == status
    hits = await memory.search("bread", k=100)
    there = [note.content for note in (await memory.list(limit=1000)).notes]
    assert sorted(hit.note.content for hit in hits) == sorted(there)
    assert there.count(text) == 1
