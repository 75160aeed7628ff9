"""Many tasks on one memory: nothing is lost, doubled or paid for twice, and the event loop goes on turning."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter

import pytest
from sqlalchemy import event
from support import NOTHING, builds, counting_ids, fields

from amem.errors import LedgerUnavailable, ModelUnavailable
from amem.store.doctor import doctor
from amem.store.lock import IndexLock
from amem.testing import ScriptedLLM


def sound(memory):
    return doctor(memory._rooms.ledger, memory._rooms.vectors).problems == ()


def texts_built(llm):
    return Counter(turn["text"] for call in llm.calls_of("note") for turn in call.variables["turns"])


def slowly(answer, seconds=0.01):
    async def respond(request):
        await asyncio.sleep(seconds)
        return answer(request) if callable(answer) else answer

    return respond


def changing(context, tag):
    """Let the new note change its nearest neighbour, whichever it is."""

    def respond(request):
        number = request.variables["notes"][0]["number"]
        target = next(n["number"] for n in request.variables["neighbours"] if n["text"] == "bread oven")
        change = {"neighbour": target, "because": [number], "context": context, "keywords": [], "tags": [tag]}
        return {"links": [], "changes": [change]}

    return respond


async def test_many_tasks_add_search_and_process_at_once_and_nothing_is_lost_doubled_or_paid_twice(open_memory):
    llm = ScriptedLLM({"note": slowly(builds), "link_evolve": slowly(NOTHING)})
    async with open_memory(llm) as memory:
        work = [memory.add(f"note {i} about bread", source=f"m{i}", wait=i % 3 > 0) for i in range(30)]
        work += [memory.add(f"note {i} about bread", source=f"m{i}") for i in range(0, 30, 5)]
        work += [memory.search("bread") for _ in range(10)] + [memory.process() for _ in range(5)]
        await asyncio.gather(*work)
        await memory.process()
        notes = (await memory.list()).notes
        assert sorted(note.content for note in notes) == sorted(f"note {i} about bread" for i in range(30))
        assert {note.status for note in notes} == {"ready"}
        assert set(texts_built(llm).values()) == {1}
        assert sound(memory)


async def test_notes_that_are_being_added_are_not_processed_a_second_time(open_memory):
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def held(request):
        begun.set()
        await go_on.wait()
        return builds(request)

    llm = ScriptedLLM({"note": held})
    async with open_memory(llm) as memory:
        adding = asyncio.create_task(memory.add("once"))
        await begun.wait()
        processing = asyncio.create_task(memory.process())
        await asyncio.wait([processing], timeout=60)
        waits = not processing.done()
        go_on.set()
        assert (waits, list(await processing)) == (False, [])
        assert (await adding).status == "ready"
        assert len(llm.calls) == 1


async def test_two_runs_at_once_share_what_waits_and_pay_for_it_once(open_memory):
    llm = ScriptedLLM({"note": slowly(builds), "link_evolve": slowly(NOTHING)})
    async with open_memory(llm, strategy="raw") as memory:
        await memory.add_many([f"note {i}" for i in range(12)])
        done = await asyncio.gather(*(memory.process(all=True) for _ in range(3)))
        assert sorted(len(results) for results in done) == [0, 0, 12]
        assert set(texts_built(llm).values()) == {1}


async def test_two_evolutions_of_the_same_note_at_once_lose_nothing_in_silence(open_memory):
    meeting = asyncio.Barrier(2)
    answers = iter([changing("Changed by one.", "one"), changing("Changed by two.", "two")])

    async def together(request):
        answer = next(answers)
        await meeting.wait()
        return answer(request)

    llm = ScriptedLLM({"note": builds, "link_evolve": together})
    async with open_memory(llm) as memory:
        old = await memory.add("bread oven")
        results = await asyncio.gather(memory.add("bread oven, lit"), memory.add("bread oven, cold"))
        assert [result.status for result in results] == ["ready", "ready"]
        (won,) = [result for result in results if result.evolved]
        (lost,) = [result for result in results if not result.evolved]
        assert [item.why for item in lost.skipped] == ["conflict: it was changed by somebody else meanwhile"]
        now = await memory.get(old.id)
        history = [r for r in await memory.history(old.id) if r.cause.kind == "evolve"]
        assert {r.cause.notes for r in history} == {(won.id,)}
        assert now.context == next(r.after for r in history if r.field == "context")
        assert sound(memory)


async def test_a_change_by_the_user_while_a_model_thinks_is_never_overwritten(open_memory):
    async def answer(request):
        await memory.update(old.id, context="Mine.", tags=["mine"])
        return changing("The model's.", "model")(request)

    llm = ScriptedLLM({"note": builds, "link_evolve": answer})
    async with open_memory(llm) as memory:
        old = await memory.add("bread oven")
        result = await memory.add("bread oven, lit")
        assert [item.why for item in result.skipped] == ["conflict: it was changed by somebody else meanwhile"]
        now = await memory.get(old.id)
        assert (now.context, now.tags) == ("Mine.", ("mine",))


async def test_edits_of_one_note_by_many_tasks_are_all_in_its_history(open_memory):
    async with open_memory() as memory:
        note = await memory.add("bread oven")
        await asyncio.gather(*(memory.update(note.id, context=f"Context {i}.") for i in range(12)))
        history = [r for r in await memory.history(note.id) if r.field == "context"]
        assert len(history) == 12
        assert [r.before for r in history[1:]] == [r.after for r in history[:-1]]
        assert (await memory.get(note.id)).context == history[-1].after


async def test_closing_waits_for_who_reads_and_nobody_opens_anything_again(open_memory, tmp_path):
    memory = open_memory({}, strategy="raw", chroma=True, exact_up_to=0, index_batch=1)
    await memory.add("The bread is in the oven.")
    assert memory._rooms.index.how("default") == "chroma"
    database, reads, has_read = memory._rooms.ledger.database, threading.Event(), threading.Event()

    def look():
        with database.reading() as connection:
            reads.set()
            time.sleep(0.3)
            connection.exec_driver_sql("SELECT count(*) FROM note").scalar_one()
            has_read.set()

    looking = asyncio.create_task(asyncio.to_thread(look))
    await asyncio.to_thread(reads.wait, 60)
    searching = [asyncio.create_task(memory.search("bread")) for _ in range(8)]
    await memory.close()
    assert has_read.is_set()
    await looking
    for end in await asyncio.gather(*searching, memory.search("bread"), memory.stats(), return_exceptions=True):
        assert isinstance(end, list) or (isinstance(end, LedgerUnavailable) and "was closed" in str(end))
    assert memory._rooms.index._access.get(retry=True) is None
    assert database.engine.pool.checkedin() == 0
    lock = IndexLock.acquire(tmp_path / "memory")
    assert isinstance(lock, IndexLock)
    lock.release()


async def test_closing_waits_for_what_is_being_added_and_takes_nothing_more(open_memory):
    llm = ScriptedLLM({"note": slowly(builds, 0.2)})
    ids = counting_ids()
    memory = open_memory(llm, new_id=ids)
    adding = asyncio.create_task(memory.add("under way"))
    await asyncio.sleep(0.05)
    closing = asyncio.create_task(memory.close())
    await asyncio.sleep(0)
    with pytest.raises(LedgerUnavailable, match="was closed"):
        await memory.add("too late")
    assert (await adding).status == "ready"
    await closing
    async with open_memory(llm, new_id=ids) as again:
        assert [note.content for note in (await again.list()).notes] == ["under way"]


async def test_what_breaks_in_the_background_is_said_in_the_log_and_its_notes_stay_queued(open_memory, caplog):
    def broken(request):
        raise NameError("a bug of ours")

    async with open_memory({"note": broken}) as memory:
        result = await memory.add("later", wait=False)
        await memory._worker.settled()
        assert "a bug of ours" in caplog.text
        assert (await memory.get(result.id)).pending_reason == "queued"
        assert memory._rooms.runs.in_hand == frozenset()


async def test_a_task_that_fails_leaves_the_others_alone(open_memory):
    def answer(request):
        if "poison" in request.variables["turns"][0]["text"]:
            raise ModelUnavailable("down")
        return builds(request)

    async with open_memory({"note": answer, "link_evolve": NOTHING}) as memory:
        results = await asyncio.gather(*(memory.add(text) for text in ["one", "poison", "three"]))
        assert [result.status for result in results] == ["ready", "pending", "ready"]


class Pulse:
    """Ticks in the event loop and keeps the most CPU time that its thread took between two ticks."""

    def __init__(self):
        self.longest = 0.0

    async def __aenter__(self):
        self._task = asyncio.create_task(self._tick())
        await asyncio.sleep(0.01)
        return self

    async def __aexit__(self, *_):
        self._task.cancel()

    async def _tick(self):
        before = time.thread_time()
        while True:
            await asyncio.sleep(0)
            now = time.thread_time()
            self.longest, before = max(self.longest, now - before), now
            await asyncio.sleep(0.001)
            before = min(before, time.thread_time())


@pytest.mark.parametrize("strategy", ["raw", "fused"])
async def test_the_event_loop_is_not_kept_busy_for_more_than_a_moment(open_memory, strategy):
    llm = ScriptedLLM({"note": lambda r: fields(len(r.variables["turns"])), "link_evolve": NOTHING})
    async with open_memory(llm, strategy=strategy) as memory:
        await memory.add("warm up")
        await memory.recall("warm up")
        async with Pulse() as pulse:
            await memory.add_many(
                [f"note {i} about bread and its oven" for i in range(1500 if strategy == "raw" else 48)]
            )
            await asyncio.gather(*(memory.recall(f"bread {i}") for i in range(5)))
            await memory.search("oven", k=50, links=5, reconstruct=True)
        assert pulse.longest < 0.05, "CPU time, so that a busy machine makes no difference"


async def test_no_statement_is_run_in_the_thread_of_the_event_loop(open_memory):
    llm = ScriptedLLM({"note": builds, "link_evolve": NOTHING})
    async with open_memory(llm) as memory:
        loop, threads = threading.get_ident(), set()

        def executed(*_):
            threads.add(threading.get_ident())

        event.listen(memory._rooms.ledger.database.engine, "before_cursor_execute", executed)
        first = await memory.add("bread oven")
        await memory.add_many(["bread oven again", "cake"], session_id="s")
        await memory.update(first.id, tags=["a"])
        await memory.search("bread", links=2, reconstruct=True)
        await memory.recall("bread")
        await memory.explain("bread", first.id)
        for read in (memory.get, memory.history, memory.links, memory.neighbours):
            await read(first.id)
        await memory.evolve(first.id, dry_run=True)
        await memory.undo((await memory.history(first.id))[-1])
        await memory.process()
        await memory.stats()
        await memory.delete(first.id)
        assert threads
        assert loop not in threads
