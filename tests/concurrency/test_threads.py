"""Many threads on one `Memory`: each gets its own answer, none waits for ever, also when one of them closes it."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from support import NOTHING, builds

from amem import Memory
from amem.embedding import HashEmbedder
from amem.errors import InputError, LedgerUnavailable
from amem.store.doctor import doctor
from amem.testing import ScriptedLLM


@pytest.fixture
def opened(tmp_path):
    def opening(script=None, **settings):
        llm = ScriptedLLM(script or {"note": builds, "link_evolve": NOTHING})
        return Memory.open(tmp_path / "m", llm=llm, embedder=HashEmbedder(), **{"chroma": False, **settings})

    return opening


def test_many_threads_add_and_search_at_once(opened):
    with opened() as memory, ThreadPoolExecutor(16) as pool:
        added = list(pool.map(lambda i: memory.add(f"note {i} about bread", source=f"m{i % 30}"), range(40)))
        found = list(pool.map(lambda i: memory.search(f"note {i}", k=3), range(20)))
        assert all(found)
        assert len({result.id for result in added}) == 30
        notes = memory.list().notes
        assert ({note.status for note in notes}, len(notes)) == ({"ready"}, 30)
        rooms = memory._inner._rooms
        assert doctor(rooms.ledger, rooms.vectors).problems == ()


def test_threads_in_boxes_of_their_own_do_not_see_each_other(opened):
    with opened(strategy="raw") as memory, ThreadPoolExecutor(8) as pool:

        def live(number):
            box = memory.box(f"box{number}")
            for turn in range(4):
                box.add(f"secret {number} turn {turn}")
            return [hit.note.content for hit in box.search("secret", k=50)]

        for number, seen in enumerate(pool.map(live, range(8))):
            assert sorted(seen) == [f"secret {number} turn {turn}" for turn in range(4)]


def test_closing_while_another_thread_adds_lets_it_finish_and_turns_away_the_next(opened):
    begun = threading.Event()

    async def slow(request):
        begun.set()
        await asyncio.sleep(0.3)
        return builds(request)

    memory = opened({"note": slow, "link_evolve": NOTHING})
    results = []
    thread = threading.Thread(target=lambda: results.append(memory.add("under way")), daemon=True)
    thread.start()
    assert begun.wait(60)
    memory.close()
    thread.join(60)
    assert [result.status for result in results] == ["ready"]
    with pytest.raises(LedgerUnavailable, match="was closed"):
        memory.add("too late")
    with opened() as again:
        assert [note.content for note in again.list().notes] == ["under way"]


def test_threads_that_keep_working_while_it_is_closed_get_an_answer_or_a_clear_error(opened):
    memory, ends = opened(strategy="raw"), []
    started = threading.Barrier(7)

    def work(number):
        started.wait(60)
        try:
            for turn in range(10_000):
                memory.add(f"note {number} {turn}") if number % 2 else memory.search("note")
        except LedgerUnavailable as error:
            ends.append(str(error))

    threads = [threading.Thread(target=work, args=(number,), daemon=True) for number in range(6)]
    for thread in threads:
        thread.start()
    started.wait(60)
    memory.close()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    assert len(ends) == 6
    assert all("closed" in end for end in ends)


def test_closing_by_several_threads_at_once_is_harmless(opened):
    memory = opened(strategy="raw")
    memory.add("one")
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: memory.close(), range(4)))


def test_a_callback_that_uses_the_memory_is_told_so_instead_of_waiting_for_ever(opened):
    with opened() as memory, pytest.raises(InputError, match="wait for itself"):
        memory.add_many(["one", "two"], progress=lambda step: memory.stats())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded, use of fork:DeprecationWarning")
def test_in_a_forked_child_it_is_an_error_and_not_a_wait(opened):
    with opened(strategy="raw") as memory:
        child = os.fork()
        if child == 0:
            try:
                memory.stats()
            except LedgerUnavailable:
                os._exit(0)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


INTERRUPTED = """
import asyncio, signal, sys
from support import builds
from amem import Memory
from amem.embedding import HashEmbedder
from amem.testing import ScriptedLLM

signal.signal(signal.SIGINT, signal.default_int_handler)  # it may have been ignored where the tests were started

async def slow(request):
    print("asked", flush=True)
    await asyncio.sleep(3600)

try:
    with Memory.open(sys.argv[1], llm=ScriptedLLM({"note": slow}), embedder=HashEmbedder(), chroma=False) as memory:
        memory.add_many([f"note {i}" for i in range(40)])
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_an_interrupt_ends_the_work_closes_the_memory_and_keeps_every_note(tmp_path, opened):
    here = Path(__file__).parent.parent
    child = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path / "m")],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(here), str(here.parent)])},
    )  # fmt: skip
    assert child.stdout.readline() == "asked\n", child.stderr.read()
    child.send_signal(signal.SIGINT)
    out, errors = child.communicate(timeout=120)
    assert (child.returncode, out, errors) == (0, "interrupted\n", "")
    with opened() as memory:
        assert len(memory.list().notes) == 40
        assert {result.status for result in memory.process()} == {"ready"}
