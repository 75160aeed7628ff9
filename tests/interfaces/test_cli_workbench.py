from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import TypeAdapter
from workbench_support import open_shop

from amem.llm.recording_file import read_recording
from amem.testing.fault_server import FaultServer, fails, says
from amem.workbench.checking import Checked
from amem.workbench.comparing import Report
from amem.workbench.differing import Difference
from amem.workbench.recorder import Step
from amem.workbench.trials import Trial
from amem.workbench.versioning import Drafted, Released

VARIABLES = {
    "earlier": [],
    "turns": [{"number": 0, "date": "2024-02-03", "speaker": "Ana", "text": "I sold the boat."}],
}


@pytest.fixture
def shop(tmp_path):
    return open_shop(tmp_path, notes=2)


@pytest.fixture
def prompts(amem, shop):
    """Run `amem prompts VERB …` in the copy of the prompts and with its recordings."""

    def run(verb, *args, stdin=None):
        options = shop.options()[:2] if verb in {"new", "release"} else shop.options()
        return amem("prompts", verb, *args, *options, stdin=stdin)

    return run


def built(seen):
    """Answer a request for notes as a provider would, from what it shows."""
    turns = seen.body["messages"][-1]["content"].count("<turn number=")
    note = {"keywords": ["kw"], "tags": ["tag"], "context": "A plain context."}
    return says(json.dumps({"notes": [{"turn": turn, **note} for turn in range(turns)]}))


@pytest.fixture
def server():
    with FaultServer(default=built) as running:
        yield running


@pytest.fixture
def live(server, monkeypatch):
    """Options that ask the server, through the real litellm."""
    monkeypatch.setenv("AMEM_API_KEY", "none")
    return ["--llm", "openai/local", "--api-base", server.url]


def reworded(shop, prompts):
    """A version v2 whose `note` asks in other words."""
    assert prompts("new", "v2").exit_code == 0
    shop.reword("note", "JSON only", "one JSON object", "v2")


def first(shop):
    return shop.cases("note")[0]


# run


def test_run_shows_messages_reply_fields_and_cost_of_a_recorded_case(prompts, shop):
    result = prompts("run", "note", "--case", first(shop).id[:6])
    assert result.exit_code == 0
    for part in ("--- system", "--- user", "--- reply", "--- understood as"):
        assert part in result.stdout
    assert "tokens asked" in result.stderr
    assert " s, price unknown" in result.stderr


def test_run_as_json_is_a_trial(prompts, shop):
    (path,) = [path for path in shop.files("note") if first(shop).id in path.name]
    found = Trial.model_validate_json(prompts("run", "note", "--recording", path, "--json").stdout)
    assert found.usable
    assert found.replies == (read_recording(path).reply,)


def test_run_takes_variables_from_standard_input_and_single_ones_over_them(prompts, server, live):
    result = prompts("run", "note", "--vars", "-", "--var", "earlier=[]", "--json", *live, stdin=json.dumps(VARIABLES))
    assert result.exit_code == 0
    assert Trial.model_validate_json(result.stdout).value["notes"][0]["keywords"] == ["kw"]
    assert len(server.requests) == 1


def test_run_saves_nothing(prompts, shop, live):
    before = sorted(shop.recordings.rglob("*"))
    assert prompts("run", "note", "--case", first(shop).id, *live).exit_code == 0
    assert sorted(shop.recordings.rglob("*")) == before


def test_run_of_what_is_not_recorded_fails_as_a_model_would(prompts):
    result = prompts("run", "note", "--vars", "-", stdin=json.dumps(VARIABLES))
    assert result.exit_code == 4
    assert "NO recording" in result.stderr


