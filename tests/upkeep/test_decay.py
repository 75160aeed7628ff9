"""Importance on a forgetting curve, and the archive: what fades, what does not, and how it comes back."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ledger_support import change
from support import NOTHING, builds

from amem.settings import Settings
from amem.store.doctor import doctor
from amem.upkeep.decay import importance

DEFAULTS = Settings()


def test_importance_is_that_of_the_forgetting_curve():
    assert importance(0, 0, DEFAULTS) == 1
    assert importance(30, 0, DEFAULTS) == pytest.approx(math.exp(-1))
    assert importance(60, 3, DEFAULTS) == pytest.approx(math.exp(-2) + 0.3 * math.log(4))
    assert importance(10_000, 10**6, DEFAULTS) == 1
    slow = Settings(upkeep_days=300, upkeep_weight=0)
    assert importance(300, 50, slow) == pytest.approx(math.exp(-1))


@given(st.floats(0, 1e5), st.floats(0, 1e5), st.integers(0, 1000))
def test_importance_falls_with_time_and_rises_with_use(days, more, accesses):
    here = importance(days, accesses, DEFAULTS)
    assert 0 <= importance(days + more, accesses, DEFAULTS) <= here <= importance(days, accesses + 1, DEFAULTS) <= 1


@pytest.fixture
async def memory(open_memory):
    async with open_memory() as opened:
        yield opened


def healthy(memory):
    rooms = memory._rooms
    return doctor(rooms.ledger, rooms.vectors).problems == ()


async def found(memory, question="bread", **filters):
    return {hit.note.id for hit in await memory.search(question, **filters)}


async def test_what_nobody_recalls_goes_to_the_archive_after_a_dry_run_said_so(memory, clock):
    old = await memory.add("bread in the oven")
    clock.advance(days=89)
    new = await memory.add("bread on the table")
    clock.advance(days=2)
    would = await memory.upkeep(dry_run=True)
    assert [item.note_id for item in would.archived] == [old.id]
    assert would.dry_run
    assert (await memory.get(old.id)).status == "pending"
    done = await memory.upkeep()
    assert done.archived == would.archived
    assert done.archived[0].importance < DEFAULTS.upkeep_archive_below
    assert (await memory.get(old.id)).status == "archived"
    assert await found(memory) == {new.id}
    assert await found(memory, archived=True) == {old.id, new.id}
    assert healthy(memory)


async def test_p2_archiving_is_a_revision_and_undone_like_any_other(memory, clock):
    note = await memory.add("bread in the oven")
    clock.advance(days=200)
    done = await memory.upkeep()
    (change,) = await memory.history(note.id)
    assert (change.field, change.before, change.after, change.cause.kind) == (
        "status",
        "pending",
        "archived",
        "archive",
    )
    assert done.revisions == (change,)
    await memory.undo(done.revisions)
    back = await memory.get(note.id)
    assert (back.status, back.pending_reason) == ("pending", "raw")
    assert await found(memory) == {note.id}
    assert healthy(memory)


async def test_what_was_brought_back_is_not_archived_at_once_again(memory, clock):
    await memory.add("bread in the oven")
    clock.advance(days=200)
    await memory.undo((await memory.upkeep()).revisions)
    assert (await memory.upkeep()).archived == ()
    clock.advance(days=200)
    assert len((await memory.upkeep()).archived) == 1


async def test_a_recall_by_the_user_keeps_a_note_and_nothing_else_counts_as_one(memory, clock):
    recalled, read = await memory.add("bread in the oven"), await memory.add("a van with a dent")
    await memory.recall("bread", budget=20)
    await memory.explain("van", read.id)
    await memory.get(read.id)
    await memory.links(read.id)
    await memory.list()
    await memory.upkeep(dry_run=True)
    clock.advance(days=100)
    assert [item.note_id for item in (await memory.upkeep()).archived] == [read.id]
    assert (await memory.get(recalled.id)).status == "pending"


async def test_the_search_for_neighbours_is_no_recall(open_memory, clock):
    async with open_memory({"note": builds, "link_evolve": NOTHING}) as memory:
        for text in ("bread in the oven", "bread on the table", "bread in the van"):
            await memory.add(text)
        clock.advance(days=100)
        assert {item.accesses for item in (await memory.upkeep()).archived} == {0}


async def test_the_moment_of_a_recall_is_where_forgetting_begins_anew(open_memory, clock):
    async with open_memory(upkeep_archive_below=0.5) as memory:
        note = await memory.add("bread in the oven")
        clock.advance(days=80)
        await memory.search("bread")
        clock.advance(days=50)
        (item,) = (await memory.upkeep(dry_run=True)).archived
        assert (item.note_id, item.accesses, round(item.days)) == (note.id, 1, 50)


async def test_a_conversation_of_long_ago_that_was_just_imported_is_fresh(memory):
    await memory.add("bread in the oven", occurred_at="1999-01-01")
    assert (await memory.upkeep()).archived == ()


@pytest.mark.parametrize("given", [{"tags": ["food"]}, {"context": "Baking."}, {"metadata": {"keep": True}}])
async def test_what_the_user_pinned_or_wants_kept_is_never_archived(memory, clock, given):
    await memory.add("bread in the oven", **given)
    clock.advance(days=1000)
    done = await memory.upkeep()
    assert (done.archived, done.kept) == ((), 1)


async def test_what_other_notes_rest_on_is_never_archived(memory, clock):
    wrong, source = await memory.add("bread in the oven"), await memory.add("a van with a dent")
    right = await memory.correct(wrong.id, "cake in the oven")
    with memory._rooms.ledger.database.writing() as connection:
        connection.exec_driver_sql("UPDATE note SET sources = ? WHERE id = ?", (f'["{source.id}"]', right.id))
    clock.advance(days=1000)
    done = await memory.upkeep()
    assert (done.archived, done.kept) == ((), 2)


async def test_notes_that_wait_for_a_model_are_left_alone(open_memory, clock):
    async with open_memory({"note": {"notes": []}}) as memory:
        note = await memory.add("bread in the oven")
        assert note.note.pending_reason == "failed"
        clock.advance(days=1000)
        assert (await memory.upkeep()).archived == ()


async def test_a_threshold_of_nothing_archives_nothing(open_memory, clock):
    async with open_memory(upkeep_archive_below=0) as memory:
        await memory.add("bread in the oven")
        clock.advance(days=100_000)
        assert (await memory.upkeep()).archived == ()


async def test_a_view_tends_its_own_box_only(memory, clock):
    await memory.add("bread in the oven")
    await memory.box("other").add("bread in the van")
    clock.advance(days=1000)
    assert len((await memory.box("other").upkeep()).archived) == 1
    assert (await memory.stats()).archived == 0


async def test_a_note_whose_builder_was_forgotten_while_it_was_archived_waits_to_be_built_when_it_is_back(shelf):
    old, gone = shelf.ready("bread oven"), shelf.add("to be forgotten")
    shelf.build(old, gone, context="Baking, and a secret.")
    (archived,) = shelf.commit(shelf.plan(change(shelf.get(old), "archive", status="archived"))).revisions
    shelf.forget(gone)
    assert (shelf.get(old).status, shelf.get(old).context) == ("archived", "")
    shelf.undo(archived)
    assert (shelf.get(old).status, shelf.get(old).pending_reason) == ("pending", "queued")
    problems = doctor(shelf.ledger, shelf.vectors).problems
    assert {problem.kind for problem in problems} == {"vector_missing"}  # its text changed; nobody embedded it yet
