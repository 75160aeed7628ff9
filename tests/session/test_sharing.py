"""Several agents on shared, private and read-only boxes: who wrote what shows, and a reader changes nothing."""

from __future__ import annotations

import inspect
import sqlite3

import pytest
from support import NOTHING, builds

from amem.errors import InputError, ReadOnly
from amem.interfaces.cli import render
from amem.memory import AsyncMemory
from amem.session.episodes import Episodes
from amem.session.facts import Facts
from amem.session.session import AsyncSession
from amem.sync import Memory

SCRIPT = {"note": builds, "link_evolve": NOTHING}
READING = {
    "search", "recall", "explain", "get", "list", "history", "links", "neighbours", "stats", "stale", "review",
    "export", "close", "by_source",
}  # fmt: skip
ARGUMENTS = {
    "content": "No bread today.", "items": ["No bread today."], "seconds": 1.0, "proposal": 1, "message": "Hello?",
    "question": "bread", "subject": "Ana", "predicate": "lives in", "object": "Oslo", "trigger": "rain", "told": [],
    "said": [], "source": "m1",
}  # fmt: skip


def verbs(kind):
    found = dict(inspect.getmembers(kind, inspect.iscoroutinefunction))
    return {name: verb for name, verb in found.items() if not name.startswith("_")}


def arguments(verb, note_id, path):
    known = {**ARGUMENTS, "note_id": note_id, "path": path}
    needed = [name for name, given in inspect.signature(verb).parameters.items() if given.default is given.empty]
    return {name: known[name] for name in needed if name in known}


def everything(folder):
    with sqlite3.connect(folder / "ledger.db") as database:
        return list(database.iterdump())


async def test_a_view_signs_what_is_added_through_it(open_memory):
    async with open_memory(SCRIPT) as memory:
        planner = memory.box("team", agent_id="planner")
        note = (await planner.add("The fair is on Sunday.")).note
        (other,) = await planner.add_many([{"role": "user", "content": "We need a stall."}])
        seen = await planner.session("s1").observe("Who brings the bread?")
        fact = (await planner.facts.add("the fair", "is on", "Sunday")).fact
        episode = await planner.episodes.add("no stall was free", ["asked the baker"], "success")
        corrected = await memory.box("team", agent_id="cook").correct(note.id, "The fair is on Saturday.")
    signed = [note, other.note, seen.note, fact, episode]
    assert [one.agent_id for one in signed] == ["planner"] * 5
    assert corrected.note.agent_id == "cook"


EVOLVES = {
    "links": [{"source": 1, "targets": [0], "reason": "the same fair", "relation": "follows"}],
    "changes": [{"because": [1], "neighbour": 0, "context": "The fair was moved.", "keywords": [], "tags": []}],
}


async def by_whom(memory, note_id):
    return [(change.field, change.cause.kind, change.cause.agent_id) for change in await memory.history(note_id)]


async def test_what_a_note_brings_about_in_others_says_whose_note_it_was(open_memory):
    async with open_memory({"note": builds, "link_evolve": EVOLVES}, similarity_floor=-1.0) as memory:
        first = await memory.box("team", agent_id="planner").add("The fair is on Sunday.")
        await memory.box("team", agent_id="cook").add("The fair was moved.")
        found = await by_whom(memory.box("team"), first.id)
    assert ("context", "build", "planner") in found
    assert ("context", "evolve", "cook") in found


async def test_every_verb_that_changes_a_note_says_through_whose_view_it_came(open_memory, clock, tmp_path):
    async with open_memory() as memory:
        planner = memory.box("team", agent_id="planner")
        note = await memory.box("team").add("The fair is on Sunday.", tags=["fair"])
        await planner.update(note.id, tags=["fair", "stall"])
        await planner.unpin(note.id)
        await planner.pin(note.id)
        await memory.box("team", agent_id="cook").unpin(note.id)
        right = await planner.correct(note.id, "The fair is on Saturday.")
        await memory.box("team", agent_id="cook").undo(caused_by=right.id)
        clock.advance(days=200)
        (faded,) = (await planner.upkeep()).archived
        whose = {(kind, agent) for _, kind, agent in await by_whom(memory.box("team"), note.id)}
        history = await memory.box("team").history(note.id)
        await memory.box("team").export(tmp_path / "vault", format="markdown")
    shown = [render.revision(change).plain.splitlines()[0] for change in history]
    assert all(f"agent {by.cause.agent_id})" in line for line, by in zip(shown, history, strict=True))
    (page,) = (page.read_text() for page in (tmp_path / "vault" / "notes").iterdir() if "Sunday" in page.name)
    assert "tags (user, planner): " in page
    assert faded.note_id == note.id
    assert whose == {
        ("user", "planner"), ("user", "cook"), ("supersede", "planner"), ("undo", "cook"), ("archive", "planner"),
    }  # fmt: skip


