"""Making anew what was distilled or summed up: from its turns, or its notes, and in the place of what they told."""

from __future__ import annotations

import asyncio

import pytest
from crash_support import problems
from rebuild_support import reworded, word_of
from support import NOTHING, counting_ids

from amem.errors import ModelUnavailable
from amem.ingest.rebuild import MOVED
from amem.ingest.rebuilt import Left
from amem.store.written import BY_HAND, LOST_TURN, PARTED, WAITS
from amem.testing import FaultyLLM, ScriptedLLM

SEOUL = "I moved to Seoul, Mina lent me her blue van for it."
BUSAN = "Now I have moved to Busan, and swim in the sea each morning."
NEITHER = {"notes": [], "facts": [], "episodes": []}


def told(request):
    """Tell of each turn a note in the wording's word, one that is the same in all wordings, a fact and an episode."""
    word = word_of(request)
    reply = {"notes": [], "facts": [], "episodes": []}
    for turn in request.variables["turns"]:
        number, place = turn["number"], "Busan" if "Busan" in turn["text"] else "Seoul"
        same = "Mina lent her blue van" if place == "Seoul" else "Swims in the sea each morning"
        texts = (f"{word}: moved to {place}.", same)
        reply["notes"] += [{"turns": [number], "text": t, "keywords": [word, place], "tags": []} for t in texts]
        fact = {"subject": "Ana", "predicate": "lives in", "object": f"{word} {place}", "single": True}
        reply["facts"].append({"turns": [number], **fact})
        episode = {"trigger": f"moved to {place}", "actions": [word], "outcome": "success", "lesson": ""}
        reply["episodes"].append({"turns": [number], **episode})
    return reply


def summed(request):
    return {
        "text": f"Ana sold the red boat on 3 May in the harbour of Oslo, says {word_of(request)}.",
        "keywords": [word_of(request), "boat"], "tags": [], "context": "",
    }  # fmt: skip


def build(request):
    turns = request.variables["turns"]
    return {"notes": [{"turn": t["number"], "keywords": ["boat"], "tags": ["trade"], "context": ""} for t in turns]}


@pytest.fixture
def model():
    return ScriptedLLM({"distill": told, "consolidate": summed, "note": build, "link_evolve": NOTHING})


@pytest.fixture
def reopened(open_memory, model):
    """Open the same memory again; ids go on."""
    ids = counting_ids()

    def opened(llm=None, **settings):
        return open_memory(llm or model, similarity_floor=0.0, new_id=ids, **settings)

    return opened


@pytest.fixture
def atomic(reopened):
    return lambda llm=None, **settings: reopened(llm, strategy="atomic", **settings)


@pytest.fixture
def new(tmp_path):
    """The settings that use another wording."""
    return reworded(tmp_path / "p", "distill", "consolidate")


async def talk(memory, *texts, start=1):
    items = [
        {"content": text, "speaker": "Ana", "session_id": "s", "occurred_at": f"2024-05-0{day}"}
        for day, text in enumerate(texts, start=start)
    ]
    return [result.id for result in await memory.add_many(items)]


@pytest.fixture
async def old(atomic):
    """A memory of two windows that the shipped wording distilled, closed; returns the ids of the turns."""
    async with atomic() as memory:
        return [*await talk(memory, SEOUL), *await talk(memory, BUSAN, start=2)]


async def memories(memory, **filters):
    """All that was distilled and is in use: what it says, and what it is known for."""
    found = []
    for kind in ("note", "fact", "episode"):
        found += (await memory.list(kinds=(kind,), **filters)).notes
    return {note.content: note for note in found if note.sources}


async def test_what_was_distilled_and_summed_up_is_listed_with_its_wording(old, atomic, new):
    async with atomic(**new) as memory:
        stale = await memory.stale()
        assert {note.content for note in stale.memories} == set(await memories(memory, outdated=True))
        assert len(stale) == len(stale.memories) == 8
        assert {label.partition("@")[0] for label, _ in stale.makers} == {"distill"}
        assert len(await memory.stale(prompt="link_evolve")) == 0
    async with atomic() as memory:
        assert len(await memory.stale()) == 0


