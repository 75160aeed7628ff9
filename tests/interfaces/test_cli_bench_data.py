from __future__ import annotations

import json

import pytest
from dialsim_support import FIXTURE, fixture_parts, write_pickles
from locomo_support import write_mini


def test_data_sets_are_listed_with_their_terms(amem):
    result = amem("bench", "data", "list")
    assert result.exit_code == 0
    assert "CC BY-NC 4.0" in result.stdout
    names = [one["name"] for one in json.loads(amem("bench", "data", "list", "--json").stdout)]
    assert names == ["locomo", "dialsim", "longmemeval", "synthetic-locomo, synthetic-dialsim"]


def test_a_check_counts_what_a_data_set_holds(amem, tmp_path):
    result = amem("bench", "data", "check", write_mini(tmp_path))
    assert result.exit_code == 0
    assert "2 conversations: 4 sessions, 14 turns, 74 words" in result.stdout
    assert "multi-hop 1, open-domain 1, single-hop 4, adversarial 1" in result.stdout
    assert "publish ids and scores" in result.stdout
    assert "not the official file" in result.stderr
    found = json.loads(amem("bench", "data", "check", FIXTURE, "--json").stdout)
    assert (found["format"], found["all"]["questions"], list(found["conversations"])) == (
        "dialsim", 9, ["bigbang", "friends", "theoffice"],
    )  # fmt: skip


def test_a_check_of_what_is_broken_names_the_place(amem, tmp_path):
    def broken(data):
        del data[0]["qa"][0]["category"]

    result = amem("bench", "data", "check", write_mini(tmp_path, change=broken))
    assert result.exit_code == 2
    assert "[0].qa[0]: expected an object with the key 'category'" in result.stderr


@pytest.mark.parametrize(("kind", "out"), [("locomo", "synthetic.json"), ("dialsim", "shows")])
def test_generated_data_is_checked_and_named_synthetic(amem, kind, out):
    arguments = ("bench", "data", "generate", kind, "--size", 0.1, "--conversations", 2, "--questions", 9)
    result = amem(*arguments, "--out", out, "--seed", 3)
    assert result.exit_code == 0
    assert result.stdout.startswith(f"synthetic-{kind}, in the format of {kind}")
    assert "is synthetic" in result.stderr
    same, other = (
        json.loads(amem(*arguments, "--out", f"{name}-{out}", "--seed", seed, "--json").stdout)
        for name, seed in (("same", 3), ("other", 4))
    )
    assert same["sha256"] in result.stdout
    assert other["sha256"] not in result.stdout


def test_nothing_is_written_over(amem, tmp_path):
    (tmp_path / "there").write_text("mine")
    for arguments in (("generate", "locomo"), ("plan", FIXTURE), ("convert", FIXTURE)):
        result = amem("bench", "data", *arguments, "--out", "there")
        assert result.exit_code == 2
        assert "exists already" in result.stderr
    assert (tmp_path / "there").read_text() == "mine"


def test_a_place_that_cannot_be_written_to_is_a_usage_error(amem, tmp_path):
    (tmp_path / "file").write_text("")
    for arguments in (("generate", "locomo", "--size", 0.1), ("plan", FIXTURE), ("convert", FIXTURE)):
        result = amem("bench", "data", *arguments, "--out", "file/new")
        assert result.exit_code == 2
        assert "file/new cannot be written" in result.stderr


@pytest.mark.parametrize("option", [("--size", 0), ("--conversations", 0), ("--questions", 0)])
def test_a_shape_that_makes_no_sense_is_a_usage_error_and_writes_nothing(amem, tmp_path, option):
    assert amem("bench", "data", "generate", "dialsim", "--out", "shows", *option).exit_code == 2
    assert not (tmp_path / "shows").exists()


def test_pickles_become_one_json_file_for_which_their_plan_holds(amem, tmp_path):
    folder = write_pickles(tmp_path / "pickles", fixture_parts())
    assert amem("bench", "data", "plan", folder, "--out", "plan.jsonl", "--seed", 5).exit_code == 0
    assert "bigbang, friends, theoffice in" in amem("bench", "data", "convert", folder, "--out", "d.json").stdout
    first, second = (
        json.loads(amem("bench", "data", "check", path, "--plan", "plan.jsonl", "--json").stdout)
        for path in (folder, "d.json")
    )
    assert (first["sha256"], first["conversations"]) == (second["sha256"], second["conversations"])


def test_a_plan_can_be_of_the_first_episodes_only(amem):
    result = amem("bench", "data", "plan", FIXTURE, "--out", "plan.jsonl", "--episodes", 1)
    assert result.stdout.startswith("6 questions of bigbang, friends, theoffice")