async def test_who_accepted_what_waited_for_review_is_said(open_memory):
    async with open_memory(fact_policy="ask") as memory:
        planner = memory.box("team", agent_id="planner")
        old = (await planner.facts.add("the fair", "is on", "Sunday", since="2024-05-01")).fact
        await planner.facts.add("the fair", "is on", "Monday", since="2024-05-02")
        (waits,) = await planner.review()
        assert {change.cause.agent_id for change in waits.changes} == {"planner"}
        await memory.box("team", agent_id="cook").accept(waits.id)
        assert ("superseded_by", "supersede", "cook") in await by_whom(planner, old.id)


async def test_who_ended_a_fact_is_said_and_comes_back_with_an_export(open_memory, tmp_path):
    async with open_memory() as memory:
        old = (await memory.box("team").facts.add("the fair", "is on", "Sunday", since="2024-05-01")).fact
        await memory.box("team", agent_id="planner").facts.add("the fair", "is on", "Monday", since="2024-05-02")
        found = await by_whom(memory.box("team"), old.id)
        assert ("superseded_by", "supersede", "planner") in found
        await memory.box("team").export(tmp_path / "team.jsonl")
    async with open_memory(path="elsewhere") as other:
        await other.import_from(tmp_path / "team.jsonl")
        assert await by_whom(other, old.id) == found


@pytest.mark.parametrize("agent", ["cook", ""])
async def test_a_view_does_not_write_in_another_agent_s_name(open_memory, agent):
    async with open_memory() as memory:
        planner = memory.box("team", agent_id="planner")
        with pytest.raises(InputError, match="writes as the agent 'planner'"):
            await planner.add("I am the cook.", agent_id=agent)
        with pytest.raises(InputError, match="writes as the agent 'planner'"):
            planner.session("s1", agent_id=agent)
        with pytest.raises(InputError, match="writes as the agent 'planner'"):
            await planner.session("s1").observe({"content": "I am the cook.", "agent_id": agent})
        assert (await planner.stats()).notes == 0


async def test_a_view_cannot_be_turned_into_one_that_may_do_more(open_memory):
    async with open_memory() as memory:
        reader = memory.box("team", agent_id="reader", read_only=True)
        with pytest.raises(ReadOnly):
            await reader.box("team", read_only=False).add("I can write.")
        with pytest.raises(InputError, match="cannot see 'private'"):
            reader.box("private")
        with pytest.raises(InputError, match="writes as the agent"):
            reader.box("team", agent_id="planner")
        with pytest.raises(ReadOnly):
            await memory.box("team").box("team", read_only=True).add("I can write.")
        with pytest.raises(InputError, match="agent_id"):
            memory.box("team", agent_id="x" * 5000)


async def test_who_may_only_read_changes_nothing_by_any_verb(open_memory, tmp_path):
    async with open_memory(SCRIPT) as memory:
        box = memory.box("team")
        note = (await box.add("Bread on Monday.", source="m1")).note
        await box.facts.add("Ana", "lives in", "Busan")
        reader = memory.box("team", read_only=True)
        session = reader.session("s1")
        rooms = [(reader, AsyncMemory), (reader.facts, Facts), (reader.episodes, Episodes), (session, AsyncSession)]
        before = everything(tmp_path / "memory")
        refused, done = set(), set()
        for room, kind in rooms:
            for name, verb in verbs(kind).items():
                given = arguments(verb, note.id, tmp_path / f"{name}.jsonl")
                if name == "boxes":
                    with pytest.raises(InputError, match="a view of one box cannot see others"):
                        await reader.boxes()
                elif kind is AsyncMemory and name not in READING:
                    with pytest.raises(ReadOnly, match=f"{name} is refused: this view of the box 'team' may only read"):
                        await getattr(room, name)(**given)
                    refused.add(name)
                elif name in ("add", "add_all", "observe", "end"):
                    with pytest.raises(ReadOnly):
                        await getattr(room, name)(**given)
                else:
                    await getattr(room, name)(**given)
                    done.add(name)
        memory._rooms.accesses.flush()
        assert everything(tmp_path / "memory") == before
        assert (await box.list()).notes
    assert {"add", "update", "undo", "forget", "import_from", "accept", "upkeep_every"} <= refused
    assert {*READING, "context"} <= done


