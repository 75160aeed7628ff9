from __future__ import annotations

import json

import pytest
from benchmarks_support import BASELINES, RAW, model_reader, plays, write_config
from locomo_support import write_mini

from amem.testing.fault_server import FaultServer, fails


@pytest.fixture
def path(tmp_path):
    write_mini(tmp_path)
    return write_config(tmp_path, "mini.json", BASELINES, RAW)


def test_a_run_is_scored_and_reported_with_three_commands(amem, path, tmp_path):
    result = amem("bench", "run", path, "--out", "run")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == "35 answers of 5 systems scored in run"
    assert "not the official file" in result.stderr
    written = amem("bench", "report", "run", "--out", "report").stdout.split()
    assert written == [f"report/{name}" for name in ("report.md", "report.html", "report.json", "scores.jsonl")]
    compared = amem("bench", "compare", "run", "--ours", "bm25").stdout
    assert "bm25 against the others: official" in compared
    assert (tmp_path / "run" / "manifest.json").is_file()


def test_results_are_json_where_that_is_asked_for(amem, path):
    scores = json.loads(amem("bench", "run", path, "--out", "run", "--json").stdout)
    assert {one["system"] for one in scores} == {"none", "full_context", "bm25", "dense", "amem_raw"}
    assert json.loads(amem("bench", "score", "run", "--json").stdout) == scores
    report = json.loads(amem("bench", "report", "run", "--json").stdout)
    assert report["main"] == "official"
    assert json.loads(amem("bench", "compare", "run", "--json").stdout)["ours"] == "amem_raw"


def test_a_run_has_a_folder_of_its_own_where_none_is_named(amem, path, tmp_path):
    amem("bench", "run", path)
    (folder,) = (tmp_path / "bench-runs").iterdir()
    assert folder.name.startswith("config-")


def test_a_model_that_cannot_be_had_leaves_a_run_that_goes_on(amem, path, tmp_path):
    with FaultServer(default=fails(401, "no such key")) as server:
        write_config(tmp_path, "mini.json", RAW, reader=model_reader(server.url))
        result = amem("bench", "run", path, "--out", "run")
        assert result.exit_code == 4
        assert "everything that was done is kept in run; the same command goes on from there" in result.stderr
        assert "there is no answer in run yet" in amem("bench", "score", "run").stderr
        server.default = plays
        assert amem("bench", "run", path, "--out", "run").exit_code == 0


def test_what_would_fail_at_the_end_is_refused_at_the_beginning(amem, path, tmp_path):
    (tmp_path / "disputed.json").write_text(json.dumps({"items": [{"sample_id": "conv-26"}]}))
    write_config(tmp_path, "mini.json", RAW, wanted='disputed = "disputed.json"')
    result = amem("bench", "run", path, "--out", "run")
    assert result.exit_code == 2
    assert "items[0]" in result.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "none.toml"], "none.toml cannot be read"),
        (["run", "config.toml", "--compat", "memgpt"], "compat"),
        (["run", "config.toml", "--replay", "nowhere"], "no recorded calls in nowhere"),
        (["score", "nowhere"], "no run in nowhere"),
        (["report", "nowhere"], "no run in nowhere"),
        (["judge", "nowhere", "--manner", "kind"], "strict, lenient or both"),
        (["judge", "nowhere"], "a judge needs a model"),
    ],
)
def test_what_cannot_be_done_is_a_usage_error(amem, path, arguments, message):
    result = amem("bench", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
