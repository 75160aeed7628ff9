from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recall_support import AT, HIKE, change, fill, link

from amem.errors import InputError
from amem.model import Hit, Link, Note
from amem.recall.expansion import steps

QUESTION = "Where does Ana hike in autumn?"


async def test_search_follows_no_link_unless_asked(open_memory):
    async with open_memory() as memory:
        first, *_, piano = await fill(memory)
        link(memory, first, piano)
        assert piano not in [hit.note.id for hit in await memory.search(QUESTION, k=2)]


async def test_a_linked_note_stands_behind_the_direct_hits_and_says_how_it_came(open_memory):
    async with open_memory() as memory:
        first, *_, piano = await fill(memory)
        link(memory, first, piano, strength=0.5, relation="paid for", reason="The piano paid for the trip.")
        direct = await memory.search(QUESTION, k=2)
        *before, last = await memory.search(QUESTION, k=2, links=3)
        assert before == direct
        assert (last.note.id, last.via) == (piano, "link")
        step = last.path[0].model_dump()
        assert step == {
            "source": first, "target": piano, "relation": "paid for", "reason": "The piano paid for the trip."
        }  # fmt: skip
        assert last.score == pytest.approx(direct[0].score * 0.5)


async def test_a_link_is_followed_from_either_end(open_memory):
    async with open_memory() as memory:
        first, *_, piano = await fill(memory)
        link(memory, piano, first)
        hit = (await memory.search(QUESTION, k=1, links=1))[-1]
        assert (hit.path[0].source, hit.path[0].target) == (first, piano)


async def test_linked_notes_are_the_best_ones_and_no_more_than_asked(open_memory):
    async with open_memory() as memory:
        first, rye, _, ferry, piano = await fill(memory)
        for other, strength in ((rye, 0.2), (ferry, 0.9), (piano, 0.6)):
            link(memory, first, other, strength=strength)
        found = await memory.search(QUESTION, k=1, links=2)
        assert [hit.note.id for hit in found] == [first, ferry, piano]


async def test_a_linked_note_explains_itself(open_memory):
    async with open_memory() as memory:
        first, *_, piano = await fill(memory)
        link(memory, first, piano)
        why = (await memory.search(QUESTION, k=1, links=1, explain=True))[-1].explanation
        assert (why.note_id, why.rank, why.path[0].source) == (piano, 2, first)
        assert why.parts == {"link": why.score}


async def test_the_filter_holds_for_linked_notes(open_memory):
    async with open_memory() as memory:
        [first] = await fill(memory, HIKE[:1], speaker="Ana")
        [piano] = await fill(memory, HIKE[-1:], speaker="Ben")
        link(memory, first, piano)
        assert len(await memory.search(QUESTION, k=1, links=3)) == 2
        assert [hit.note.id for hit in await memory.search(QUESTION, k=1, links=3, speaker="Ana")] == [first]


@pytest.mark.parametrize(
    "fields",
    [
        {"status": "archived"},
        {"superseded_by": "00000000-0000-7000-8000-000000000099"},
        {"valid_to": "2024-04-01T00:00:00Z"},
    ],
)
async def test_what_is_archived_or_superseded_never_comes_in_through_a_link(open_memory, fields):
    async with open_memory() as memory:
        first, *_, piano = await fill(memory)
        link(memory, first, piano)
        change(memory, piano, **fields)
        assert [hit.note.id for hit in await memory.search(QUESTION, k=1, links=3)] == [first]


async def test_a_note_still_valid_comes_in_through_a_link(open_memory, clock):
    async with open_memory() as memory:
        first, *_, piano = await fill(memory)
        link(memory, first, piano)
        change(memory, piano, valid_to=(clock() + timedelta(days=1)).isoformat())
        assert [hit.note.id for hit in await memory.search(QUESTION, k=1, links=3)] == [first, piano]


async def test_a_forgotten_note_is_found_by_no_path_and_nothing_raises(open_memory):
    async with open_memory() as memory:
        first, *_, piano = await fill(memory)
        link(memory, first, piano)
        await memory.delete(piano)
        assert [hit.note.id for hit in await memory.search(QUESTION, k=1, links=3)] == [first]