async def test_what_is_recalled_through_a_view_that_may_only_read_is_not_counted(open_memory, tmp_path):
    async with open_memory() as memory:
        mine, team = memory.box("mine"), memory.box("team")
        one, other = (await mine.add("Bread on Monday.")).id, (await team.add("Bread on Tuesday.")).id
        await mine.session("s1", reads=[memory.box("team", read_only=True)]).context("bread")
        await memory.box("team", read_only=True).recall("bread")
        await memory.box("team", read_only=True).search("bread")
        assert dict(memory._rooms.accesses._counts) == {one: 1}
        await mine.session("s1", reads=[team]).context("bread")
        assert dict(memory._rooms.accesses._counts) == {one: 2, other: 1}


async def test_a_session_reads_several_boxes_and_writes_to_one(open_memory):
    async with open_memory() as memory:
        team = memory.box("team", agent_id="planner")
        await team.add("The fair is on Sunday.", speaker="Mira")
        await team.facts.add("the fair", "is in", "Busan", since="2024-04-01")
        await team.episodes.add("rain at the fair", ["moved inside"], "success")
        await memory.box("secret").add("The fair is a trap.")
        session = memory.box("cook").session("s1", agent_id="cook", reads=[memory.box("team", read_only=True)])
        await session.observe({"role": "user", "content": "What do I bake for the fair?"})
        context = await session.context("When and where is the fair?")
        assert "2024-05-01 Mira (team, by planner): The fair is on Sunday." in context.text
        assert "the fair is in Busan (since 2024-04-01) (team, by planner)" in context.text
        assert "2024-05-01 (team, by planner) When: rain at the fair" in context.text
        assert "trap" not in context.text
        assert {(c.box, c.agent_id) for c in context.citations} == {("cook", "cook"), ("team", "planner")}
        assert ((await memory.box("team").stats()).notes, (await memory.box("cook").stats()).notes) == (3, 1)


async def test_recall_over_several_boxes_cites_whose_each_note_is(open_memory):
    async with open_memory() as memory:
        await memory.box("a", agent_id="ann").add("Bread on Monday.")
        await memory.box("b", agent_id="ben").add("Bread on Tuesday.")
        found = await memory.recall("bread", boxes=["a", "b"])
        assert {(cited.box, cited.agent_id) for cited in found.citations} == {("a", "ann"), ("b", "ben")}


async def test_a_session_reads_no_box_of_another_memory(open_memory):
    async with open_memory() as memory, open_memory(path="other") as other:
        with pytest.raises(InputError, match="its own memory"):
            memory.session("s1", reads=[other.box("team")])


async def test_a_session_keeps_its_id_whatever_the_message_says(open_memory):
    async with open_memory() as memory:
        seen = await memory.session("s1").observe({"content": "I moved to Busan.", "session_id": "s2"})
        assert seen.note.session_id == "s1"
        with pytest.raises(InputError, match="session_id"):
            memory.session("x" * 5000)


async def test_what_is_distilled_from_several_agents_turns_is_nobody_s_alone(open_memory):
    def reply(request):
        told = [("Sunday is fine, and we need a stall.", [0, 1]), ("We need a stall on Sunday.", [0])]
        return {
            "notes": [{"text": text, "turns": at, "keywords": [], "tags": []} for text, at in told],
            "facts": [], "episodes": [],
        }  # fmt: skip

    async with open_memory({"distill": reply}, strategy="atomic") as memory:
        said = [("planner", "Sunday, and we need a stall."), ("cook", "Sunday is fine for me.")]
        turns = [{"content": text, "agent_id": agent, "session_id": "s1"} for agent, text in said]
        await memory.box("team").add_many(turns)
        made = {note.content: note.agent_id for note in (await memory.box("team").list()).notes if not note.session_id}
    assert made == {"Sunday is fine, and we need a stall.": None, "We need a stall on Sunday.": "planner"}


def test_views_of_a_memory_without_async_share_alike(tmp_path):
    from amem.embedding import HashEmbedder

    with Memory.open(tmp_path / "m", embedder=HashEmbedder(), chroma=False) as memory:
        memory.box("team", agent_id="planner").add("The fair is on Sunday.")
        reader = memory.box("team", read_only=True)
        with pytest.raises(ReadOnly):
            reader.add("No.")
        session = memory.box("cook").session("s1", reads=[reader])
        assert "The fair is on Sunday." in session.context("When is the fair?").text
