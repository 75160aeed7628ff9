"""The verb `forget`: what it takes, what it says, and what it leaves to be made anew."""

from __future__ import annotations

import pytest
from support import NOTHING, builds

from amem.errors import InputError
from amem.testing import ScriptedLLM


async def ids(memory):
    return [note.id for note in (await memory.list(archived=True)).notes]


@pytest.fixture
async def lived_in(open_memory, clock):
    """A memory of six notes: two sessions, two sources, two days."""
    async with open_memory() as memory:
        for number in range(6):
            await memory.add(
                f"bread number {number} is out of the oven", session_id="ab"[number % 2], source=f"chat/{number}",
                speaker="Ann" if number < 3 else "Ben", occurred_at=f"2024-05-0{1 + number}",
                metadata={"keep": True} if number == 0 else {"keep": "not so"},
            )  # fmt: skip
            clock.advance(days=1)
        yield memory


@pytest.mark.parametrize(
    ("wanted", "gone"),
    [
        ({"notes": [2, 4]}, [2, 4]),
        ({"session_id": "b"}, [1, 3, 5]),
        ({"source": "chat/3"}, [3]),
        ({"source": "chat"}, [0, 1, 2, 3, 4, 5]),
        ({"source": "cha"}, []),
        ({"since": "2024-05-05"}, [4, 5]),
        ({"since": "2024-05-02", "until": "2024-05-04"}, [1, 2]),
        ({"session_id": "a", "until": "2024-05-04"}, [0, 2]),
        ({"speaker": "Ann", "source": "chat"}, [0, 1, 2]),
        ({"notes": [0, 1], "session_id": "a"}, [0]),
        ({"notes": []}, []),
        ({"whole_box": True}, [0, 1, 2, 3, 4, 5]),
    ],
)
async def test_p6_what_is_named_goes_and_nothing_else(lived_in, wanted, gone):
    before = await ids(lived_in)
    if "notes" in wanted:
        wanted = {**wanted, "notes": [before[number] for number in wanted["notes"]]}
    would = await lived_in.forget(**wanted, dry_run=True)
    assert await ids(lived_in) == before
    receipt = await lived_in.forget(**wanted)
    assert set(receipt.erased) == set(would.erased) == {before[number] for number in gone}
    assert (bool(receipt), receipt.notes) == (bool(gone), len(gone))
    assert await ids(lived_in) == [note_id for number, note_id in enumerate(before) if number not in gone]


@pytest.mark.parametrize(
    "wanted",
    [
        {}, {"whole_box": True, "session_id": "a"}, {"notes": "an id"}, {"user": "Ann"}, {"since": "yesterday"},
        {"expired": True}, {"expired": True, "session_id": "a"}, {"session_id": None},
    ],
)  # fmt: skip
async def test_what_does_not_say_clearly_what_to_forget_is_refused(lived_in, wanted):
    before = await ids(lived_in)
    with pytest.raises(InputError):
        await lived_in.forget(**wanted)
    assert await ids(lived_in) == before


async def test_archived_notes_are_forgotten_too(lived_in):
    with lived_in._rooms.ledger.database.writing() as connection:
        connection.exec_driver_sql("UPDATE note SET status = 'archived', pending_reason = NULL WHERE session_id = 'b'")
    assert (await lived_in.forget(session_id="b")).notes == 3


async def test_a_view_of_one_box_forgets_nothing_of_another(lived_in):
    other = lived_in.box("other")
    await other.add("bread", session_id="a")
    assert (await other.forget(session_id="a")).notes == 1
    assert not await other.forget([(await ids(lived_in))[0]])
    assert (await other.forget(whole_box=True)).notes == 0
    assert len(await ids(lived_in)) == 6


async def test_what_is_past_its_retention_goes_but_for_what_is_to_be_kept(open_memory, clock):
    async with open_memory(retention_days=30) as memory:
        old = [await memory.add("old"), await memory.add("dear", metadata={"keep": True})]
        clock.advance(days=31)
        new = await memory.add("new, about long ago", occurred_at="1999-01-01")
        assert (await memory.forget(expired=True, dry_run=True)).erased == (old[0].id,)
        assert (await memory.forget(expired=True)).erased == (old[0].id,)
        assert set(await ids(memory)) == {old[1].id, new.id}
        assert not await memory.forget(expired=True)