async def test_a_negative_number_of_links_is_refused(open_memory):
    async with open_memory() as memory:
        with pytest.raises(InputError, match="links"):
            await memory.search("hike", links=-1)


LONG = [f"Ana hikes in autumn and writes down what she sees, day {day}." for day in range(40)]


async def test_recall_gives_linked_notes_a_share_of_the_budget_and_says_that_a_link_led_there(open_memory):
    async with open_memory() as memory:
        first, *_ = await fill(memory, LONG)
        [piano] = await fill(memory, HIKE[-1:])
        link(memory, first, piano)
        context = await memory.recall("Ana hikes in autumn, day 0?", budget=300)
        assert {c.note_id: c.via for c in context.citations}[piano] == "link"
        assert context.tokens <= 300


async def test_links_take_the_place_of_the_least_direct_hits_only(open_memory):
    question = "Ana hikes in autumn, day 0?"
    async with open_memory() as memory:
        first, *_ = await fill(memory, LONG)
        alone = {c.note_id: c.score for c in (await memory.recall(question, budget=300)).citations}
        for target in await fill(memory, [f"Ben sold piano number {number}." for number in range(9)]):
            link(memory, first, target)
        cited = (await memory.recall(question, budget=300)).citations
        linked = [c for c in cited if c.via == "link"]
        lost = alone.keys() - {c.note_id for c in cited}
        assert 1 <= len(linked) <= memory._rooms.settings.recall_links
        assert lost
        kept = [score for note_id, score in alone.items() if note_id not in lost]
        assert max(alone[note_id] for note_id in lost) <= min(kept)


@pytest.mark.parametrize("off", [{"recall_links": 0}, {"recall_links_share": 0.0}])
async def test_links_in_recall_can_be_switched_off(open_memory, off):
    async with open_memory(**off) as memory:
        first, *_ = await fill(memory, LONG)
        [piano] = await fill(memory, HIKE[-1:])
        link(memory, first, piano)
        context = await memory.recall("Ana hikes in autumn, day 0?", budget=300)
        assert {c.via for c in context.citations} == {"direct"}


def note(number):
    return Note(id=f"n{number}", content="text", occurred_at=AT, created_at=AT)


@settings(max_examples=50, suppress_health_check=[HealthCheck.too_slow])
@given(
    scores=st.lists(st.floats(-5, 9), min_size=1, max_size=4),
    ends=st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.floats(0, 1)), max_size=12),
)
def test_no_linked_note_scores_above_the_hit_it_came_from_and_each_comes_once(scores, ends):
    hits = [Hit(note=note(number), score=score) for number, score in enumerate(scores)]
    links = [
        Link(box="b", source=f"n{a}", target=f"n{b}", relation="r", reason="r", strength=s, created_at=AT)
        for a, b, s in ends
        if a != b
    ]
    ways = steps(hits, links)
    assert all(step.score <= step.start.score for step in ways)
    assert len({step.target for step in ways}) == len(ways)
    assert not {step.target for step in ways} & {hit.note.id for hit in hits}
    assert [step.score for step in ways] == sorted((step.score for step in ways), reverse=True)


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(extra=st.lists(st.sampled_from(["Ana hikes in autumn.", "boots", "piano", "日本の秋"]), min_size=1, max_size=3))
async def test_notes_that_the_filter_excludes_change_nothing_linked_or_not(open_memory, tmp_path_factory, extra):
    path = tmp_path_factory.mktemp("m") / "memory"
    async with open_memory(path=path) as memory:
        ids = await fill(memory, session_id="s", agent_id="a")
        link(memory, ids[0], ids[4])
        wanted = {"k": 3, "links": 2, "agent_id": "a", "explain": True, "reconstruct": True}
        before = await memory.search(QUESTION, **wanted)
        for other in await fill(
            memory, extra, session_id="s", agent_id="b", occurred_at=datetime(2024, 5, 1, tzinfo=UTC)
        ):
            link(memory, ids[0], other, strength=1.0)
        assert await memory.search(QUESTION, **wanted) == before
