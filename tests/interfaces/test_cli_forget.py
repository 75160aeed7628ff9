"""`amem forget` and `amem prompts scrub`: what they show, what they ask, and how they end."""

from __future__ import annotations

import json

import pytest

from amem.interfaces.cli.exits import OK, UNFINISHED, USAGE


@pytest.fixture
def filled(amem):
    """A memory of three notes in ./notes; returns their ids."""
    said = [amem("add", f"bread number {n} is warm", "--session", "ab"[n % 2], "--json") for n in range(3)]
    return [json.loads(done.stdout)["note"]["id"] for done in said]


def left(amem):
    return [note["id"] for note in json.loads(amem("list", "--json").stdout)["notes"]]


def test_a_dry_run_lists_what_would_go_and_keeps_it(amem, filled):
    done = amem("forget", "--session", "a", "--dry-run")
    assert done.exit_code == OK
    assert "2 notes would be erased" in done.stdout
    assert all(note_id in done.stdout for note_id in (filled[0], filled[2]))
    assert left(amem) == filled


def test_it_erases_and_says_where_it_looked(amem, filled):
    done = amem("forget", "--note", filled[0], "--note", filled[1], "--yes")
    assert done.exit_code == OK
    assert "2 notes erased" in done.stdout
    assert "files of the ledger: clean" in done.stdout
    assert left(amem) == [filled[2]]


def test_as_json_it_is_the_receipt(amem, filled):
    receipt = json.loads(amem("forget", "--session", "b", "--yes", "--json").stdout)
    assert (receipt["erased"], receipt["dry_run"], receipt["unfinished"]) == ([filled[1]], False, [])


def test_without_yes_and_without_anybody_to_ask_nothing_goes(amem, filled):
    done = amem("forget", "--session", "a")
    assert done.exit_code == USAGE
    assert "give --yes" in done.stderr
    assert left(amem) == filled


@pytest.mark.parametrize("given", [(), ("--whole-box", "--session", "a"), ("--expired",)])
def test_what_does_not_say_what_to_forget_is_refused(amem, filled, given):
    assert amem("forget", *given, "--yes").exit_code == USAGE
    assert left(amem) == filled


def test_nothing_to_forget_is_no_failure(amem, filled):
    done = amem("forget", "--session", "never", "--yes")
    assert (done.exit_code, done.stdout.strip()) == (OK, "there is nothing to forget")


def test_a_box_goes_as_a_whole(amem, filled):
    amem("--box", "other", "add", "bread elsewhere")
    assert amem("--box", "other", "forget", "--whole-box", "--yes").exit_code == OK
    assert left(amem) == filled


def test_what_is_found_afterwards_is_said_and_ends_with_1(amem, filled, tmp_path):
    (tmp_path / "notes" / "copy.txt").write_text("bread number 1 is warm")
    done = amem("forget", "--session", "b", "--yes")
    assert done.exit_code == UNFINISHED
    assert "other files: found (still in copy.txt)" in done.stdout


def test_retention_is_a_setting(amem, filled):
    done = amem("--set", "retention_days=30", "forget", "--expired", "--yes")
    assert (done.exit_code, done.stdout.strip()) == (OK, "there is nothing to forget")
    assert left(amem) == filled


def test_scrub_removes_what_holds_the_text(amem, tmp_path):
    (tmp_path / "runs").mkdir()
    for name in ("canary", "bread"):
        (tmp_path / "runs" / f"{name}.json").write_text(json.dumps({"said": name}))
    assert "1 to change" in amem("prompts", "scrub", "Canary", "--recordings", "runs", "--dry-run").stdout
    done = amem("prompts", "scrub", "Canary", "--recordings", "runs")
    assert "removed: canary.json" in done.stdout
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["bread.json"]
    assert amem("prompts", "scrub", " ", "--recordings", "runs").exit_code == USAGE
