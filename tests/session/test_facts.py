from __future__ import annotations

from datetime import UTC, datetime

import pytest
from ledger_support import ANY

from amem.errors import InputError

NOW = datetime(2024, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
async def memory(open_memory):
    async with open_memory() as opened:
        yield opened


async def moved(memory):
    seoul = await memory.facts.add("Ana", "lives in", "Seoul", since="2021-03-01")
    busan = await memory.facts.add("Ana", "lives in", "Busan", since="2023-06-01")
    return seoul.fact.id, busan.fact.id


def said(facts):
    return [fact.object for fact in facts]


async def test_a_newer_statement_ends_the_older_one_and_keeps_it(memory):
    seoul, busan = await moved(memory)
    assert said(await memory.facts.list()) == ["Busan"]
    old, new = await memory.facts.list(outdated=True)
    assert (old.id, old.until, old.superseded_by) == (seoul, datetime(2023, 6, 1, tzinfo=UTC), busan)
    assert (new.id, new.until) == (busan, None)


async def test_a_question_about_then_and_a_question_about_now_are_both_answered_rightly(memory):
    await moved(memory)
    assert said(await memory.facts.search("Where does Ana live?")) == ["Busan"]
    assert said(await memory.facts.search("Where did Ana live in 2022?")) == ["Seoul"]
    assert said(await memory.facts.search("Where did Ana live last year?", now=NOW)) == ["Busan"]
    assert said(await memory.facts.list(as_of="2022-01-01")) == ["Seoul"]


async def test_recall_shows_the_fact_that_holds(memory):
    await moved(memory)
    assert (await memory.recall("Where does Ana live?", now=NOW)).text == "[1] 2023-06-01: Ana lives in Busan"


async def test_the_end_of_a_fact_can_be_undone(memory):
    seoul, _ = await moved(memory)
    ending = [revision for revision in await memory.history(seoul) if revision.cause.kind == "supersede"]
    assert {revision.field for revision in ending} == {"valid_to", "superseded_by"}
    await memory.undo(ending)
    assert said(await memory.facts.list()) == ["Seoul", "Busan"]


async def test_p6_forgetting_what_ended_a_fact_has_it_hold_again(memory):
    seoul, busan = await moved(memory)
    await memory.delete(busan)
    (left,) = await memory.facts.list()
    assert (left.id, left.until, left.superseded_by) == (seoul, None, None)


async def test_p6_a_fact_goes_with_the_note_that_says_so(memory):
    note = await memory.add("I moved to Busan.", speaker="Ana")
    await memory.facts.add("Ana", "lives in", "Busan", sources=(note.id,))
    await memory.delete(note.id)
    assert await memory.facts.list() == []
    assert memory._rooms.ledger.matching_ids("default", ANY) == set()


async def test_a_repeat_is_recognised(memory):
    first = await memory.facts.add("Ana", "lives in", "Seoul", since="2021-03-01")
    again = await memory.facts.add("ana", "Lives in", " SEOUL", since="2022-03-01")
    assert (again.is_new, again.fact.id) == (False, first.fact.id)


async def test_contradictions_that_nothing_puts_in_order_are_shown_as_such(memory):
    one = await memory.facts.add("Ana", "was born in", "1990", since="2024-01-01")
    other = await memory.facts.add("Ana", "was born in", "1991", since="2024-01-01")
    assert other.fact.contradicts == (one.fact.id,)
    assert [fact.contradicts for fact in await memory.facts.list()] == [(other.fact.id,), (one.fact.id,)]


async def test_a_fact_that_was_wrong_from_the_beginning_contradicts_nothing(memory):
    one = await memory.facts.add("Ana", "was born in", "1990", since="2024-01-01")
    await memory.correct(one.fact.id, "Nobody knows when Ana was born.")
    other = await memory.facts.add("Ana", "was born in", "1991", since="2024-01-01")
    assert other.fact.contradicts == ()
    assert {fact.contradicts for fact in await memory.facts.list(outdated=True)} == {()}


async def test_where_asked_for_the_ending_waits_for_review(open_memory):
    async with open_memory(fact_policy="ask") as memory:
        seoul, busan = await moved(memory)
        assert said(await memory.facts.list()) == ["Seoul", "Busan"]
        (waits,) = await memory.review()
        await memory.accept(waits.id)
        (left,) = await memory.facts.list()
        assert left.id == busan
        assert {revision.note_id for revision in waits.changes} == {seoul}


async def test_facts_of_other_boxes_are_others(memory):
    await moved(memory)
    assert await memory.box("other").facts.list() == []
    await memory.box("other").facts.add("Ana", "lives in", "Oslo", since="2024-01-01")
    assert said(await memory.facts.list()) == ["Busan"]


async def test_a_fact_is_no_neighbour_and_needs_no_building(memory):
    await moved(memory)
    assert (await memory.stats()).pending == {}
    assert {note.kind for note in (await memory.list(outdated=True)).notes} == {"fact"}


@pytest.mark.parametrize("given", [{"subject": ""}, {"since": "soon"}, {"colour": "red"}, {"trust": "high"}])
async def test_a_fact_that_says_nothing_is_refused(memory, given):
    with pytest.raises(InputError, match="the fact is refused"):
        await memory.facts.add(**{"subject": "Ana", "predicate": "lives in", "object": "Oslo", **given})
    assert await memory.facts.list() == []
