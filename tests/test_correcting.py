"""The user's own hand: correcting a note, pinning its fields, and taking both back."""

from __future__ import annotations

import asyncio

import pytest
from support import NOTHING, builds

from amem.errors import InputError, ModelUnavailable, NoteNotFound
from amem.store.doctor import doctor


def healthy(memory):
    rooms = memory._rooms
    return doctor(rooms.ledger, rooms.vectors).problems == ()


async def found(memory, question="boat", **filters):
    return {hit.note.id for hit in await memory.search(question, **filters)}


@pytest.fixture
async def memory(open_memory):
    async with open_memory() as opened:
        yield opened


async def test_a_correction_takes_the_place_of_the_note_which_stays(memory):
    old = await memory.add(
        "I sold the boat in May", speaker="Ana", session_id="s", agent_id="a", occurred_at="2024-05-03",
        metadata={"n": 1}, tags=["trade"],
    )  # fmt: skip
    await memory.add("Why the boat?", speaker="Ben", session_id="s")
    result = await memory.correct(old.id, "I sold the boat in June")
    new, was = result.note, await memory.get(old.id)
    assert (new.speaker, new.session_id, new.agent_id, new.metadata) == ("Ana", "s", "a", {"n": 1})
    assert (new.occurred_at, new.tags, new.position) == (old.note.occurred_at, ("trade",), 2)
    assert (was.content, was.superseded_by, was.valid_to) == ("I sold the boat in May", new.id, was.occurred_at)
    assert old.id not in await found(memory)
    assert {old.id, new.id} <= await found(memory, outdated=True)
    assert "in May" not in (await memory.recall("When did Ana sell the boat?")).text
    assert await found(memory, as_of="2024-06-01") & {old.id, new.id} == {new.id}
    assert healthy(memory)


async def test_what_held_good_until_then_is_told_of_then(memory):
    old = await memory.add("I have a boat", occurred_at="2024-01-01")
    new = await memory.correct(old.id, "I have a van and no boat", occurred_at="2024-03-01", metadata={"why": "sold"})
    assert new.note.metadata == {"why": "sold"}
    assert await found(memory, as_of="2024-02-01") == {old.id}
    assert await found(memory, as_of="2024-04-01") == {new.id}


async def test_p2_a_correction_is_taken_back_by_naming_it(memory):
    old = await memory.add("I sold the boat in May")
    new = await memory.correct(old.id, "I sold the boat in June")
    undone = await memory.undo(caused_by=new.id)
    assert await found(memory) == {old.id}
    assert (await memory.get(new.id)).status == "archived"
    assert (await memory.get(old.id)).valid_to is None
    await memory.undo(undone)
    assert await found(memory) == {new.id}
    assert healthy(memory)


async def test_a_correction_is_built_like_any_note_and_undone_all_the_same(open_memory):
    async with open_memory({"note": builds, "link_evolve": NOTHING}) as memory:
        old = await memory.add("I sold the boat in May")
        new = await memory.correct(old.id, "I sold the boat in June")
        assert (new.status, new.note.keywords) == ("ready", ("I", "sold", "the"))
        await memory.undo(caused_by=new.id)
        assert await found(memory) == {old.id}
        assert healthy(memory)


async def test_p1_a_correction_is_kept_though_the_model_fails(open_memory):
    def down(request):
        raise ModelUnavailable("down")

    async with open_memory({"note": down}) as memory:
        old = await memory.add("I sold the boat in May")
        new = await memory.correct(old.id, "I sold the boat in June")
        assert (new.status, new.note.pending_reason) == ("pending", "failed")
        assert await found(memory) == {new.id}
        with pytest.raises(ModelUnavailable):
            await memory.correct(new.id, "I sold the boat in July", strict=True)
        assert len((await memory.list()).notes) == 1


async def test_a_correction_without_waiting_is_finished_in_the_background(open_memory):
    memory = open_memory({"note": builds, "link_evolve": NOTHING})
    old = await memory.add("I sold the boat in May")
    new = await memory.correct(old.id, "I sold the boat in June", wait=False)
    assert new.status == "pending"
    await memory.close()
    async with open_memory() as again:
        assert (await again.get(new.id)).status == "ready"


async def test_only_the_note_that_stands_is_corrected(memory):
    old = await memory.add("I sold the boat in May")
    new = await memory.correct(old.id, "I sold the boat in June")
    with pytest.raises(InputError, match=new.id):
        await memory.correct(old.id, "I sold the boat in July")
    with pytest.raises(InputError, match="empty"):
        await memory.correct(new.id, " ")
    with pytest.raises(NoteNotFound):
        await memory.box("other").correct(new.id, "theirs")
    assert (await memory.stats()).notes == 2


async def test_of_two_corrections_at_once_one_is_refused_and_nothing_is_half_done(memory):
    old = await memory.add("I sold the boat in May")
    both = await asyncio.gather(
        memory.correct(old.id, "I sold the boat in June"), memory.correct(old.id, "I sold the boat in July"),
        return_exceptions=True,
    )  # fmt: skip
    refused = [one for one in both if isinstance(one, InputError)]
    assert len(refused) == 1
    assert len((await memory.list(archived=True, outdated=True)).notes) == 2
    assert healthy(memory)


async def test_p6_forgetting_what_was_wrong_leaves_the_correction(memory):
    old = await memory.add("I sold the boat in May")
    new = await memory.correct(old.id, "I sold the boat in June")
    assert (await memory.delete(old.id)).erased == (old.id,)
    assert await found(memory) == {new.id}
    assert healthy(memory)


async def test_p6_forgetting_a_correction_brings_back_what_stood_before(memory):
    old = await memory.add("I sold the boat in May")
    new = await memory.correct(old.id, "I sold the boat in June")
    await memory.delete(new.id)
    assert await found(memory) == {old.id}
    assert healthy(memory)


# -- pins -------------------------------------------------------------------------------------------


async def test_a_pinned_field_is_changed_by_no_model_until_it_is_unpinned(open_memory):
    async with open_memory({"note": builds, "link_evolve": NOTHING}) as memory:
        note = await memory.add("I sold the boat")
        assert (await memory.pin(note.id, ["tags"])).pinned == ("tags",)
        assert (await memory.pin(note.id)).pinned == ("tags", "keywords", "context")
        assert (await memory.unpin(note.id, ["keywords"])).pinned == ("tags", "context")
        assert (await memory.unpin(note.id)).pinned == ()
        assert healthy(memory)


async def test_p2_pins_have_a_history_and_are_taken_back(memory):
    note = await memory.add("I sold the boat", tags=["trade"])
    await memory.unpin(note.id)
    (change,) = await memory.history(note.id)
    assert (change.field, change.before, change.after, change.cause.kind) == ("pinned", ["tags"], [], "user")
    await memory.undo(change)
    assert (await memory.get(note.id)).pinned == ("tags",)
    assert healthy(memory)


async def test_pinning_what_is_pinned_changes_nothing(memory):
    note = await memory.add("I sold the boat", tags=["trade"])
    assert (await memory.pin(note.id, ["tags"])).version == 1
    assert await memory.history(note.id) == []


@pytest.mark.parametrize("fields", [["content"], ["pinned"], "colour"])
async def test_only_what_models_may_change_can_be_pinned(memory, fields):
    note = await memory.add("I sold the boat")
    with pytest.raises(InputError, match="cannot be pinned"):
        await memory.pin(note.id, fields)
