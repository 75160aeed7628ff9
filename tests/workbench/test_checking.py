from __future__ import annotations

import datetime as dt
import json

import pytest
from support import builds

from amem.errors import PromptFormat
from amem.llm.recording_file import read_recording, write_recording
from amem.testing import RecordedLLM, ScriptedLLM
from amem.workbench.checking import check
from amem.workbench.trials import try_request
from amem.workbench.versioning import draft, release


def found(shop):
    return check([shop.recordings], shop.prompts).findings


def edited(path, **fields):
    document = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({**document, **fields}), "utf-8")


def test_templates_and_recordings_that_agree_are_in_order(shop):
    checked = check([shop.recordings], shop.prompts)
    assert checked.findings == ()
    assert checked.recordings == 4
    assert checked.templates == len(shop.set().names())


def test_a_changed_word_makes_every_recording_of_that_prompt_stale(shop):
    shop.reword("note", "JSON only", "JSON alone")
    findings = found(shop)
    assert {finding.kind for finding in findings} == {"stale"}
    assert [finding.path for finding in findings] == [f"v1/note/{path.name}" for path in shop.files("note")]
    assert any(line.startswith("-") and "JSON only" in line for line in findings[0].diff)
    assert any(line.startswith("+") and "JSON alone" in line for line in findings[0].diff)


def test_the_remedy_is_a_command_with_prompt_version_folders_and_model(shop):
    shop.reword("note", "JSON only", "JSON alone")
    fix = found(shop)[0].fix
    assert fix.startswith("amem prompts record note --version v1 ")
    assert f"--recordings {shop.recordings}" in fix
    assert f"--prompts {shop.prompts}" in fix
    assert fix.endswith("--llm openai/local")


def test_recordings_of_the_demo_are_made_again_by_the_demo(shop):
    (shop.recordings.parent / "vectors.npz").write_bytes(b"")
    shop.reword("note", "JSON only", "JSON alone")
    assert found(shop)[0].fix == f"amem demo --record {shop.recordings.parent} --llm openai/local"


def test_a_word_changed_where_no_case_shows_it_only_asks_for_a_new_stamp(shop):
    shop.reword("note", "{% block user %}", "{% block user %}{# a remark #}")
    findings = found(shop)
    assert {finding.kind for finding in findings} == {"stamp"}
    assert "--llm" not in findings[0].fix


@pytest.mark.parametrize("old", ["temperature = 0.0", 'output = "NoteReply"'])
def test_changed_parameters_and_schemas_are_stale_as_well(shop, old):
    shop.reword("note", old, {"t": "temperature = 0.5", "o": 'output = "LinkReply"'}[old[0]])
    assert {finding.kind for finding in found(shop)} >= {"stale"}


def test_a_template_that_does_not_parse_is_named_with_its_line(shop):
    shop.reword("note", "{% endblock %}", "{% endblok %}")
    finding = next(finding for finding in found(shop) if finding.kind == "template")
    assert finding.prompt == "note@v1"
    assert "note.j2:" in finding.problem


def test_a_released_version_whose_file_changed_is_named(shop):
    release(shop.prompts, "v1", dt.date(2027, 1, 31))
    assert found(shop) == ()
    shop.reword("link", "JSON only", "JSON alone")
    (finding,) = found(shop)
    assert (finding.kind, finding.prompt) == ("lock", "link@v1")


def test_a_version_without_an_entry_in_the_changelog_is_named(shop):
    draft(shop.prompts, "v2", "v1")
    assert found(shop) == ()
    log = shop.prompts / "CHANGELOG.md"
    log.write_text(log.read_text("utf-8").replace("## v2 (draft)", "## something"), "utf-8")
    (finding,) = found(shop)
    assert (finding.kind, finding.prompt) == ("changelog", "*@v2")


def test_a_recording_without_its_prompt_is_an_orphan(shop):
    shop.template("link_evolve").unlink()
    (finding,) = found(shop)
    assert (finding.kind, finding.prompt) == ("orphaned", "link_evolve@v1")


def test_a_recording_of_a_version_that_is_gone_is_an_orphan(shop):
    path = shop.files("note")[0]
    edited(path, version="v7")
    (finding,) = found(shop)
    assert (finding.kind, finding.prompt) == ("orphaned", "note@v7")


def test_a_request_edited_by_hand_is_found(shop):
    path = shop.files("note")[0]
    edited(path, params={"temperature": 0.9})
    (finding,) = found(shop)
    assert (finding.kind, finding.path) == ("edited", f"v1/note/{path.name}")


def test_a_file_that_is_no_recording_is_found(shop):
    path = shop.files("note")[0]
    path.write_text("{", "utf-8")
    assert [finding.kind for finding in found(shop)] == ["edited"]


def test_a_secret_is_found(shop):
    path = shop.files("note")[0]
    recording = read_recording(path)
    told = recording.reply.model_copy(
        update={"text": recording.reply.text.replace("context", "sk-abcdefgh12345678", 1)}
    )
    write_recording(recording.model_copy(update={"reply": told, "bad": True}), path)
    (finding,) = found(shop)
    assert finding.kind == "secret"
    assert "sk-abc" not in finding.problem


def test_a_reply_of_no_use_is_found_unless_it_is_said_to_be_bad(shop):
    path = shop.files("note")[0]
    recording = read_recording(path)
    useless = recording.reply.model_copy(update={"text": '{"notes": "none"}'})
    write_recording(recording.model_copy(update={"reply": useless}), path)
    (finding,) = found(shop)
    assert finding.kind == "reply"
    write_recording(recording.model_copy(update={"reply": useless, "bad": True}), path)
    assert found(shop) == ()


async def test_what_was_asked_again_is_checked_as_the_second_request_it_is(shop):
    real = ScriptedLLM({"note": ["no JSON", builds]}, model="other")
    llm = RecordedLLM(shop.recordings, real=real, mode="new")
    await try_request(shop.cases("note")[0].request(shop.set()), shop.set(), llm)
    assert [finding.kind for finding in found(shop)] == ["reply"]


def test_a_recording_of_an_overriding_template_is_held_against_it(shop, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "note.j2").write_bytes(shop.template("note").read_bytes())
    path = shop.files("note")[0]
    edited(path, version="override")
    assert [finding.kind for finding in found(shop)] == ["orphaned"]
    assert check([shop.recordings], shop.prompts, tmp_path / "mine").findings == ()


def test_a_list_of_versions_that_cannot_be_read_is_an_error(shop):
    (shop.prompts / "versions.toml").write_text("default =", "utf-8")
    with pytest.raises(PromptFormat):
        check([shop.recordings], shop.prompts)


def test_the_shipped_prompts_and_recordings_are_in_order():
    from amem.interfaces.cli.shipped import DEMO

    findings = check([DEMO / "recordings"]).findings
    assert findings == (), f"{findings[0].problem}\nfix: {findings[0].fix}"
