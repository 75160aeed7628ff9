"""P6: after forgetting, no byte under the memory's directory tells of it, whoever else has the directory open."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import sqlite3

import pytest
from support import NOTHING, builds

from amem.embedding import HashEmbedder
from amem.memory import AsyncMemory
from amem.store import cleaning
from amem.store.doctor import doctor
from amem.store.outbox import filter_value
from amem.testing import ScriptedLLM

BOX = "canarybox"
CANARIES = {
    name: f"canary{name}"
    for name in (
        "content", "speaker", "tag", "keyword", "context", "metadata", "source", "session", "agent", "reason",
        "relation", "learned", "error",
    )
}  # fmt: skip


WORDS = [*CANARIES.values(), filter_value(CANARIES["speaker"])]
"""What may be in no file; the last is what Chroma has in the place of a name."""


def told(directory, words):
    """The files that hold any of some words, in any case, and which words."""
    found = {}
    for path in sorted(path for path in directory.rglob("*") if path.is_file()):
        data = path.read_bytes().lower()
        if here := [word for word in words if word.encode() in data]:
            found[str(path.relative_to(directory))] = here
    return found


def repeats(request):
    """A model that says all it knows: links and changes that quote what it was shown."""
    older, newer = request.variables["neighbours"], request.variables["notes"]
    if not older or "canary" not in str(request.variables):
        return NOTHING
    new = newer[0]["number"]
    link = {"source": new, "targets": [0], "relation": CANARIES["relation"], "reason": CANARIES["reason"]}
    change = {
        "neighbour": 0, "because": [new], "context": f"It has heard {CANARIES['learned']} in the oven.",
        "keywords": [CANARIES["learned"]], "tags": [],
    }  # fmt: skip
    return {"links": [link], "changes": [change]}


def refuses(request):
    return "" if "unlucky" in str(request.variables) else builds(request)


def opened(directory, **settings):
    llm = ScriptedLLM({"note": builds, "link_evolve": repeats})
    given = {"similarity_floor": -1.0, "index_batch": 2, "exact_up_to": 0, **settings}
    return AsyncMemory.open(directory, llm=llm, embedder=HashEmbedder(), **given)


async def told_everything(memory):
    """Add bread, and a note whose every field is a canary; return the latter."""
    for number in range(4):
        await memory.add(f"bread oven number {number}", speaker="Ann", session_id="s")
    result = await memory.add(
        f"I hid {CANARIES['content']} behind the oven", speaker=CANARIES["speaker"], source=CANARIES["source"],
        session_id=CANARIES["session"], agent_id=CANARIES["agent"], tags=[CANARIES["tag"]],
        keywords=[CANARIES["keyword"]], context=f"About {CANARIES['context']}.",
        metadata={CANARIES["metadata"]: CANARIES["metadata"]},
    )  # fmt: skip
    await memory.add("bread oven once more", session_id="s")
    await memory.add("and the flour", session_id="s")
    with memory._rooms.ledger.database.writing() as connection:  # as a failing provider would have it
        connection.exec_driver_sql(
            "UPDATE note SET status = 'pending', pending_reason = 'failed', error = ? WHERE content = 'and the flour'",
            (f"ModelRefused: I will not say {CANARIES['error']}",),
        )
    return result


@pytest.mark.parametrize("verb", ["delete", "session"])
async def test_p6_no_byte_under_the_directory_tells_of_a_forgotten_note(tmp_path, verb):
    words = WORDS
    async with opened(tmp_path) as memory:
        secret = await told_everything(memory)
        assert memory._rooms.index.how("default") == "chroma"
        assert {word for found in told(tmp_path, words).values() for word in found} == set(words)
        if verb == "delete":
            receipt = await memory.delete(secret.id)
        else:
            receipt = await memory.forget(session_id=CANARIES["session"])
        assert told(tmp_path, words) == {}
        assert (receipt.clean, receipt.unfinished) == (True, ())
        await memory.process()
        assert len(await memory.search("bread oven", k=10)) == 6
        assert told(tmp_path, words) == {}
    assert told(tmp_path, words) == {}


async def test_p6_no_byte_tells_of_a_forgotten_box_its_name_included(tmp_path):
    words = [*CANARIES.values(), BOX]
    async with opened(tmp_path) as memory:
        await memory.add("bread oven")
        await told_everything(memory.box(BOX))
        assert {word for found in told(tmp_path, words).values() for word in found} == set(words)
        receipt = await memory.box(BOX).forget(whole_box=True)
        assert (len(receipt.erased), receipt.clean, receipt.unfinished) == (7, True, ()), receipt.searched
        assert told(tmp_path, words) == {}
        assert (await memory.stats()).notes == 1
        assert doctor(memory._rooms.ledger, memory._rooms.vectors, memory._rooms.index).problems == ()
    assert told(tmp_path, words) == {}


async def test_p6_no_byte_tells_of_what_was_noted_down_from_a_forgotten_note(tmp_path):
    words = ["canaryfact", "canarytrigger", "canarylesson", "canarywrong"]
    async with opened(tmp_path) as memory:
        wrong = await memory.add("I hid canarywrong behind the oven")
        await memory.facts.add("Ann", "hid", "canaryfact", sources=[wrong.id])
        await memory.episodes.add("canarytrigger", ["looked"], lesson="canarylesson", sources=[wrong.id])
        right = await memory.correct(wrong.id, "I hid nothing behind the oven")
        assert {word for found in told(tmp_path, words).values() for word in found} == set(words)
        receipt = await memory.delete(wrong.id)
        assert (len(receipt.erased), receipt.clean, receipt.unfinished) == (3, True, ()), receipt.searched
        assert told(tmp_path, words) == {}
        assert [note.id for note in (await memory.list()).notes] == [right.id]
    assert told(tmp_path, words) == {}


async def test_what_others_have_in_chroma_stays_there(tmp_path):
    async with opened(tmp_path) as memory:
        other = memory.box("other")
        for number in range(4):
            await other.add(f"bread oven number {number}")
        await told_everything(memory)
        index, vectors = memory._rooms.index, memory._rooms.vectors
        index.drain(force=True)
        before = vectors.collections()
        await memory.forget(session_id=CANARIES["session"])
        assert vectors.collections() == {"other": before["other"]}
        assert not any(index.difference("other"))
        assert len(await other.search("bread oven number", k=9)) == 4
        index.drain(force=True)
        assert set(vectors.collections()) == {"other", "default"}
        assert not any(index.difference("default"))


async def test_a_chroma_that_cannot_be_read_is_removed_as_a_whole(tmp_path):
    async with opened(tmp_path) as memory:
        secret = await told_everything(memory)
        memory._rooms.index.close()
        (tmp_path / "chroma" / "chroma.sqlite3").write_bytes(b"canarycontent is no database")
        receipt = await memory.delete(secret.id)
        assert (receipt.clean, (tmp_path / "chroma").exists()) == (True, False)
        assert len(await memory.search("bread oven", k=10)) == 6


async def test_p6_forgetting_while_others_search_and_add_is_finished_all_the_same(tmp_path):
    async with opened(tmp_path) as memory:
        secret = await told_everything(memory)
        others = [await memory.add(f"flour number {number}") for number in range(4)]
        forgotten = False

        async def keeps_on(verb):
            done = 0
            while not forgotten or not done:
                assert await verb(done)
                done += 1

        async def searches(_):
            return await memory.search("bread oven", k=3)

        async def adds(number):
            return await memory.add(f"bread for day {number}")

        tasks = [asyncio.create_task(keeps_on(verb)) for verb in (searches, searches, adds)]
        receipts = [await memory.delete(note.id) for note in (secret, *others[:2])]
        forgotten = True
        await asyncio.gather(*tasks)
        assert [receipt.unfinished for receipt in receipts] == [(), (), ()]
        assert told(tmp_path, CANARIES.values()) == {}
        await memory.process()
        rooms = memory._rooms
        rooms.index.drain(force=True)
        assert doctor(rooms.ledger, rooms.vectors, rooms.index).problems == ()


async def test_chroma_is_cleaned_also_where_this_process_does_not_use_it(tmp_path):
    async with opened(tmp_path) as memory:
        secret = await told_everything(memory)
    async with opened(tmp_path, chroma=False) as memory:
        await memory.delete(secret.id)
        assert told(tmp_path, CANARIES.values()) == {}


# -- others at work ---------------------------------------------------------------------------------------


def processes():
    return multiprocessing.get_context("spawn")


def holds(directory, ready, go):
    """Have the memory open, Chroma included, until told to close it."""

    async def hold():
        async with opened(directory) as memory:
            memory._rooms.index.drain(force=True)
            await memory.search("bread oven")
            ready.set()
            await asyncio.to_thread(go.wait, 120)

    asyncio.run(hold())


async def test_p6_what_another_process_holds_is_said_and_cleaned_when_it_lets_go(tmp_path):
    async with opened(tmp_path) as memory:
        secret = await told_everything(memory)
    ready, go = processes().Event(), processes().Event()
    child = processes().Process(target=holds, args=(tmp_path, ready, go))
    child.start()
    assert ready.wait(120)
    async with opened(tmp_path) as memory:
        receipt = await memory.delete(secret.id)
        assert (len(receipt.unfinished), receipt.clean) == (1, False)
        assert "Chroma is open in process" in receipt.unfinished[0]
        assert [place.result for place in receipt.searched if place.place == "files of the ledger"] == ["clean"]
        report = doctor(memory._rooms.ledger, memory._rooms.vectors, memory._rooms.index)
        assert "unfinished" in {found.kind for found in report.problems}
        assert set(told(tmp_path, WORDS)) == {"chroma/chroma.sqlite3"}
    go.set()
    child.join(120)
    assert child.exitcode == 0
    assert told(tmp_path, CANARIES.values()) == {}


async def test_p6_a_reader_that_stays_is_said_and_the_log_is_emptied_later(tmp_path, monkeypatch):
    monkeypatch.setattr(cleaning, "PATIENCE", 100)
    async with opened(tmp_path, chroma=False) as memory:
        secret = await told_everything(memory)
        reader = sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM note").fetchone()
        receipt = await memory.delete(secret.id)
        assert "another connection is reading" in receipt.unfinished[0]
        reader.execute("COMMIT")
        reader.close()
        await memory.process()
        assert told(tmp_path, CANARIES.values()) == {}
        assert not memory._rooms.ledger.unfinished()


async def test_another_process_that_has_the_ledger_open_goes_on_and_finds_nothing_of_it(tmp_path):
    async with opened(tmp_path, chroma=False) as memory, opened(tmp_path, chroma=False) as other:
        secret = await told_everything(memory)
        assert secret.id in {hit.note.id for hit in await other.search("canarycontent behind the oven", k=20)}
        await memory.delete(secret.id)
        assert secret.id not in {hit.note.id for hit in await other.search("canarycontent behind the oven", k=20)}
        await other.add("bread after all")
        assert len(await memory.search("bread", k=20)) >= 6
    assert told(tmp_path, CANARIES.values()) == {}


# -- killed -----------------------------------------------------------------------------------------------

KILLED = ("before the files", "before chroma", "before it is noted down")


def dies(directory, note_id, at):
    """Forget a note, and die on the way."""

    def die(*_given, **_named):
        os.kill(os.getpid(), signal.SIGKILL)

    async def forget():
        async with opened(directory) as memory:
            if at == "before the files":
                cleaning._clean_files = die
            elif at == "before chroma":
                cleaning.compaction.compact = die
            else:
                compact = cleaning.compaction.compact
                cleaning.compaction.compact = lambda *given: die(compact(*given))
            await memory.delete(note_id)

    asyncio.run(forget())


@pytest.mark.parametrize("at", KILLED)
async def test_p6_a_forgetting_that_is_killed_is_finished_by_the_next_opening(tmp_path, at):
    async with opened(tmp_path) as memory:
        secret = await told_everything(memory)
    child = processes().Process(target=dies, args=(tmp_path, secret.id, at))
    child.start()
    child.join(120)
    assert child.exitcode == -signal.SIGKILL
    assert (told(tmp_path, WORDS) == {}) == (at == KILLED[2])
    memory = opened(tmp_path)
    try:
        assert told(tmp_path, WORDS) == {}
        assert not memory._rooms.ledger.unfinished()
        await memory.process()
        assert doctor(memory._rooms.ledger, memory._rooms.vectors, memory._rooms.index).problems == ()
    finally:
        await memory.close()


async def test_an_opening_that_cannot_finish_a_forgetting_says_so_and_opens_all_the_same(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(cleaning, "PATIENCE", 100)
    async with opened(tmp_path, chroma=False) as memory:
        secret = await told_everything(memory)
        memory._rooms.ledger.forget("default", [secret.id])
        reader = sqlite3.connect(tmp_path / "ledger.db", isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM note").fetchone()
        async with opened(tmp_path, chroma=False) as other:
            assert len(await other.search("bread oven", k=10)) == 6
        assert "a forgetting is not finished: another connection is reading" in caplog.text
        reader.close()
