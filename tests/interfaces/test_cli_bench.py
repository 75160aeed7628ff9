from __future__ import annotations

import json

import pytest
from locomo_support import write_mini


@pytest.fixture
def mini(tmp_path):
    return write_mini(tmp_path)


def test_bench_recall_prints_a_row_for_recall_and_each_baseline(amem, mini):
    result = amem("bench", "recall", "--data", mini)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    for name in ("amem", "BM25", "dense", "RRF, k = 60", "RRF, k = 10", "min-max sum", "4 single-hop", "conv-26"):
        assert any(line.startswith(f"{name} ") for line in lines), name
    assert all(len(line) <= 80 for line in lines if line.startswith(("amem", "BM25", "category")))
    assert "not the official file" in result.stderr


def test_bench_recall_prints_json_with_a_part_for_each_set(amem, mini):
    result = amem("bench", "recall", "--data", mini, "--set", "all", "--json")
    found = json.loads(result.stdout)
    assert set(found) == {"about", "tuning", "reporting", "all"}
    assert found["all"]["baselines"]["rrf_10"]["recall_at_10"] <= 1
    assert "write down" in result.stderr


def test_set_behind_the_verb_is_the_benchmarks_and_before_it_amems(amem, mini):
    found = json.loads(
        amem("--set", "embedding=hash", "bench", "recall", "--data", mini, "--set=tuning", "--json").stdout
    )
    assert found["about"]["embedding"].startswith("hash")
    assert amem("--set", "tuning", "bench", "recall", "--data", mini).exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "everything"], "'tuning', 'reporting' or 'all'"),
        (["--index", "faiss"], "'exact' or 'chroma'"),
        (["--everything", "--candidates", "5"], "not both"),
        (["--now", "soon"], "'soon' is not an ISO 8601 date"),
        (["--ablate", "cover,colour"], "no feature colour"),
        (["--memory", "nowhere"], "no memory in nowhere"),
        (["--memory", "notes", "--keep", "kept"], "--keep"),
    ],
)
def test_what_cannot_be_measured_is_a_usage_error(amem, mini, arguments, message):
    result = amem("bench", "recall", "--data", mini, *arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_an_imported_conversation_is_measured_where_it_is(amem, mini):
    amem("import", mini, "--conversation", "conv-26", "--box", "talk")
    result = amem("bench", "recall", "--data", mini, "--memory", "notes", "--box", "talk", "--json")
    found = json.loads(result.stdout)
    assert found["about"]["notes"] == "7 notes of the box talk"
    assert found["tuning"]["questions"] == 4


def test_the_users_own_memory_is_left_alone(amem, mini, tmp_path):
    amem("bench", "recall", "--data", mini)
    assert not (tmp_path / "notes").exists()


def test_bench_selftest_names_each_deviation_and_exits_with_1(amem, mini):
    result = amem("bench", "selftest", "--locomo", mini)
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0].startswith("SHA-256 of the file: expected 79fa87e90f04")
    assert any(line.startswith("always refuses: official score, categories all: expected 0.233") for line in lines)
    assert lines[-1].endswith(f"values checked, {len(lines) - 1} of them deviating")


def test_bench_selftest_prints_json(amem, mini):
    found = json.loads(amem("bench", "selftest", "--locomo", mini, "--json").stdout)
    assert set(found) == {"data_sha256", "checked", "deviations", "left_out", "versions"}
    assert found["deviations"][0]["name"] == "SHA-256 of the file"


def test_bench_selftest_takes_more_golden_values(amem, mini, tmp_path):
    case = {"true": "(A)", "answer": "(B)", "judge_result": "Correct"}
    (tmp_path / "more.json").write_text(json.dumps({"judge": [case]}))
    result = amem("bench", "selftest", "--locomo", mini, "--golden", tmp_path / "more.json")
    assert "DialSim answer 0: strict: expected correct, found wrong" in result.stdout
    assert amem("bench", "selftest", "--locomo", mini, "--golden", tmp_path / "none.json").exit_code == 2
