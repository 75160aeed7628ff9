"""What held good, and when: superseded notes, `as_of`, and fresh notes before old ones where that is asked for."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from recall_support import change, fill, scripted

SEOUL, BUSAN = "Ana lives in Seoul.", "Ana lives in Busan."
MOVED = datetime(2023, 6, 1, tzinfo=UTC)


@pytest.fixture
async def memory(open_memory):
    async with open_memory() as opened:
        yield opened


async def moved(memory):
    """Two statements, of which the later one has taken the place of the earlier one; return their ids."""
    (seoul,) = await fill(memory, [SEOUL], occurred_at="2020-01-01")
    (busan,) = await fill(memory, [BUSAN], occurred_at=MOVED)
    change(memory, seoul, valid_to=MOVED.isoformat(), superseded_by=busan)
    return seoul, busan


async def found(memory, **filters):
    return {hit.note.id for hit in await memory.search("Where does Ana live?", **filters)}


async def test_what_was_superseded_is_not_found_any_more(memory):
    seoul, busan = await moved(memory)
    assert await found(memory) == {busan}
    assert await found(memory, outdated=True) == {seoul, busan}


async def test_a_search_before_and_after_the_superseding_agree_with_the_ledger(memory):
    (seoul,) = await fill(memory, [SEOUL], occurred_at="2020-01-01")
    assert await found(memory) == {seoul}  # what recall knows by heart is not outdated with it
    (busan,) = await fill(memory, [BUSAN], occurred_at=MOVED)
    change(memory, seoul, valid_to=MOVED.isoformat(), superseded_by=busan)
    assert await found(memory) == {busan}
    change(memory, seoul, valid_to=None, superseded_by=None)
    assert await found(memory) == {seoul, busan}


@pytest.mark.parametrize(("moment", "expected"), [("2019-01-01", ""), ("2022-01-01", "seoul"), ("2024-01-01", "busan")])
async def test_as_of_tells_what_held_good_then(memory, moment, expected):
    ids = dict(zip(("seoul", "busan"), await moved(memory), strict=True))
    assert await found(memory, as_of=moment) == ({ids[expected]} if expected else set())


async def test_a_line_of_what_ended_says_so(memory):
    await moved(memory)
    context = await memory.recall("Where does Ana live?", as_of="2022-01-01")
    assert context.text == "[1] 2020-01-01: Ana lives in Seoul. (until 2023-06-01)"


async def test_explain_says_what_took_the_place_of_a_note(memory):
    seoul, busan = await moved(memory)
    said = await memory.explain("Where does Ana live?", seoul)
    assert said.dropped_by == f"the filter: note {busan} has taken its place"


async def test_a_superseded_note_is_no_neighbour(open_memory):
    shown = []

    def links_nothing(request):
        shown.append({note["text"] for note in request.variables["neighbours"]})
        return {"links": [], "changes": []}

    async with open_memory(scripted(link_evolve=links_nothing)) as memory:
        await moved(memory)
        await memory.add("Ana bought a bike in Busan.")
    assert shown == [{SEOUL}, {BUSAN}]


async def test_a_new_date_is_seen_even_where_the_text_changes_with_it(memory):
    (note,) = await fill(memory, [SEOUL], occurred_at="2020-01-01")
    assert await found(memory) == {note}
    await memory.update(note, context="She moved there for work.", occurred_at="2021-03-01")
    view = memory._rooms.layouts.view(memory.name)
    assert view.moments == [datetime(2021, 3, 1, tzinfo=UTC)]


@pytest.mark.parametrize(("weight", "first"), [(0.0, "old"), (20.0, "new")])
async def test_fresh_notes_come_first_where_recency_counts(open_memory, clock, weight, first):
    async with open_memory(recall_recency=weight, recall_half_life_days=10) as memory:
        (old,) = await fill(memory, ["Ben plays chess in the park."], occurred_at="2023-05-01")
        (new,) = await fill(memory, ["Ben met friends, and they talked about chess."], occurred_at="2024-04-29")
        hits = await memory.search("Does Ben play chess in the park?", explain=True)
        assert hits[0].note.id == {"old": old, "new": new}[first]
        assert ("recency" in hits[0].explanation.parts) == (weight > 0)
        assert all(hit.explanation.score == pytest.approx(sum(hit.explanation.parts.values())) for hit in hits)
