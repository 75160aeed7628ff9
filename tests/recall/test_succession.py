"""What took the place of notes has their links, and is found through the links that led to them."""

from __future__ import annotations

import pytest
from recall_support import HIKE, fill, link
from support import NOTHING

from amem.testing import ScriptedLLM

QUESTION = "Where does Ana hike in autumn?"
SUM = "Ana sold the red boat on 3 May, in the harbour of Oslo."
REPLY = {"text": SUM, "keywords": ["boat", "Oslo"], "tags": ["trade"], "context": "Ana sold her boat."}
TOLD = ("Ana sold the red boat on 3 May in the harbour", "Ana sold the red boat on 3 May in Oslo harbour")


async def linked(memory, question, k=1):
    return [hit.note.id for hit in await memory.search(question, k=k, links=3) if hit.via == "link"]


async def test_a_correction_is_found_through_the_links_of_what_it_corrects(open_memory):
    async with open_memory() as memory:
        first, *_, piano = await fill(memory)
        link(memory, first, piano)
        right = (await memory.correct(piano, "The cello was tuned on Friday.")).id
        assert await linked(memory, QUESTION) == [right]
        await memory.undo(caused_by=right)
        assert await linked(memory, QUESTION) == [piano]


async def test_a_correction_of_a_correction_has_the_links_of_the_first(open_memory):
    async with open_memory() as memory:
        first, *_, piano = await fill(memory)
        link(memory, first, piano)
        once = (await memory.correct(first, f"{HIKE[0]} Truly.")).id
        twice = (await memory.correct(once, f"{HIKE[0]} Really.")).id
        hits = await memory.search(QUESTION, k=1, links=1)
        assert [(hit.note.id, hit.via) for hit in hits] == [(twice, "direct"), (piano, "link")]
        assert (hits[1].path[0].source, hits[1].path[0].target) == (twice, piano)
        assert (await memory.explain(QUESTION, piano, k=1)).path[-1].target == piano


@pytest.fixture
def summing(open_memory):
    def cues(request):
        about = {"keywords": ["boat"], "tags": ["trade"], "context": ""}
        return {"notes": [{"turn": turn["number"], **about} for turn in request.variables["turns"]]}

    llm = ScriptedLLM({"note": cues, "link_evolve": NOTHING, "consolidate": REPLY})
    return lambda: open_memory(llm, upkeep_likeness=0.4, similarity_floor=0.0)


async def test_a_summary_takes_part_in_the_links_of_its_notes_both_ways_until_it_is_undone(summing):
    async with summing() as memory:
        one, other = [(await memory.add(text, speaker="Ana", occurred_at="2024-05-03")).id for text in TOLD]
        buyer = (await memory.add("Tom pays by instalments", speaker="Tom", occurred_at="2020-05-09")).id
        link(memory, one, buyer)
        link(memory, one, other)  # between two that become one: it leads nowhere then
        done = await memory.upkeep()
        summary = done.merged[0].into
        assert await linked(memory, "red boat harbour Oslo") == [buyer]
        assert await linked(memory, "instalments Tom pays") == [summary]
        assert [note.id for note in await memory.neighbours(summary)] == [buyer]
        assert [note.id for note in await memory.neighbours(buyer)] == [summary]
        await memory.undo(done.revisions)
        assert await linked(memory, "instalments Tom pays") == [one]
