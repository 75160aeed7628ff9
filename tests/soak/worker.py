"""One process that does random things to a memory, several at once, until its time is up or it is killed."""

from __future__ import annotations

import asyncio
import logging
import random
import time
import traceback

from amem.embedding import HashEmbedder
from amem.errors import InputError, LLMError, NoteNotFound, RevisionNotFound, UndoConflict
from amem.exporting.checking import problem
from amem.exporting.jsonl import read_lines
from amem.memory import AsyncMemory
from amem.store.lines import NoteLine
from amem.store.load import Load

from .journal import Journal
from .mind import model

BOXES = ("ann", "ben")
SESSIONS = ("s1", "s2", "s3")
CANARY = "zq"
TASKS = 3
"""Things a worker does at the same time."""
ENOUGH = 150
"""Notes in a box, above which more is forgotten than added."""
_WORDS = ("bread", "oven", "flour", "yeast", "crumb", "crust", "loaf", "miller", "baker", "dough", "salt", "rye")
_REFUSALS = (InputError, LLMError, NoteNotFound, RevisionNotFound, UndoConflict)
"""Errors that are answers: somebody else was quicker, or the model failed."""
_WEIGHTS = {
    "add": 30, "add_many": 6, "update": 12, "evolve": 8, "evolve_dry": 3, "undo": 8, "undo_caused": 4, "delete": 14,
    "process": 5, "search": 20, "recall": 8, "look": 8, "correct": 6, "pin": 4, "observe": 6, "fact": 4, "upkeep": 2,
    "export": 2,
}  # fmt: skip


def work(directory, journal, seed, seconds, settings):
    """Do random things for some seconds; the process that a round starts and kills."""
    logging.disable(logging.WARNING)  # a model that fails is what is wanted here
    asyncio.run(Worker(directory, journal, seed, settings).run(seconds))


