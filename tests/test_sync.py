from __future__ import annotations

import asyncio

import pytest
from support import NOTHING, builds, counting_ids

from amem import Memory
from amem.embedding import HashEmbedder
from amem.errors import NoteNotFound
from amem.testing import ScriptedLLM


@pytest.fixture
def memory(tmp_path, clock):
    llm = ScriptedLLM({"note": builds, "link_evolve": NOTHING})
    with Memory.open(tmp_path / "m", llm=llm, embedder=HashEmbedder(), now=clock, new_id=counting_ids()) as opened:
        yield opened


def test_every_verb_works_without_async(memory):
    first = memory.add("Mira plans a pottery course.")
    second, third = memory.add_many(["The course begins on Monday.", "It ends on Friday."], session_id="s")
    assert {first.status, second.status, third.status} == {"ready"}
    assert memory.search("pottery", k=1)[0].note.id == first.id
    assert "[1]" in memory.recall("When does the course begin?").text
    assert memory.get(first.id).content == "Mira plans a pottery course."
    assert len(memory.list(limit=2).notes) == 2
    assert memory.update(first.id, tags=["art"]).tags == ("art",)
    revision = memory.history(first.id)[-1]
    memory.undo(revision)
    assert memory.get(first.id).tags == ("told",)
    assert memory.links(first.id) == []
    assert memory.neighbours(first.id) == []
    assert memory.evolve(second.id, dry_run=True) == []
    assert memory.process() == []
    assert memory.stats().ready == 3
    assert memory.box("other").stats().notes == 0
    assert memory.name == "default"
    assert memory.delete(third.id)
    with pytest.raises(NoteNotFound):
        memory.get(third.id)


async def test_it_also_works_where_a_loop_is_running(memory):
    assert memory.add("from within a loop").status == "ready"


def test_two_event_loops_one_after_another_may_use_the_same_model(tmp_path):
    from amem import AsyncMemory

    llm = ScriptedLLM({"note": builds, "link_evolve": NOTHING})

    async def once(text):
        async with AsyncMemory.open(tmp_path / "m", llm=llm, embedder=HashEmbedder()) as opened:
            return (await opened.add(text)).status

    assert [asyncio.run(once("one")), asyncio.run(once("two"))] == ["ready", "ready"]


def test_sessions_facts_and_episodes_work_without_async(memory):
    session = memory.session("s1")
    seen = session.observe("I moved to Busan.", speaker="Ana")
    assert "I moved to Busan." in session.context("Where does Ana live?", 200).text
    assert session.end() == [seen.note.id]
    assert [step.step for step in session.trace] == ["observe", "context", "build", "end"]
    assert session.id == "s1"
    stated = memory.facts.add("Ana", "lives in", "Busan", since="2023-06-01")
    assert memory.facts.list() == memory.facts.search("Where does Ana live?") == [stated.fact]
    told = memory.episodes.add("the ferry was late", ["took the bus"], "success")
    assert memory.episodes.search("a late ferry")[0].id == told.id


def test_closing_twice_is_harmless(tmp_path):
    memory = Memory.open(tmp_path / "m", embedder=HashEmbedder())
    memory.close()
    memory.close()