async def test_a_rebuild_distils_the_turns_anew_and_leads_where_the_new_wording_would_have_led(
    old, atomic, open_memory, model, new
):
    async with open_memory(model, "fresh", strategy="atomic", similarity_floor=0.0, **new) as fresh:
        await talk(fresh, SEOUL)
        await talk(fresh, BUSAN, start=2)
        wanted = {text: (n.keywords, n.occurred_at, n.valid_to) for text, n in (await memories(fresh)).items()}
        facts = [(fact.text, fact.since, fact.until) for fact in await fresh.facts.list(outdated=True)]
    async with atomic(**new) as memory:
        rebuilt = await memory.rebuild()
        now = await memories(memory)
        assert {text: (n.keywords, n.occurred_at, n.valid_to) for text, n in now.items()} == wanted
        assert [(fact.text, fact.since, fact.until) for fact in await memory.facts.list(outdated=True)] == facts
        assert (rebuilt.left, rebuilt.kept, rebuilt.usage.calls) == ((), (), 2)
        assert len(await memory.stale()) == 0
        assert [(await memory.get(note_id)).content for note_id in old] == [SEOUL, BUSAN]
        assert problems(memory) == set()
        assert (await memory.rebuild()).rewritten == ()


async def test_what_is_told_again_word_for_word_stays_the_same_note(old, atomic, new):
    async with atomic(**new) as memory:
        before = await memories(memory)
        rebuilt = await memory.rebuild()
        after = await memories(memory)
        same = "Swims in the sea each morning"
        assert (after[same].id, after[same].keywords) == (before[same].id, ("Nova", "Busan"))
        gone = before["Old: moved to Busan."].id
        assert (await memory.get(gone)).status == "archived"
        assert {gone, before[same].id} < set(rebuilt.rewritten)
        assert after["Nova: moved to Busan."].id in rebuilt.written


async def test_nearly_the_same_words_take_the_place_of_the_old_ones(old, atomic, new):
    def louder(request):
        notes = [{**note, "text": f"{note['text']}!"} for note in told(request)["notes"]]
        return {**NEITHER, "notes": [{**note, "keywords": ["Old", *note["keywords"][1:]]} for note in notes]}

    async with atomic(ScriptedLLM({"distill": louder}), **new) as memory:
        assert (await memory.rebuild()).left == ()
        now = await memories(memory)
        assert "Swims in the sea each morning!" in now
        assert "Swims in the sea each morning" not in now


async def test_p2_a_rebuild_of_memories_is_taken_back_whole(old, atomic, new):
    async with atomic(**new) as memory:
        before = {text: note.id for text, note in (await memories(memory)).items()}
        facts = await memory.facts.list(outdated=True)
        rebuilt = await memory.rebuild()
        undone = await memory.undo(rebuilt.revisions)
        back = await memories(memory)
        assert {text: note.id for text, note in back.items()} == before
        assert back["Swims in the sea each morning"].keywords == ("Old", "Busan")
        assert await memory.facts.list(outdated=True) == facts
        assert problems(memory) == set()
        assert len(await memory.stale()) == 8
        await memory.undo(undone)
        assert "Nova: moved to Busan." in await memories(memory)
        assert problems(memory) == set()


async def test_a_spent_budget_leaves_the_rest_as_it_was_and_another_run_goes_on(old, atomic, new):
    async with atomic(budget_calls=1, **new) as memory:
        rebuilt = await memory.rebuild()
        assert {left.why.partition(":")[0] for left in rebuilt.left} == {"BudgetSpent"}
        assert {"Nova: moved to Seoul.", "Old: moved to Busan."} < set(await memories(memory))
        assert problems(memory) == set()
    async with atomic(**new) as memory:
        assert (await memory.rebuild()).left == ()
        assert len(await memory.stale()) == 0
        assert [fact.object for fact in await memory.facts.list()] == ["Nova Busan"]


async def test_a_limit_takes_whole_windows(old, atomic, new):
    async with atomic(**new) as memory:
        assert (await memory.rebuild(limit=0)).rewritten == ()
        assert len((await memory.rebuild(limit=1)).rewritten) == 4
        assert len((await memory.stale()).memories) == 4


