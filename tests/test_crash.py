"""P3: the process is killed between any two steps of `add`, and nothing is lost, doubled or made up."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from support import builds

from amem.embedding import HashEmbedder
from amem.memory import AsyncMemory
from amem.testing import ScriptedLLM

HERE = Path(__file__).parent
STEPS = [
    "before accept",
    "while building",
    "before neighbours",
    "while linking",
    "before commit",
    *(f"within commit {number}" for number in range(1, 13)),
    "after commit",
    "after index",
    "never",
]


@pytest.mark.parametrize("step", STEPS)
async def test_p3_a_killed_add_leaves_every_note_once_and_whole(tmp_path, step):
    child = subprocess.run(
        [sys.executable, str(HERE / "crash_child.py"), str(tmp_path / "m"), step],
        check=False, capture_output=True, text=True, timeout=120, env={**os.environ, "PYTHONPATH": str(HERE)},
    )  # fmt: skip
    assert child.returncode == -signal.SIGKILL, child.stderr
    acknowledged = child.stdout.split()
    assert len(acknowledged) >= 3
    llm = ScriptedLLM({"note": builds, "link_evolve": {"links": [], "changes": []}})
    memory = AsyncMemory.open(
        tmp_path / "m", llm=llm, embedder=HashEmbedder(), similarity_floor=-1.0, index_batch=4, max_tags=200
    )
    async with memory:
        notes = {note.id: note for note in (await memory.list()).notes}
        assert set(acknowledged) <= set(notes)
        assert len({note.sources for note in notes.values()}) == len(notes) <= 4
        for note in notes.values():
            assert (note.status == "ready") == (note.made_by is not None)
            links = await memory.links(note.id)
            assert all(link.other(note.id) in notes for link in links)
            assert await _replayed(memory, note) == (note.keywords, note.tags, note.context)
        await memory.process()
        for number in range(4):
            await memory.add(f"bread number {number}", source=f"m{number}")
        again = (await memory.list()).notes
        assert [note.content for note in again] == [f"bread number {number}" for number in range(4)]
        assert {note.status for note in again} == {"ready"}
        assert len(await memory.search("bread number", k=10)) == 4


async def _replayed(memory, note):
    """Return what the note's revisions lead to, from nothing."""
    values = {"keywords": [], "tags": [], "context": ""}
    for revision in await memory.history(note.id):
        if revision.field in values:
            assert revision.before == values[revision.field]
            values[revision.field] = revision.after
    return tuple(values["keywords"]), tuple(values["tags"]), values["context"]
