"""Several processes, each with a whole memory over one directory: no update is lost, and all see what one wrote."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

from support import NOTHING, builds

from amem.ids import NoteIds
from amem.opening import LEDGER_FILE
from amem.store.doctor import doctor
from amem.testing import ScriptedLLM

TESTS = Path(__file__).parent.parent


def start(directory, role, name, rounds):
    return subprocess.Popen(
        [sys.executable, str(TESTS / "concurrency_child.py"), str(directory), role, name, str(rounds)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS.parent), str(TESTS)])},
    )  # fmt: skip


async def test_p3_writers_and_readers_in_processes_of_their_own_lose_nothing_and_show_no_lock_error(
    tmp_path, open_memory
):
    children = [start(tmp_path / "memory", "write", name, 8) for name in "abc"]
    children.append(start(tmp_path / "memory", "read", "r", 15))
    ends = [child.communicate(timeout=400) for child in children]
    assert [(child.returncode, errors) for child, (_, errors) in zip(children, ends, strict=True)] == [(0, "")] * 4
    said = [line.split(" ") for out, _ in ends for line in out.splitlines() if line.startswith("added")]
    assert {status for _, _, status, _ in said} == {"ready"}
    assert {why for *_, why in said} <= {"", "conflict", "linked already", "conflict,linked already"}
    async with open_memory() as memory:
        notes = (await memory.list()).notes
        assert {note.id for note in notes} == {note_id for _, note_id, _, _ in said}
        assert sorted(note.content for note in notes) == sorted(f"bread {n} {i}" for n in "abc" for i in range(8))
        assert sorted(note.position for note in notes) == list(range(24))
        for note in notes:
            contexts = [r for r in await memory.history(note.id) if r.field == "context"]
            assert [r.before for r in contexts[1:]] == [r.after for r in contexts[:-1]]
            assert note.context == contexts[-1].after
        assert doctor(memory._rooms.ledger, memory._rooms.vectors).problems == ()


async def test_p3_the_next_look_sees_what_another_process_has_written(tmp_path, open_memory):
    async with open_memory() as memory:
        assert await memory.search("bread") == []
        child = start(tmp_path / "memory", "write", "x", 4)
        while line := await asyncio.to_thread(child.stdout.readline):
            _, note_id, _, _ = line.rstrip("\n").split(" ")
            assert note_id in {hit.note.id for hit in await memory.search("bread x", k=10)}
            assert note_id in {note.id for note in (await memory.list()).notes}
        _, errors = child.communicate(timeout=120)
        assert (child.returncode, errors) == (0, "")
        best = (await memory.search("Known from bread x 1", k=4, explain=True))[0].note
        assert best == await memory.get(best.id)


async def test_a_database_that_another_process_is_writing_to_is_waited_for(tmp_path, open_memory):
    llm = ScriptedLLM({"note": builds, "link_evolve": NOTHING})
    async with open_memory(llm, new_id=NoteIds()) as memory:
        await memory.add("before")
        locked, release = threading.Event(), threading.Event()

        def hold():
            other = sqlite3.connect(tmp_path / "memory" / LEDGER_FILE, isolation_level=None)
            other.execute("BEGIN IMMEDIATE")
            locked.set()
            release.wait(60)
            other.execute("COMMIT")
            other.close()

        holder = threading.Thread(target=hold)
        holder.start()
        await asyncio.to_thread(locked.wait, 60)
        adding = asyncio.create_task(memory.add("while it was locked"))
        reads = await memory.search("before")
        await asyncio.sleep(1)
        assert not adding.done()
        release.set()
        result = await adding
        holder.join()
        assert [hit.note.content for hit in reads] == ["before"]
        assert (result.status, len((await memory.list()).notes)) == ("ready", 2)


async def test_two_memories_of_one_process_over_one_directory_see_each_other(tmp_path, open_memory):
    llm = ScriptedLLM({"note": builds, "link_evolve": NOTHING})
    ids = NoteIds()
    async with open_memory(llm, new_id=ids) as one, open_memory(llm, new_id=ids) as other:
        await asyncio.gather(*(memory.add(f"bread {i}") for i in range(6) for memory in (one, other)))
        for memory in (one, other):
            assert len(await memory.search("bread", k=50)) == 12
        assert doctor(one._rooms.ledger, one._rooms.vectors).problems == ()