class Worker:
    """The things that are done, each with what must be true of its result."""

    def __init__(self, directory, journal, seed, settings):
        self._directory = directory
        self._path = journal
        self._journal = None
        self._random = random.Random(seed)
        self._name = f"{CANARY}{seed:x}"
        self._count = 0
        self._settings = settings

    async def run(self, seconds):
        llm = model(self._random, lambda: self._journal.write("fault"))
        async with AsyncMemory.open(self._directory, llm=llm, embedder=HashEmbedder(), **self._settings) as memory:
            self._journal = Journal(self._path)  # that it is there says that the work begins
            until = time.monotonic() + seconds
            await asyncio.gather(*(self._go_on(memory, until) for _ in range(TASKS)))

    async def _go_on(self, memory, until):
        while time.monotonic() < until:
            box = memory.box(self._random.choice(BOXES))
            verb = self._random.choices(list(_WEIGHTS), _WEIGHTS.values())[0]
            try:
                await getattr(self, f"_{verb}")(box)
                self._journal.write("did", verb=verb)
            except _REFUSALS:
                self._journal.write("did", verb=verb)
            except Exception:  # noqa: BLE001 - whatever else comes out of a verb is what the soak is looking for
                self._journal.write("failed", verb=verb, error=traceback.format_exc())

    def _text(self):
        self._count += 1
        words = " ".join(self._random.sample(_WORDS, 4))
        return f"{self._name}x{self._count} {words}"

    def _session(self):
        return self._random.choice((None, *SESSIONS))

    async def _some_note(self, box):
        notes = (await box.list(limit=1000)).notes
        if not notes:
            raise NoteNotFound("there is none yet")
        return self._random.choice(notes)

    # -- writing --------------------------------------------------------------------------------------

    async def _add(self, box):
        text, session = self._text(), self._session()
        self._journal.write("adding", texts=[text], box=box.name, session=session)
        wait = self._random.random() < 0.7
        result = await box.add(text, source=text.split()[0], session_id=session, wait=wait)
        self._journal.write("added", texts=[text], box=box.name, session=session)
        self._expect(result.note.content == text, "add returns the text that it was given")

    async def _add_many(self, box):
        texts, session = [self._text() for _ in range(self._random.randint(2, 12))], self._session()
        self._journal.write("adding", texts=texts, box=box.name, session=session)
        await box.add_many([{"content": text, "source": text.split()[0]} for text in texts], session_id=session)
        self._journal.write("added", texts=texts, box=box.name, session=session)

    async def _update(self, box):
        note = await self._some_note(box)
        self._count += 1
        tag = f"mine{self._name}x{self._count}"
        await box.update(note.id, tags=[tag])
        self._journal.write("updated", text=note.content, box=box.name, id=note.id, tag=tag)

    async def _evolve(self, box):
        await box.evolve((await self._some_note(box)).id)

    async def _evolve_dry(self, box):
        await box.evolve((await self._some_note(box)).id, dry_run=True)

    async def _undo(self, box):
        revisions = await box.history((await self._some_note(box)).id)
        standing = [revision for revision in revisions if not revision.undone]
        if standing:
            await box.undo(self._random.choice(standing))

    async def _undo_caused(self, box):
        await box.undo(caused_by=(await self._some_note(box)).id)

    async def _delete(self, box):
        if self._random.random() > len((await box.list(limit=1000)).notes) / ENOUGH:
            return
        note = await self._some_note(box)
        self._journal.write("deleting", text=note.content, box=box.name)
        if await box.delete(note.id):
            self._journal.write("deleted", text=note.content, box=box.name)

    async def _process(self, box):
        await box.process(limit=self._random.randint(1, 20))

    async def _correct(self, box):
        note, text = await self._some_note(box), self._text()
        self._journal.write("adding", texts=[text], box=box.name)
        result = await box.correct(note.id, text, wait=self._random.random() < 0.7)
        self._journal.write("added", texts=[text], box=box.name)
        self._expect(result.note.content == text, "correct returns the text that it was given")

    async def _pin(self, box):
        note = await self._some_note(box)
        await self._random.choice((box.pin, box.unpin))(note.id)

    async def _observe(self, box):
        text, session = self._text(), self._random.choice(SESSIONS)
        self._journal.write("adding", texts=[text], box=box.name)
        seen = await box.session(session).observe(text)
        self._journal.write("added", texts=[text], box=box.name)
        self._expect(seen.note.content == text, "observe returns the text that it was given")

    async def _fact(self, box):
        subject, *words = self._text().split()
        self._journal.write("adding", texts=[f"{subject} likes {words[0]}"], box=box.name)
        await box.facts.add(subject, "likes", words[0])
        self._journal.write("added", texts=[f"{subject} likes {words[0]}"], box=box.name)

    async def _upkeep(self, box):
        await box.upkeep(limit=0)

    # -- reading --------------------------------------------------------------------------------------

    async def _search(self, box):
        k = self._random.randint(0, 20)
        hits = await box.search(self._question(), k=k, links=self._random.choice((0, 2)))
        self._expect(all(hit.note.box == box.name for hit in hits), "a search sees its own box only")
        self._expect(len({hit.note.id for hit in hits}) == len(hits) <= k + 2, "a search finds no note twice")

    async def _recall(self, box):
        budget = self._random.randint(0, 400)
        context = await box.recall(self._question(), budget=budget)
        self._expect(context.tokens <= budget, "a recall keeps to its budget")

    async def _look(self, box):
        note = await self._some_note(box)
        neighbours = await box.neighbours(note.id)
        self._expect(all(other.box == box.name for other in neighbours), "links stay in their box")
        await box.history(note.id)
        await box.explain(self._question(), note.id)
        await box.stats()

    async def _export(self, box):
        """Whatever others do meanwhile, an export is of one moment: nothing in it speaks of what is not there."""
        path = self._path.with_suffix(f".{self._count}.export")
        written = await box.export(path)
        _, lines = read_lines(path)
        self._expect(problem(Load(lines)) is None, "an export fits together")
        self._expect(sum(isinstance(line, NoteLine) for line in lines) == written.notes, "an export is whole")
        path.unlink()

    def _question(self):
        return " ".join(self._random.sample(_WORDS, 3))

    def _expect(self, holds, what):
        self._journal.write("checked")
        if not holds:
            self._journal.write("failed", verb="check", error=what)
