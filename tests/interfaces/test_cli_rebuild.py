from __future__ import annotations

import asyncio
import json
import re

import pytest
from rebuild_support import TEXTS, fill, model, reworded

from amem.ingest.rebuilt import Rebuilt
from amem.memory import AsyncMemory
from amem.store.stale import Stale
from amem.testing import ScriptedLLM
from amem.testing.fault_server import FaultServer, says


@pytest.fixture
def served(tmp_path, monkeypatch):
    """A memory that an older wording made, in ./notes, and a model server for the present one."""

    async def filled():
        async with AsyncMemory.open(tmp_path / "notes", llm=model(), similarity_floor=-1.0) as memory:
            return await fill(memory)

    ids = asyncio.run(filled())
    monkeypatch.setenv("AMEM_PROMPTS_OVERRIDES", reworded(tmp_path / "p", "note")["prompts_overrides"])
    notes = [{"turn": turn, "keywords": ["Nova"], "tags": [], "context": f"Nova: {TEXTS[turn]}"} for turn in range(4)]
    with FaultServer(default=says(json.dumps({"notes": notes}))) as server:
        monkeypatch.setenv("AMEM_LLM", "openai/served")
        monkeypatch.setenv("AMEM_API_BASE", server.url)
        monkeypatch.setenv("AMEM_API_KEY", "none")
        yield ids


def test_stale_counts_what_older_wordings_made_by_wording_and_model(amem, served):
    result = amem("stale")
    assert result.exit_code == 0
    assert re.search(r"^ +4  note@v1\+\w{8}  scripted$", result.stdout, re.MULTILINE)
    assert "stale: 4 notes, 0 links, 0 changes" in result.stdout
    assert "amem rebuild --stale" in result.stderr


def test_stale_as_json_is_a_stale(amem, served):
    found = Stale.model_validate_json(amem("stale", "--prompt", "note", "--json").stdout)
    assert [note.id for note in found.notes] == served


def test_a_dry_run_needs_no_model_and_changes_nothing(amem, served, monkeypatch):
    monkeypatch.delenv("AMEM_LLM")
    assert "would build 4 notes anew, and link 0 notes anew" in amem("rebuild", "--stale", "--dry-run").stdout
    assert amem("rebuild", "--stale").exit_code == 2
    assert "stale: 4 notes" in amem("stale").stdout


def test_a_rebuild_is_done_and_says_how_it_is_taken_back(amem, served):
    result = amem("rebuild", "--stale")
    assert result.exit_code == 0, result.stderr
    assert "4 notes built anew, 0 notes linked anew: 0 new links" in result.stdout
    assert "stale: 0 notes" in amem("stale").stdout
    numbers = re.search(r"amem undo ([\d -]+)", result.stdout)[1].split()
    assert amem("undo", *numbers).exit_code == 0
    assert "stale: 4 notes" in amem("stale").stdout


def test_a_rebuild_that_a_budget_stops_says_what_is_left(amem, served):
    result = amem("rebuild", "--stale", "--budget-calls", "0", "--json")
    assert result.exit_code == 1
    assert [left.note_id for left in Rebuilt.model_validate_json(result.stdout).left] == served
    assert "left as they were: 4 notes; the same command goes on" in result.stderr


@pytest.mark.parametrize("number", ["x", "3-", "-3", "3-x", "²"])
def test_undo_refuses_what_is_no_number_of_a_revision(amem, served, number):
    result = amem("undo", "--", number)
    assert result.exit_code == 2
    assert "not the number of a revision" in result.stderr


def test_memories_are_counted_made_anew_and_those_that_stay_are_said_with_the_reason(amem, tmp_path, monkeypatch):
    turn = "I moved to Busan, and swim in the sea each morning."

    def told(text):
        note = {"turns": [0], "text": text, "keywords": ["Busan"], "tags": []}
        kept = {"turns": [0], "text": "Ana swims in the sea each morning.", "keywords": [], "tags": []}
        return {"notes": [note, kept], "facts": [], "episodes": []}

    async def filled():
        llm = ScriptedLLM({"distill": told("Ana moved to Busan.")})
        async with AsyncMemory.open(tmp_path / "notes", llm=llm, strategy="atomic") as memory:
            made = (await memory.add(turn, speaker="Ana")).distilled
            await memory.update(made[1], tags=["mine"])

    asyncio.run(filled())
    monkeypatch.setenv("AMEM_PROMPTS_OVERRIDES", reworded(tmp_path / "p", "distill")["prompts_overrides"])
    assert "stale: 0 notes, 0 links, 0 changes, 2 memories" in amem("stale").stdout
    dry = amem("rebuild", "--stale", "--dry-run")
    assert "would distil or sum up 1 memory anew" in dry.stdout
    assert "staying as made before: 1 memory (you pinned or changed it by hand)" in dry.stderr
    with FaultServer(default=says(json.dumps(told("Ana moved to Busan, to the sea.")))) as server:
        monkeypatch.setenv("AMEM_LLM", "openai/served")
        monkeypatch.setenv("AMEM_API_BASE", server.url)
        monkeypatch.setenv("AMEM_API_KEY", "none")
        done = amem("rebuild", "--stale")
    assert done.exit_code == 0, done.stderr
    assert "1 memory distilled or summed up anew: 1 new one" in done.stdout
    assert "stale: 0 notes, 0 links, 0 changes, 1 memory" in amem("stale").stdout