async def test_a_dry_run_asks_nobody(old, atomic, model, new):
    async with atomic(**new) as memory:
        model.calls.clear()
        would = await memory.rebuild(dry_run=True)
        assert (len(would.rewritten), would.written, model.calls) == (8, (), [])


@pytest.mark.parametrize("reply", [NEITHER, ModelUnavailable("down")])
async def test_p1_a_model_that_fails_or_tells_nothing_takes_nothing_away(old, atomic, new, reply):
    llm = ScriptedLLM({"distill": reply}) if isinstance(reply, dict) else FaultyLLM(ScriptedLLM({}), {"distill": reply})
    async with atomic(llm, **new) as memory:
        before = {text: note.id for text, note in (await memories(memory)).items()}
        rebuilt = await memory.rebuild()
        assert len(rebuilt.left) == 8
        assert {text: note.id for text, note in (await memories(memory)).items()} == before
        assert (await memory.stats()).usage["distill"].calls > 2


async def test_what_the_user_changed_stays_and_is_not_told_a_second_time(old, atomic, new):
    async with atomic(**new) as memory:
        mine = await memories(memory)
        pinned = mine["Mina lent her blue van"].id
        await memory.update(pinned, tags=["mine"])
        await memory.correct(mine["Swims in the sea each morning"].id, "Swims in the sea on Sundays")
        rebuilt = await memory.rebuild()
        assert rebuilt.kept == (Left(note_id=pinned, why=BY_HAND),)
        after = await memories(memory)
        assert (after["Mina lent her blue van"].id, after["Mina lent her blue van"].tags) == (pinned, ("mine",))
        assert "Swims in the sea each morning" not in after
        assert [note.id for note in (await memory.stale()).memories] == [pinned]
        assert problems(memory) == set()


async def test_what_the_user_changes_meanwhile_is_left_and_tried_again(old, atomic, new):
    async def edited(request):
        note = (await memories(memory)).get("Old: moved to Seoul.")
        if note is not None and not note.pinned:
            await memory.update(note.id, tags=["mine"])
        return told(request)

    async with atomic(ScriptedLLM({"distill": edited}), **new) as memory:
        rebuilt = await memory.rebuild()
        assert {left.why for left in rebuilt.left} == {MOVED}
        assert "Nova: moved to Busan." in await memories(memory)
        assert (await memory.rebuild()).left == ()


async def test_a_memory_of_a_turn_that_was_corrected_stays_as_it_is(old, atomic, new):
    async with atomic(**new) as memory:
        await memory.correct(old[0], "I moved to Daegu.", wait=False)
        rebuilt = await memory.rebuild()
        assert {left.why for left in rebuilt.kept} == {LOST_TURN}
        assert "Old: moved to Seoul." in await memories(memory)


async def test_turns_that_told_nothing_new_are_linked_anew_and_not_by_a_link_call(atomic, model, new):
    async with atomic() as memory:
        await talk(memory, SEOUL)
        (turn,) = await talk(memory, SEOUL, start=2)
        assert [link.relation for link in await memory.links(turn)] == ["tells again"] * 2
    async with atomic(**new) as memory:
        assert len((await memory.stale()).links) == 2
        assert (await memory.rebuild(dry_run=True)).woven == ()
        rebuilt = await memory.rebuild()
        assert rebuilt.woven == ()
        targets = [(await memory.get(link.target)).content for link in await memory.links(turn)]
        assert sorted(targets) == ["Mina lent her blue van", "Nova: moved to Seoul."]
        assert len(await memory.stale()) == 0
        assert model.calls_of("link_evolve") == []
        assert problems(memory) == set()


async def test_p6_forgetting_a_turn_takes_the_memories_of_all_wordings_with_it(old, atomic, new):
    async with atomic(**new) as memory:
        rebuilt = await memory.rebuild()
        receipt = await memory.delete(old[1])
        assert {"Old: moved to Busan.", "Nova: moved to Busan."}.isdisjoint(await memories(memory, archived=True))
        assert set(rebuilt.written) & set(receipt.erased)
        assert [(fact.object, fact.until) for fact in await memory.facts.list()] == [("Nova Seoul", None)]
        assert problems(memory) == set()