async def test_the_receipt_says_where_it_looked_and_where_it_could_not(lived_in):
    receipt = await lived_in.forget(session_id="a")
    results = {place.place: place.result for place in receipt.searched}
    assert results == {
        "ledger tables": "clean", "full text": "clean", "vectors": "clean", "caches in memory": "clean",
        "files of the ledger": "clean", "files of Chroma": "clean", "other files": "clean", "servers": "clean",
        "elsewhere": "not searched",
    }  # fmt: skip
    assert "3 texts looked for" in receipt.searched[0].remark
    assert receipt.clean


async def test_the_receipt_says_where_it_still_is(lived_in, tmp_path):
    (tmp_path / "memory" / "backup.txt").write_text("bread number 3 is out of the oven")
    receipt = await lived_in.forget(source="chat/3")
    (found,) = [place for place in receipt.searched if place.result == "found"]
    assert (found.place, found.remark, receipt.clean) == ("other files", "still in backup.txt", False)


async def test_what_another_note_says_as_well_is_not_taken_for_a_remnant(lived_in):
    await lived_in.add("bread number 3 is out of the oven", session_id="c")
    receipt = await lived_in.forget(source="chat/3")
    assert receipt.clean
    assert "1 more stand in other notes too" in receipt.searched[0].remark


async def test_p6_what_waits_is_made_anew_without_it(open_memory):
    def weaves(request):
        new = request.variables["notes"][0]["number"]
        seen = " ".join(note["text"] for note in request.variables["neighbours"])
        return {
            "links": [],
            "changes": [{"neighbour": 0, "because": [new], "context": f"About: {seen}", "keywords": [], "tags": []}],
        }

    llm = ScriptedLLM({"note": builds, "link_evolve": weaves})
    async with open_memory(llm) as memory:
        first = await memory.add("bread oven")
        secret = await memory.add("bread oven canary")
        third = await memory.add("bread oven again")
        assert "canary" in (await memory.get(first.id)).context
        receipt = await memory.forget([secret.id])
        assert (receipt.rewound, receipt.requeued) == ((first.id,), (third.id,))
        await memory.process()
        now = [await memory.get(note.id) for note in (first, third)]
        assert [note.status for note in now] == ["ready", "ready"]
        assert "canary" not in str(now)
        assert now[0].context == "About: bread oven"


async def test_p6_two_steps_of_one_window_are_one_way_for_the_text(open_memory):
    """The earlier turn is shown to the build alone; what the build said of it is shown to the call that links."""

    def hints(request):
        reply = builds(request)
        if "canary" in str(request.variables["earlier"]):
            reply["notes"][0]["context"] = "Bread with feathers."
        return reply

    def weaves(request):
        older, newer = request.variables["neighbours"], request.variables["notes"]
        assert "canary" not in str(request.variables)
        change = {"neighbour": 0, "because": [newer[0]["number"]], "keywords": [], "tags": []}
        changes = [{**change, "context": "Bread with feathers."}] if "feathers" in newer[0]["context"] else []
        return {"links": [], "changes": changes} if older else NOTHING

    llm = ScriptedLLM({"note": hints, "link_evolve": weaves})
    async with open_memory(llm, neighbours=1, max_neighbours=1) as memory:
        secret = await memory.add("canary", session_id="s", position=0, keywords=["k"], tags=["t"], context="c")
        with memory._rooms.ledger.database.writing() as connection:  # so that it is nobody's neighbour
            connection.exec_driver_sql("DELETE FROM vector")
            connection.exec_driver_sql("UPDATE box SET epoch = epoch + 1")
        first = await memory.add("bread oven")
        await memory.add("bread oven flour", session_id="s")
        assert "feathers" in (await memory.get(first.id)).context
        receipt = await memory.forget([secret.id])
        assert first.id in receipt.rewound
        assert "feathers" not in str(await memory.list())


def test_the_plain_verb_is_the_same(tmp_path):
    from amem.sync import Memory

    with Memory.open(tmp_path, embedding="hash", chroma=False) as memory:
        memory.add("bread", session_id="s")
        assert memory.forget(session_id="s", dry_run=True).notes == 1
        assert memory.forget(session_id="s").clean
        assert memory.stats().notes == 0
