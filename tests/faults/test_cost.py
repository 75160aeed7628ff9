"""What a failing model may cost: budgets hold under failure and among many tasks, and a larger one resumes a run."""

from __future__ import annotations

import asyncio
import json
import time

import pytest
from fault_support import client, different, sound
from support import fields

from amem.errors import ModelRejected
from amem.testing.fault_server import drips, fails, says

TOKENS = (400, 60)


def told(text, tokens=TOKENS, seconds=0.0):
    return says(json.dumps(text), tokens=tokens, seconds=seconds)


async def test_failed_calls_count_and_no_budget_of_calls_is_passed_by_trying_again(server, model, remember):
    model.fall_ill("note", fails(503))
    async with remember(budget={"budget_calls": 5}, retries=3) as memory:
        results = [await memory.add(f"note {i}") for i in range(4)]
        assert len(server.requests) == 5
        assert [result.note.error.partition(":")[0] for result in results] == [
            "ModelUnavailable", "ModelUnavailable", "BudgetSpent", "BudgetSpent",
        ]  # fmt: skip
        assert [result.note.pending_reason for result in results[2:]] == ["queued", "queued"]
        usage = (await memory.stats()).usage["build"]
        assert (usage.calls, usage.failed) == (5, 5)


async def test_unusable_replies_are_paid_for_and_the_budget_knows(server, model, remember):
    model.fall_ill("note", says("no"))
    async with remember(budget={"budget_calls": 3}) as memory:
        results = [await memory.add(f"note {i}") for i in range(3)]
        assert len(server.requests) == 3
        assert [result.note.error.partition(":")[0] for result in results] == ["BadReply", "BudgetSpent", "BudgetSpent"]


@pytest.mark.parametrize("healthy", [True, False])
@pytest.mark.parametrize("calls", [1, 7])
async def test_many_tasks_at_once_never_overspend_a_budget_of_calls(server, model, remember, calls, healthy):
    if not healthy:
        model.fall_ill("note", fails(500))
    async with remember(budget={"budget_calls": calls}, concurrency=8) as memory:
        results = await asyncio.gather(*(memory.add(f"note {i}") for i in range(20)))
        assert len(server.requests) <= calls
        assert len(results) == len((await memory.list()).notes) == 20
        assert sound(memory)
    model.recover()
    async with remember() as memory:
        await memory.process()
        notes = (await memory.list()).notes
        assert ({note.status for note in notes}, len(notes)) == ({"ready"}, 20)


async def test_many_tasks_at_once_never_overspend_a_budget_of_tokens(server, model, remember):
    model.fall_ill("note", told(fields(1), seconds=0.02))
    budget = 12_000
    async with remember(budget={"budget_tokens": budget}, concurrency=8) as memory:
        results = await asyncio.gather(*(memory.add(f"note {i}") for i in range(30)))
        usage = sum(u.prompt_tokens + u.completion_tokens for u in (await memory.stats()).usage.values())
        assert usage <= budget
        assert {"ready", "pending"} == {result.status for result in results}
        assert {r.note.pending_reason for r in results if r.status == "pending"} == {"queued"}


async def test_many_tasks_at_once_overspend_a_budget_of_money_by_no_more_than_one_call(server, model, remember):
    model.fall_ill("note", told(fields(1), seconds=0.02))
    priced = client(server, concurrency=8)
    priced._model = "openai/gpt-4o-mini"  # which has a price: some $0.0001 a call here
    async with remember(budget={"budget_usd": 0.0004}, llm=priced) as memory:
        results = await asyncio.gather(*(memory.add(f"note {i}") for i in range(12)))
        spent = memory._rooms.meter.total.cost
        one = spent / memory._rooms.meter.total.calls
        assert 0 < spent <= 0.0004 + one
        assert [r.note.error for r in results if r.status == "pending" and not r.note.error.startswith("Budget")] == []


async def test_a_server_that_does_not_say_what_it_took_cannot_overspend_a_budget_of_tokens(server, model, remember):
    model.fall_ill("note", says(json.dumps(fields(1)), tokens=None))
    async with remember(budget={"budget_tokens": 3_000}) as memory:
        for i in range(6):
            await memory.add(f"note {i}")
        assert model.asked["note"] <= 3


async def test_a_budget_that_was_spent_is_resumed_with_a_larger_one_and_nothing_is_paid_twice(server, model, remember):
    texts = [f"turn {i} about bread" for i in range(24)]
    async with remember(budget={"budget_calls": 3}) as memory:
        await memory.add_many(texts)
        assert sum(model.asked.values()) == 3
    for budget in (2, 4):
        async with remember(budget={"budget_calls": budget}) as memory:
            await memory.process()
            assert sound(memory)
    async with remember() as memory:
        notes = (await memory.list()).notes
        assert [note.content for note in notes] == texts
        assert {note.status for note in notes} == {"ready"}
    assert model.asked == {"note": 3, "link_evolve": 3}


@pytest.mark.parametrize("answer", [drips(60), fails(503)], ids=["drip", "503"])
async def test_the_deadline_bounds_what_one_add_may_take_with_all_its_tries(server, model, remember, answer):
    model.fall_ill("note", answer)
    llm = client(server, timeout=1.0, deadline=3.0, retries=1000, wait=lambda _: 0.3)
    async with remember(llm=llm) as memory:
        began = time.monotonic()
        result = await memory.add("Slow.")
        assert time.monotonic() - began < 20
        assert result.note.error.startswith("ModelUnavailable: ")
        assert 2 <= len(server.requests) <= 11


async def test_no_request_is_sent_twice_after_replies_that_were_no_use(server, model, remember):
    model.fall_ill("note", says("no"))
    async with remember() as memory:
        await memory.add_many([f"turn {i}" for i in range(4)])
        assert len(server.requests) == 2 * (1 + 2 + 4)
        assert different(server.bodies)


async def test_a_reply_cut_at_the_limit_is_given_more_room_once_and_never_billed_again(server, model, remember):
    model.fall_ill("note", says('{"notes": [', finish_reason="length"))
    async with remember() as memory:
        await memory.add("Long.")
        assert [body["max_tokens"] for body in server.bodies] == [400, 800]


async def test_an_evolution_that_changes_nothing_is_counted_all_the_same(model, remember):
    async with remember() as memory:
        await memory.add("The bread oven is lit on Sundays.")
        note = await memory.add("The oven was rebuilt in spring.")
        await memory.evolve(note.id, dry_run=True)
        assert (await memory.stats()).usage["link_evolve"].calls == 2
        model.fall_ill("link_evolve", fails(401))
        with pytest.raises(ModelRejected):
            await memory.evolve(note.id)
        usage = (await memory.stats()).usage["link_evolve"]
        assert (usage.calls, usage.failed) == (3, 1)


async def test_a_cancelled_add_keeps_its_note_and_its_cost_and_is_finished_later(server, model, remember):
    model.fall_ill("note", told(fields(1), seconds=60))
    async with remember() as memory:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(memory.add("Cut short."), 2)
        assert memory._rooms.meter.total.failed == 1
        assert (await memory.stats()).usage["build"].failed == 1
        assert memory._rooms.runs.in_hand == frozenset()
        model.recover()
        assert [one.status for one in await memory.process()] == ["ready"]
        assert len((await memory.list()).notes) == 1
