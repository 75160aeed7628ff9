"""Opens what was left, and says all that is wrong with it; in a process of its own, since what was left may kill it."""

from __future__ import annotations

from collections import Counter

from amem.embedding import HashEmbedder
from amem.memory import AsyncMemory
from amem.repair import repair
from amem.store.doctor import doctor
from amem.testing import ScriptedLLM

from .oracle import canaries
from .worker import BOXES

UNFINISHED = "unfinished"
"""Files that have still to be written anew after a forgetting, which wants to be alone with them."""
MENDABLE = {"vector_missing", UNFINISHED}
"""What a kill may leave behind, besides: a changed note that is not embedded yet. Words find it, process mends it."""
DAMAGED = {"index_damaged", "index_missing", "index_ghost", "index_differs"}
"""What may be found besides, where Chroma's files were damaged on purpose."""


async def inspect(directory, oracle, settings, *, damaged=False):
    """Return how many things were looked at, and what is wrong."""
    return await _Inspection(oracle, damaged).of(directory, settings)


class _Inspection:
    def __init__(self, oracle, damaged):
        self._oracle = oracle
        self._allowed = MENDABLE | (DAMAGED if damaged else set())
        self._wrong = []
        self._looked = 0

    async def of(self, directory, settings):
        llm = ScriptedLLM({"note": {"notes": []}, "link_evolve": {"links": [], "changes": []}})
        async with AsyncMemory.open(directory, llm=llm, embedder=HashEmbedder(), **settings) as memory:
            await self._doctor(memory)
            for name in BOXES:
                await self._notes(memory.box(name))
            await self._updates(memory)
            self._forgotten(memory)
            await self._goes_on(memory)
            unfinished = memory._rooms.ledger.unfinished()
        if not unfinished:
            self._bytes(directory)
        return self._looked, self._wrong

    def _expect(self, holds, what):
        self._looked += 1
        if not holds:
            self._wrong.append(what)

    async def _doctor(self, memory):
        rooms = memory._rooms
        report = doctor(rooms.ledger, rooms.vectors, rooms.index)
        self._looked += len(report.checked)
        for problem in report.problems:
            self._expect(problem.kind in self._allowed, f"doctor: {problem.what}")
        if report.problems:
            for problem in (await repair(rooms, report)).problems:
                self._expect(problem.kind == UNFINISHED, f"doctor after repair: {problem.what}")

    async def _notes(self, box):
        there = Counter()
        page = await box.list(limit=1000, archived=True, outdated=True)
        there.update(note.content for note in page.notes)
        while page.next:
            page = await box.list(limit=1000, archived=True, outdated=True, after=page.next)
            there.update(note.content for note in page.notes)
        certain = {text for text, name in self._oracle.certain.items() if name == box.name}
        possible = {text for text, name in self._oracle.possible.items() if name == box.name}
        for text in certain:
            self._expect(text in there, f"lost from {box.name}: {text}")
        for text, count in there.items():
            self._expect(text in possible, f"a ghost, or forgotten, in {box.name}: {text}")
            self._expect(count == 1, f"{count} times in {box.name}: {text}")

    async def _updates(self, memory):
        """An update that was acknowledged stands in the note's history, whoever else changed it."""
        certain = self._oracle.certain
        for tag, (text, note_id) in self._oracle.updates.items():
            if text in certain:
                history = await memory.box(certain[text]).history(note_id)
                told = any(revision.field == "tags" and tag in (revision.after or ()) for revision in history)
                self._expect(told, f"an update was lost: {tag} of {text}")

    def _forgotten(self, memory):
        """Look for what was forgotten in every row of every table."""
        found = set()
        with memory._rooms.ledger.database.reading() as connection:
            tables = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'").scalars().all()
            for table in tables:
                for row in connection.exec_driver_sql(f'SELECT * FROM "{table}"'):
                    for canary in canaries(repr(tuple(row))) & self._oracle.forgotten - found:
                        self._expect(False, f"forgotten, and still in {table}: {canary}")
                        found.add(canary)
        self._looked += len(self._oracle.forgotten)

    def _bytes(self, directory):
        """Look for what was forgotten in every byte of every file."""
        for path in directory.rglob("*"):
            if path.is_file():
                for canary in canaries(path.read_bytes().decode("latin-1")) & self._oracle.forgotten:
                    self._expect(False, f"forgotten, and still in the file {path.name}: {canary}")
        self._looked += len(self._oracle.forgotten)

    async def _goes_on(self, memory):
        box = memory.box("later")
        result = await box.add("bread that came later")
        hits = await box.search("bread", k=1000)
        self._expect(result.id in {hit.note.id for hit in hits}, "a new note is not found")
        await box.delete(result.id)
