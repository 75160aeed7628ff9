"""Making anew what older prompts made, and only that."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rebuild_support import TEXTS, build, fill, hub, model, reworded, state, weave

from amem.errors import InputError, ModelUnavailable
from amem.ingest.rebuild import MOVED
from amem.prompts import PromptSet
from amem.testing import FaultyLLM, ScriptedLLM

SETTINGS = {"similarity_floor": -1.0}
HERE = Path(__file__).parent


@pytest.fixture
def reopened(open_memory):
    """Open the same memory, with other settings or another model."""

    def opened(llm=None, **settings):
        return open_memory(llm or model(), **{**SETTINGS, **settings})

    return opened


@pytest.fixture
async def old(reopened):
    """A memory made by the shipped wording, closed; returns the ids of its notes."""
    async with reopened() as memory:
        return await fill(memory)


async def sound(memory):
    from amem.store.doctor import doctor

    rooms = memory._rooms
    assert doctor(rooms.ledger, rooms.vectors, rooms.index).problems == ()
    return True


# -- what is stale --------------------------------------------------------------------------------


async def test_what_the_present_wordings_made_is_not_stale(old, reopened):
    async with reopened() as memory:
        assert len(await memory.stale()) == 0
        assert (await memory.rebuild()).revisions == ()


async def test_stale_lists_the_notes_links_and_changes_of_older_wordings(old, reopened, tmp_path):
    async with reopened(**reworded(tmp_path / "p", "note", "link_evolve")) as memory:
        stale = await memory.stale()
        assert [note.id for note in stale.notes] == old
        assert [(link.source, link.target) for link in stale.links] == list(zip(old[1:], old, strict=False))
        assert {(r.note_id, r.field) for r in stale.revisions} == {
            (note_id, field) for note_id in old[:-1] for field in ("context", "keywords")
        }
        shipped = PromptSet()
        assert stale.makers == {
            (shipped.get("link_evolve").ref.label, "scripted"): 9,
            (shipped.get("note").ref.label, "scripted"): 4,
        }


async def test_stale_of_one_prompt_lists_only_what_that_one_made(old, reopened, tmp_path):
    async with reopened(**reworded(tmp_path / "p", "note", "link_evolve")) as memory:
        stale = await memory.stale(prompt="note")
        assert (len(stale.notes), len(stale.links), len(stale.revisions)) == (4, 0, 0)
        label = PromptSet().get("link_evolve").ref.label
        assert len((await memory.stale(prompt=label)).links) == 3
        with pytest.raises(InputError, match="no prompt 'nte' made anything here"):
            await memory.stale(prompt="nte")


async def test_an_equal_wording_of_another_version_is_not_stale(old, reopened, tmp_path):
    (tmp_path / "same").mkdir()
    (tmp_path / "same" / "note.j2").write_text(PromptSet().get("note").source)
    async with reopened(prompts_overrides=str(tmp_path / "same")) as memory:
        assert len(await memory.stale()) == 0


async def test_what_another_model_made_is_stale_where_a_model_is_named(old, reopened):
    async with reopened(model(model="better")) as memory:
        assert len(await memory.stale()) == 0
        assert len((await memory.stale(model="better")).notes) == 4
        with pytest.raises(InputError, match="the model asked is better, not best"):
            await memory.rebuild(model="best")
        await memory.rebuild(model="better")
        assert len(await memory.stale(model="better")) == 0
        assert {note.made_by.model for note in (await memory.list()).notes} == {"better"}


# -- what a rebuild does --------------------------------------------------------------------------


async def test_a_rebuild_leaves_nothing_stale_and_leads_where_the_new_wording_would_have_led(
    old, reopened, open_memory, tmp_path
):
    new = reworded(tmp_path / "p", "note", "link_evolve")
    async with open_memory(model(), "fresh", **SETTINGS, **new) as fresh:
        await fill(fresh)
        wanted = await state(fresh)
    async with reopened(**new) as memory:
        rebuilt = await memory.rebuild()
        assert (rebuilt.built, rebuilt.left) == (tuple(old), ())
        assert rebuilt.woven == tuple(old[1:])
        assert [link.relation for link in rebuilt.links] == ["Nova"] * 3
        assert await state(memory) == wanted
        assert len(await memory.stale()) == 0
        assert await sound(memory)


async def test_where_only_builds_are_stale_links_and_later_notes_additions_stay(old, reopened, tmp_path):
    async with reopened() as memory:
        before, links = await state(memory)
    llm = model()
    async with reopened(llm, **reworded(tmp_path / "p", "note")) as memory:
        rebuilt = await memory.rebuild()
        assert (rebuilt.built, rebuilt.woven, llm.calls_of("link_evolve")) == (tuple(old), (), [])
        after, links_after = await state(memory)
        assert links_after == links
        assert after[TEXTS[0]][:3] == (("Nova", "boat", "Old-1"), ("nova-tag",), before[TEXTS[0]][2])
        assert after[TEXTS[-1]][2] == f"Nova: {TEXTS[-1]}"
        assert await sound(memory)
        await memory.undo(caused_by=old[1])
        assert (await memory.get(old[0])).context == f"Nova: {TEXTS[0]}"
        assert await sound(memory)


async def test_where_only_links_are_stale_nothing_is_built(old, reopened, tmp_path):
    llm = model()
    async with reopened(llm, **reworded(tmp_path / "p", "link_evolve")) as memory:
        await memory.rebuild()
        assert llm.calls_of("note") == []
        assert (await memory.get(old[0])).context == f"{TEXTS[0]}, Nova of 1"
        assert (await memory.get(old[0])).keywords == ("Old", "boat", "Nova-1")


async def test_the_model_is_shown_notes_without_what_is_being_taken_back(old, reopened, tmp_path):
    llm = model()
    async with reopened(llm, **reworded(tmp_path / "p", "note", "link_evolve")) as memory:
        await memory.rebuild()
    assert len(llm.calls_of("link_evolve")) == 3
    assert "Old" not in str([call.variables for call in llm.calls_of("link_evolve")])


async def test_notes_are_linked_anew_with_those_that_were_there_before_them(old, reopened, tmp_path):
    llm = model()
    async with reopened(llm, **reworded(tmp_path / "p", "link_evolve")) as memory:
        await memory.rebuild()
    shown = [[note["text"] for note in call.variables["neighbours"]] for call in llm.calls_of("link_evolve")]
    assert [sorted(texts) for texts in shown] == [sorted(TEXTS[:place]) for place in (1, 2, 3)]


async def test_what_the_user_set_stays(old, reopened, tmp_path):
    async with reopened(**reworded(tmp_path / "p", "note", "link_evolve")) as memory:
        await memory.update(old[0], context="Mine.", tags=["mine"])
        await memory.rebuild()
        note = await memory.get(old[0])
        assert (note.context, note.tags) == ("Mine.", ("mine",))
        assert note.keywords == ("Nova", "boat", "Nova-1")
        assert len(await memory.stale()) == 0
        assert await sound(memory)


async def test_pending_and_archived_notes_are_left_out(old, reopened, tmp_path):
    async with reopened() as memory:
        with memory._rooms.ledger.database.writing() as connection:
            from sqlalchemy import text

            connection.execute(text("UPDATE note SET status = 'archived' WHERE id = :id"), {"id": old[1]})
    async with reopened(**reworded(tmp_path / "p", "note", "link_evolve")) as memory:
        stale = await memory.stale()
        assert old[1] not in [note.id for note in stale.notes]
        assert old[1] not in [link.source for link in stale.links]


async def test_a_rebuild_of_another_box_touches_nothing_here(old, reopened, tmp_path):
    async with reopened(**reworded(tmp_path / "p", "note")) as memory:
        assert len(await memory.box("other").stale()) == 0
        assert (await memory.box("other").rebuild()).built == ()
        assert len((await memory.stale()).notes) == 4


async def test_several_changes_of_one_context_are_made_anew_one_after_the_other(reopened, open_memory, tmp_path):
    new = reworded(tmp_path / "p", "note", "link_evolve")
    hubs = ScriptedLLM({"note": build, "link_evolve": hub})
    async with open_memory(hubs, "fresh", **SETTINGS, **new) as fresh:
        await fill(fresh)
        wanted = await state(fresh)
        assert wanted[0][TEXTS[0]][2] == f"Nova: {TEXTS[0]}, Nova of 1, Nova of 2, Nova of 3"
    async with reopened(hubs) as memory:
        ids = await fill(memory)
        before = await state(memory)
    revisions = []
    async with reopened(hubs, budget_calls=2, **new) as memory:  # the builds, and the first of the changes
        revisions += (await memory.rebuild()).revisions
        assert (await memory.get(ids[0])).context == before[0][TEXTS[0]][2]
        assert [r.after for r in (await memory.stale()).revisions if r.field == "context"] == [
            f"Old: {TEXTS[0]}, Old of 1, Old of 2", before[0][TEXTS[0]][2]
        ]  # fmt: skip
        assert await sound(memory)
    async with reopened(hubs, **new) as memory:
        revisions += (await memory.rebuild()).revisions
        assert await state(memory) == wanted
        assert await sound(memory)
        await memory.undo(revisions)
        assert await state(memory) == before
        assert await sound(memory)


# -- undo -----------------------------------------------------------------------------------------


async def test_p2_a_rebuild_is_taken_back_whole(old, reopened, tmp_path):
    async with reopened(**reworded(tmp_path / "p", "note", "link_evolve")) as memory:
        before, stale = await state(memory), await memory.stale()
        rebuilt = await memory.rebuild()
        assert await state(memory) != before
        undone = await memory.undo(rebuilt.revisions)
        assert await state(memory) == before
        assert {r.id for r in (await memory.stale()).revisions} == {r.id for r in stale.revisions}
        assert await sound(memory)
        await memory.undo(undone)
        assert len(await memory.stale()) == 0
        assert await sound(memory)


async def test_p2_what_a_note_brought_about_anew_is_taken_back_by_its_cause(old, reopened, tmp_path):
    async with reopened(**reworded(tmp_path / "p", "note", "link_evolve")) as memory:
        await memory.rebuild()
        await memory.undo(caused_by=old[1])
        note = await memory.get(old[0])
        assert (note.keywords, note.context) == (("Nova", "boat"), f"Nova: {TEXTS[0]}")
        assert [link.source for link in await memory.links(old[0])] == []
        assert await sound(memory)


async def test_the_history_says_what_a_rebuild_took_back(old, reopened, tmp_path):
    async with reopened(**reworded(tmp_path / "p", "link_evolve")) as memory:
        first = next(r for r in await memory.history(old[0]) if r.cause.kind == "evolve" and r.field == "context")
        await memory.rebuild()
        taken = [r for r in await memory.history(old[0]) if r.cause.kind == "rebuild" and r.field == "context"]
        assert [(r.cause.undoes, r.cause.notes) for r in taken] == [(first.id, (old[1],))]


# -- budgets, faults, other writers ---------------------------------------------------------------


async def test_a_spent_budget_leaves_the_rest_as_it_was_and_another_run_goes_on(old, reopened, tmp_path):
    new = reworded(tmp_path / "p", "note", "link_evolve")
    runs = 0
    while True:
        async with reopened(window=1, budget_calls=1, **new) as memory:
            rebuilt = await memory.rebuild()
            assert rebuilt.usage.calls == 1
            assert await sound(memory)
            runs += 1
            if not rebuilt.left:
                break
            assert {left.why.split(":")[0] for left in rebuilt.left} <= {
                "BudgetSpent", "the run stopped before its turn"
            }  # fmt: skip
        assert runs < 10
    assert runs == 7
    async with reopened(**new) as memory:
        assert len(await memory.stale()) == 0
        assert (await memory.get(old[0])).context == f"{TEXTS[0]}, Nova of 1"


async def test_p3_a_rebuild_killed_again_and_again_ends_where_one_run_would(old, reopened, open_memory, tmp_path):
    new = reworded(tmp_path / "p", "note", "link_evolve")
    async with open_memory(model(), "fresh", **SETTINGS, **new) as fresh:
        await fill(fresh)
        wanted = await state(fresh)
    command = [sys.executable, str(HERE / "rebuild_child.py"), str(tmp_path / "memory"), new["prompts_overrides"]]
    codes = []
    while not codes or codes[-1]:
        child = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=120,
            env={**os.environ, "PYTHONPATH": str(HERE)},
        )  # fmt: skip
        codes.append(child.returncode)
        assert child.returncode in (0, -signal.SIGKILL), child.stderr
    assert len(codes) == 3  # of five windows, each run but the last did two
    async with reopened(**new) as memory:
        assert len(await memory.stale()) == 0
        assert await state(memory) == wanted
        assert await sound(memory)


@pytest.mark.parametrize("prompt", ["note", "link_evolve"])
async def test_p1_a_model_that_fails_leaves_every_note_as_it_was(old, reopened, tmp_path, prompt):
    new = reworded(tmp_path / "p", prompt)
    async with reopened(FaultyLLM(model(), {prompt: ModelUnavailable("down")}), **new) as memory:
        before = await state(memory)
        rebuilt = await memory.rebuild()
        assert await state(memory) == before
        assert rebuilt.left[0].why == "ModelUnavailable: down"
        assert rebuilt.usage.failed >= 1
        assert (await memory.stats()).usage[{"note": "build"}.get(prompt, prompt)].failed >= 1
        assert len(await memory.stale()) > 0


async def test_p1_a_turn_that_the_reply_leaves_out_stays_as_it_was(old, reopened, tmp_path):
    def forgetful(request):
        reply = build(request)
        return {"notes": reply["notes"][:-1]} if len(reply["notes"]) > 1 else reply

    llm = ScriptedLLM({"note": forgetful, "link_evolve": weave})
    async with reopened(llm, **reworded(tmp_path / "p", "note")) as memory:
        rebuilt = await memory.rebuild()
        assert [left.note_id for left in rebuilt.left] == [old[-1]]
        assert (await memory.get(old[-1])).keywords[0] == "Old"
        assert (await memory.rebuild()).built == (old[-1],)


async def test_p4_a_note_the_user_changed_meanwhile_keeps_the_change_and_stays_stale(old, reopened, tmp_path):
    async def edited(request):
        await memory.update(old[0], context="Mine.")
        return weave(request)

    llm = ScriptedLLM({"note": build, "link_evolve": edited})
    async with reopened(llm, **reworded(tmp_path / "p", "link_evolve")) as memory:
        rebuilt = await memory.rebuild()
        assert [(left.note_id, left.why) for left in rebuilt.left] == [(old[1], MOVED)]
        assert (await memory.get(old[0])).context == "Mine."
        assert [link.source for link in (await memory.stale()).links] == [old[1]]
        assert await sound(memory)


async def test_a_limit_takes_the_first_notes(old, reopened, tmp_path):
    async with reopened(**reworded(tmp_path / "p", "note")) as memory:
        assert (await memory.rebuild(limit=2)).built == tuple(old[:2])
        assert [note.id for note in (await memory.stale()).notes] == old[2:]
        with pytest.raises(InputError, match="limit is -1"):
            await memory.rebuild(limit=-1)


async def test_a_dry_run_says_what_would_be_made_anew_and_asks_nobody(old, reopened, tmp_path):
    llm = model()
    async with reopened(llm, **reworded(tmp_path / "p", "note", "link_evolve")) as memory:
        rebuilt = await memory.rebuild(dry_run=True)
        assert (rebuilt.built, rebuilt.woven, rebuilt.dry_run) == (tuple(old), tuple(old[1:]), True)
        assert llm.calls == []
        assert len(await memory.stale()) == 13


async def test_without_a_model_nothing_is_rebuilt(old, open_memory, tmp_path):
    async with open_memory(None, **SETTINGS, **reworded(tmp_path / "p", "note")) as memory:
        with pytest.raises(InputError, match="no model is set"):
            await memory.rebuild()
        assert len((await memory.stale()).notes) == 4


async def test_progress_tells_of_builds_and_then_of_links(old, reopened, tmp_path):
    steps = []
    async with reopened(window=2, **reworded(tmp_path / "p", "note", "link_evolve")) as memory:
        await memory.rebuild(progress=steps.append)
    assert [(step.done, step.total) for step in steps] == [(2, 4), (4, 4), (1, 3), (2, 3), (3, 3)]


async def test_notes_that_were_linked_in_one_window_are_linked_anew_in_one(reopened, tmp_path):
    async with reopened(window=2) as memory:
        ids = [result.id for result in await memory.add_many(TEXTS)]
    llm = model()
    async with reopened(llm, **reworded(tmp_path / "p", "link_evolve")) as memory:
        assert (await memory.rebuild()).woven == tuple(ids[1:])
        assert [len(call.variables["notes"]) for call in llm.calls_of("link_evolve")] == [1, 2]


async def test_p6_what_was_rebuilt_forgets_as_if_it_had_been_made_so_at_once(reopened, tmp_path):
    async with reopened() as memory:
        ids = await fill(memory)
    async with reopened(**reworded(tmp_path / "p", "note")) as memory:
        await memory.rebuild()
        await memory.delete(ids[1])
        assert "Old of 1" not in str([await memory.history(note_id) for note_id in (ids[0], *ids[2:])])
        assert "Old-1" not in (await memory.get(ids[0])).keywords
        assert await sound(memory)
