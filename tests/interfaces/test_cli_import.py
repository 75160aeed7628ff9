from __future__ import annotations

import json

import pytest
from support import NOTHING, builds, fields

from amem.errors import ModelUnavailable
from amem.intake import NewNote
from amem.interfaces.cli.importing import bring_in
from amem.testing import FaultyLLM, ScriptedLLM

CHAT = "# 2024-02-03\nAna: I sold the boat.\nBen: Why?\n  You loved it.\n# 2024-02-05\nAna: The harbour closed.\n"
MINI = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Ben",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ana", "dia_id": "D1:1", "text": "Look!", "img_url": ["x"], "blip_caption": "a red boat",
                 "query": "boat for sale"},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "Nice."},
            ],
            "session_2_date_time": "9:00 am on 9 May, 2023",
            "session_2": [{"speaker": "Ana", "dia_id": "D2:1", "text": "Sold it."}],
        },
        "qa": [],
    }
]  # fmt: skip


def contents(amem):
    return [note["content"] for note in json.loads(amem("list", "--json").stdout)["notes"]]


def test_importing_again_neither_doubles_nor_loses_anything(amem, tmp_path):
    (tmp_path / "chat.txt").write_text(CHAT)
    first = amem("import", "chat.txt")
    assert first.exit_code == 0
    assert "3 messages: 3 new, 0 known already" in first.stdout
    (tmp_path / "chat.txt").write_text(f"{CHAT}Ben: So sad.\n")
    assert "4 messages: 1 new, 3 known already" in amem("import", "chat.txt").stdout
    assert contents(amem) == ["I sold the boat.", "Why?\nYou loved it.", "The harbour closed.", "So sad."]


def test_a_bad_line_stores_nothing(amem, tmp_path):
    (tmp_path / "chat.jsonl").write_text('{"text": "good"}\nbad\n')
    result = amem("import", "chat.jsonl")
    assert result.exit_code == 2
    assert "chat.jsonl:2: not a line of JSON" in result.stderr
    assert not (tmp_path / "notes").exists()


def test_skip_bad_stores_the_rest_and_lists_what_was_left_out(amem, tmp_path):
    (tmp_path / "chat.jsonl").write_text('{"text": "good"}\nbad\n')
    result = amem("import", "chat.jsonl", "--skip-bad")
    assert result.exit_code == 0
    assert "left out: chat.jsonl:2" in result.stderr
    assert contents(amem) == ["good"]


def test_an_id_that_the_box_knows_with_another_text_is_reported(amem, tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "one", "id": 1}\n')
    (tmp_path / "b.jsonl").write_text('{"text": "another", "id": 1}\n')
    amem("import", "a.jsonl")
    result = amem("import", "b.jsonl")
    assert result.exit_code == 1
    assert "not stored: 1 message" in result.stderr
    assert amem("import", "b.jsonl", "--box", "b").exit_code == 0


def test_json_tells_what_became_of_each_message(amem, tmp_path):
    (tmp_path / "chat.txt").write_text(CHAT)
    results = json.loads(amem("import", "chat.txt", "--json").stdout)
    assert [result["is_new"] for result in results] == [True, True, True]


def test_a_locomo_conversation_is_imported_by_session_with_captions_and_without_queries(amem, tmp_path):
    (tmp_path / "locomo.json").write_text(json.dumps(MINI))
    result = amem("import", "locomo.json", "--sessions", "1")
    assert "not the official file" in result.stderr
    notes = json.loads(amem("list", "--json").stdout)["notes"]
    assert [note["content"] for note in notes] == ["Look! [image: a red boat]", "Nice."]
    assert [note["sources"] for note in notes] == [["conv-1/D1:1"], ["conv-1/D1:2"]]
    assert notes[0]["occurred_at"] == "2023-05-08T13:56:00Z"
    assert "for sale" not in json.dumps(notes)


def test_of_several_locomo_conversations_one_must_be_chosen(amem, tmp_path):
    other = {**MINI[0], "sample_id": "conv-2"}
    (tmp_path / "locomo.json").write_text(json.dumps([*MINI, other]))
    assert "conv-1, conv-2" in amem("import", "locomo.json").stderr
    assert amem("import", "locomo.json", "--conversation", "conv-2").exit_code == 0
    assert amem("import", "locomo.json", "--conversation", "conv-3").exit_code == 2


MESSAGES = [NewNote(content=f"message {i}", session_id="s", source=str(i)) for i in range(4)]


async def test_what_an_outage_left_pending_is_finished_by_the_next_import(open_memory):
    down = FaultyLLM(ScriptedLLM({"note": builds, "link_evolve": NOTHING}), {"note": ModelUnavailable("outage")})
    async with open_memory(down) as memory:
        outcome = await bring_in(memory, MESSAGES)
        assert len(outcome.pending) == 4
    async with open_memory({"note": builds, "link_evolve": NOTHING}) as memory:
        outcome = await bring_in(memory, MESSAGES)
        assert [result.is_new for result in outcome.added] == [False] * 4
        assert [result.status for result in outcome.results] == ["ready"] * 4
        assert outcome.pending == []


async def test_what_is_pending_is_finished_before_newer_messages_are_added(open_memory):
    down = FaultyLLM(ScriptedLLM([]), {"note": ModelUnavailable("outage")})
    async with open_memory(down) as memory:
        await bring_in(memory, MESSAGES[:2])
    llm = ScriptedLLM({"note": builds, "link_evolve": NOTHING})
    async with open_memory(llm) as memory:
        await bring_in(memory, MESSAGES)
    asked = [turn["text"] for call in llm.calls_of("note") for turn in call.variables["turns"]]
    assert asked == [f"message {i}" for i in range(4)]


async def test_progress_counts_messages_and_calls(open_memory):
    steps = []
    async with open_memory({"note": lambda r: fields(len(r.variables["turns"])), "link_evolve": NOTHING}) as memory:
        await bring_in(memory, MESSAGES, steps.append)
    assert (steps[-1].done, steps[-1].total) == (4, 4)
    assert steps[-1].usage.calls >= 1


def answer(_):
    """Play the model: a reply that serves every prompt, since keys that a prompt did not ask for are ignored."""
    from amem.testing.fault_server import says

    return says(json.dumps({**fields(8), **NOTHING}))


@pytest.mark.slow
def test_an_import_with_a_live_model_is_left_pending_by_an_outage_and_resumed(amem, tmp_path):
    from amem.testing.fault_server import FaultServer, fails

    (tmp_path / "chat.txt").write_text(CHAT)
    (tmp_path / "amem.toml").write_text('llm = "openai/local"\nretries = 0\n')
    with FaultServer(default=fails(503)) as server:
        options = ["--api-base", server.url, "--set", "timeout=20"]
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("AMEM_API_KEY", "none")
            down = amem("import", "chat.txt", *options)
            assert down.exit_code == 1
            assert "left pending: 3 notes" in down.stderr
            assert "Traceback" not in down.stderr
            server.default = answer
            up = amem("import", "chat.txt", *options)
    assert up.exit_code == 0
    assert "3 messages: 0 new, 3 known already" in up.stdout
    assert "3 notes worked on: 3 ready" in up.stdout