def test_run_without_a_case_says_how_to_name_one(prompts, shop):
    result = prompts("run", "note")
    assert result.exit_code == 2
    assert f"`--case {first(shop).id[:6]}`" in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    "options",
    [
        ["--vars", "none.json"],
        ["--vars", "-"],
        ["--case", "0000"],
        ["--recording", "none.json"],
        ["--case", "0000", "--vars", "-"],
        [],
    ],
)
def test_run_without_one_good_source_is_a_usage_error(prompts, options):
    assert prompts("run", "note", *options, stdin="[1]").exit_code == 2


# record


def test_record_asks_a_real_server_for_what_is_missing_and_goes_on_after_an_outage(prompts, shop, server, live):
    reworded(shop, prompts)
    server.plan(built(_seen(2)), *[fails(503, retry_after=0)] * 2)
    once = ["--set", "retries=0", "--set", "concurrency=1"]
    stopped = prompts("record", "note", "--version", "v2", *once, *live)
    assert stopped.exit_code == 4
    assert "recorded" in stopped.stdout
    assert "left" in stopped.stdout
    assert len(shop.files("note", "v2")) == 1
    again = prompts("record", "note", "--version", "v2", "--json", *live)
    assert again.exit_code == 0
    steps = TypeAdapter(list[Step]).validate_json(again.stdout)
    assert sorted(step.state for step in steps) == ["kept", "recorded"]
    assert len(shop.files("note", "v2")) == 2
    assert prompts("check").exit_code == 0


def _seen(turns):
    from amem.testing.fault_server import Seen

    return Seen("", {}, {"messages": [{"role": "user", "content": "<turn number=" * turns}]})


def test_record_within_a_budget_leaves_the_rest(prompts, shop, live):
    reworded(shop, prompts)
    result = prompts("record", "note", "--version", "v2", "--budget-calls", "1", *live)
    assert result.exit_code == 1
    assert "1 left" in result.stderr


def test_record_without_a_model_says_what_is_missing(prompts, shop):
    reworded(shop, prompts)
    result = prompts("record", "note", "--version", "v2")
    assert result.exit_code == 1
    assert "--llm" in result.stderr


def test_record_without_a_model_renews_stamps(prompts, shop):
    shop.reword("note", "{% block user %}", "{% block user %}{# a remark #}")
    assert prompts("check").exit_code == 1
    result = prompts("record", "note")
    assert result.exit_code == 0
    assert "the present hash" in result.stderr
    assert prompts("check").exit_code == 0


def test_recordings_of_the_demo_are_never_written_over_by_accident(amem, live):
    result = amem("prompts", "record", "note", *live)
    assert result.exit_code == 2
    assert "--into" in result.stderr


def test_record_into_another_folder_leaves_the_cases_alone(prompts, shop, tmp_path, live):
    reworded(shop, prompts)
    assert prompts("record", "note", "--version", "v2", "--into", tmp_path / "new", *live).exit_code == 0
    assert shop.files("note", "v2") == []
    assert len(list((tmp_path / "new" / "v2" / "note").glob("*.json"))) == 2
    compared = prompts("compare", "v1", "v2", "--into", tmp_path / "new", "--json")
    assert Report.model_validate_json(compared.stdout).total.answered == 2


# diff


def test_diff_shows_what_both_ask_and_tells_scripts_that_they_differ(prompts, shop):
    reworded(shop, prompts)
    result = prompts("diff", "v1", "v2")
    assert result.exit_code == 1
    assert "-Reply with JSON only" in result.stdout
    assert "+Reply with one JSON object" in result.stdout
    assert "no reply is recorded for v2" in result.stdout
    assert "--all" in result.stderr


def test_diff_of_equal_versions_is_silent_success(prompts):
    prompts("new", "v2")
    result = prompts("diff", "note", "v1", "v2", "--all", "--json")
    assert result.exit_code == 0
    found = TypeAdapter(list[Difference]).validate_json(result.stdout)
    assert len(found) == 2
    assert not any(one.asked or one.replied for one in found)


def test_diff_of_templates_compares_the_files(prompts, shop):
    reworded(shop, prompts)
    shop.reword("note", "First version.", "Clearer.", "v2")
    assert '+changes = "Clearer."' in prompts("diff", "note", "v1", "v2", "--source").stdout