async def test_the_ends_of_facts_that_were_accepted_once_are_not_held_again(atomic, new):
    async with atomic(fact_policy="ask") as memory:
        await talk(memory, SEOUL)
        await talk(memory, BUSAN, start=2)
    async with atomic(fact_policy="ask", **new) as memory:
        assert {left.why for left in (await memory.rebuild(dry_run=True)).kept} == {WAITS}
        (waits,) = await memory.review()
        await memory.accept(waits.id)
        await memory.rebuild()
        assert [fact.text for fact in await memory.facts.list()] == ["Ana lives in Nova Busan"]
        assert await memory.review() == []


# -- summaries ------------------------------------------------------------------------------------

BOATS = ("Ana sold the red boat on 3 May in the harbour", "Ana sold the red boat on 3 May in Oslo harbour")


@pytest.fixture
async def consolidated(reopened):
    """Two notes that a summary of the shipped wording stands for, closed; returns their ids and the summary's."""
    async with reopened(upkeep_likeness=0.4) as memory:
        ids = [(await memory.add(text, speaker="Ana", occurred_at="2024-05-03")).id for text in BOATS]
        (merged,) = (await memory.upkeep()).merged
        return ids, merged.into


async def test_a_summary_is_made_anew_of_the_same_notes_and_taken_back(consolidated, reopened, new):
    ids, old = consolidated
    async with reopened(upkeep_likeness=0.4, **new) as memory:
        assert [note.id for note in (await memory.stale()).memories] == [old]
        rebuilt = await memory.rebuild()
        assert rebuilt.rewritten == (old,)
        (made,) = rebuilt.written
        summary = await memory.get(made)
        assert (summary.content.rpartition(" ")[2], summary.sources, summary.status) == ("Nova.", tuple(ids), "ready")
        assert {(await memory.get(note_id)).superseded_by for note_id in (*ids, old)} == {made}
        assert [hit.note.id for hit in await memory.search("boat")] == [made]
        assert len(await memory.stale()) == 0
        assert (await memory.upkeep()).merged == ()
        assert problems(memory) == set()
        await memory.undo(rebuilt.revisions)
        assert [hit.note.id for hit in await memory.search("boat")] == [old]
        assert {(await memory.get(note_id)).superseded_by for note_id in ids} == {old}
        assert (await memory.get(made)).status == "archived"
        assert problems(memory) == set()


async def test_a_summary_that_says_the_same_again_stays(consolidated, reopened, new):
    _, old = consolidated
    reply = {**summed(type("Old", (), {"messages": [type("M", (), {"content": ""})]})), "keywords": ["Nova"]}
    async with reopened(ScriptedLLM({"consolidate": reply}), **new) as memory:
        rebuilt = await memory.rebuild()
        assert (rebuilt.rewritten, rebuilt.written) == ((old,), ())
        assert (await memory.get(old)).keywords == ("Nova",)
        assert len(await memory.stale()) == 0


async def test_a_summary_one_of_whose_notes_came_back_stays_as_it_is(consolidated, reopened, new):
    ids, old = consolidated
    async with reopened(**new) as memory:
        back = [r for r in await memory.history(ids[0]) if r.field in ("superseded_by", "valid_to")]
        await memory.undo(back)
        assert (await memory.rebuild()).kept == (Left(note_id=old, why=PARTED),)


async def test_a_summary_that_cannot_be_made_anew_stays(consolidated, reopened, new):
    _, old = consolidated
    llm = FaultyLLM(ScriptedLLM({}), {"consolidate": ModelUnavailable("down")})
    async with reopened(llm, **new) as memory:
        rebuilt = await memory.rebuild()
        assert rebuilt.left == (Left(note_id=old, why="ModelUnavailable: down"),)
        assert rebuilt.usage.failed >= 1
        assert (await memory.get(old)).status == "ready"


async def test_p1_what_a_cancelled_rebuild_cost_is_counted(consolidated, reopened, new):
    async def stuck(_):
        started.set()
        await asyncio.sleep(3600)

    started = asyncio.Event()
    async with reopened(ScriptedLLM({"consolidate": stuck}), **new) as memory:
        before = (await memory.stats()).usage["consolidate"].calls
        task = asyncio.create_task(memory.rebuild())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await memory.stats()).usage["consolidate"].calls == before + 1
