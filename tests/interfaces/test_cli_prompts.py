from __future__ import annotations

import json

from pydantic import TypeAdapter
from support import builds

from amem.llm.protocol import Request
from amem.prompts import Prompt, PromptSet
from amem.testing import RecordedLLM, ScriptedLLM

NOTE = ["prompts", "render", "note", "--var", "earlier=[]"]
TURNS = [{"number": 0, "date": "2024-02-03", "speaker": "Ana", "text": "I sold the {{ boat }}"}]


def test_list_names_every_prompt_with_its_hash(amem):
    text = amem("prompts", "list").stdout
    for name in PromptSet().names():
        assert PromptSet().get(name).ref.label in text


def test_list_as_json_is_a_list_of_prompts(amem):
    found = TypeAdapter(list[Prompt]).validate_json(amem("prompts", "list", "--json").stdout)
    assert [prompt.name for prompt in found] == list(PromptSet().names())


def test_render_shows_the_messages_that_a_model_would_get(amem):
    text = amem(*NOTE, "--var", f"turns={json.dumps(TURNS)}").stdout
    assert "--- system" in text
    assert "I sold the {{ boat }}" in text


def test_render_as_json_is_the_request(amem):
    rendered = Request.model_validate_json(amem(*NOTE, "--var", f"turns={json.dumps(TURNS)}", "--json").stdout)
    assert rendered == PromptSet().render("note", {"earlier": [], "turns": TURNS})


def test_a_variable_can_be_read_from_a_file(amem, tmp_path):
    (tmp_path / "turns.json").write_text(json.dumps(TURNS))
    assert "I sold the {{ boat }}" in amem(*NOTE, "--var", "turns=@turns.json").stdout
    assert amem(*NOTE, "--var", "turns=@none.json").exit_code == 2


def test_a_missing_variable_is_named(amem):
    result = amem(*NOTE)
    assert result.exit_code == 2
    assert "missing turns" in result.stderr


def test_an_unknown_prompt_or_version_is_a_usage_error(amem):
    assert amem("prompts", "render", "nope").exit_code == 2
    assert amem("prompts", "list", "--version", "v99").exit_code == 2


async def test_variables_can_be_taken_from_a_recording(amem, tmp_path):
    llm = RecordedLLM(tmp_path / "recordings", real=ScriptedLLM({"note": builds}), mode="new")
    await llm.complete(PromptSet().render("note", {"earlier": [], "turns": TURNS}))
    case = llm.new[0].stem.rsplit("-", 1)[1]
    line = ["prompts", "render", "note", "--recordings", "recordings", "--case"]
    assert "I sold the {{ boat }}" in amem(*line, case[:6]).stdout
    assert amem(*line, "ffffff" if case[:6] != "ffffff" else "000000").exit_code == 2