def test_diff_takes_a_folder_somebody_is_working_on(prompts, shop, tmp_path):
    (tmp_path / "mine").mkdir()
    text = shop.template("note").read_text("utf-8")
    (tmp_path / "mine" / "note.j2").write_text(text.replace("JSON only", "JSON alone"), "utf-8")
    assert "+Reply with JSON alone" in prompts("diff", "v1", tmp_path / "mine").stdout


# compare


def test_compare_works_offline_and_says_what_is_missing(prompts, shop):
    reworded(shop, prompts)
    result = prompts("compare", "v1", "v2")
    assert result.exit_code == 1
    assert "2 replies missing (0 of v1, 2 of v2)" in result.stderr
    assert "0 of 2 answered by both" in result.stdout


def test_compare_records_what_is_missing_and_writes_a_page(prompts, shop, live):
    reworded(shop, prompts)
    result = prompts("compare", "v1", "v2", "--html", "out/page.html", *live)
    assert result.exit_code == 0
    assert "usable replies" in result.stdout
    assert "2 of 2" in result.stdout
    assert Path("out/page.html").read_text("utf-8").startswith("<!DOCTYPE html>")
    found = Report.model_validate_json(prompts("compare", "note", "v1", "v2", "--json").stdout)
    assert (found.total.answered, found.a, found.b, found.model) == (2, "v1", "v2", "openai/local")


def test_compare_needs_two_versions_that_exist(prompts):
    assert prompts("compare", "v1").exit_code == 2
    assert prompts("compare", "v1", "v9").exit_code == 2
    assert prompts("compare", "nope", "v1", "v1").exit_code == 2


# check, new, release


def test_check_names_recordings_and_the_command_that_mends_them(prompts, shop):
    assert prompts("check").exit_code == 0
    shop.reword("note", "JSON only", "JSON alone")
    result = prompts("check")
    assert result.exit_code == 1
    for path in shop.files("note"):
        assert path.name in result.stdout
    assert "fix: amem prompts record note --version v1" in result.stdout
    assert "-Reply with JSON only" in result.stdout
    found = Checked.model_validate_json(prompts("check", "--json").stdout)
    assert len(found.findings) == 2


def test_the_command_that_check_names_mends_it(prompts, shop, amem, live):
    shop.reword("note", "JSON only", "JSON alone")
    fix = Checked.model_validate_json(prompts("check", "--json").stdout).findings[0].fix
    words = fix.split()[1:]
    assert amem(*words, *live[2:]).exit_code == 0
    assert prompts("check").exit_code == 0


def test_new_and_release_change_the_list_of_versions(amem, shop):
    where = ["--prompts", str(shop.prompts)]
    made = amem("prompts", "new", "v2", "--from", "v1", *where, "--json")
    assert Drafted.model_validate_json(made.stdout).version == "v2"
    done = amem("prompts", "release", "v1", "--date", "2027-01-31", *where, "--json")
    assert Released.model_validate_json(done.stdout).date == "2027-01-31"
    assert "version v1: released 2027-01-31" in amem("prompts", "list", *where).stderr
    assert amem("prompts", "release", "v1", *where).exit_code == 2
    assert amem("prompts", "release", "v2", "--date", "tomorrow", *where).exit_code == 2


def test_new_in_a_folder_of_one_s_own_copies_the_shipped_prompts(amem, tmp_path):
    assert amem("prompts", "new", "mine", "--prompts", "own").exit_code == 0
    assert (tmp_path / "own" / "mine" / "note.j2").is_file()
    assert (
        amem("prompts", "render", "note", "--prompts", "own", "--version", "mine", "--var", "earlier=[]").exit_code == 2
    )
    assert amem("prompts", "list", "--prompts", "own", "--version", "mine").stdout.count("@mine+") > 3
