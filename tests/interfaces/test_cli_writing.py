from __future__ import annotations

import json
import sqlite3


def test_add_stores_a_text_with_what_is_known_about_it(amem):
    result = amem("add", "I sold the boat", "--speaker", "Ana", "--at", "2024-02-03", "--session", "s1", "--json")
    note = json.loads(result.stdout)["note"]
    assert result.exit_code == 0
    assert (note["content"], note["speaker"], note["occurred_at"]) == ("I sold the boat", "Ana", "2024-02-03T00:00:00Z")
    assert (note["session_id"], note["pending_reason"]) == ("s1", "raw")


def test_add_reads_what_is_piped_in(amem):
    note = json.loads(amem("add", "--json", stdin="two\nlines\n").stdout)["note"]
    assert note["content"] == "two\nlines\n"


def test_add_without_a_model_says_that_the_note_is_raw(amem):
    assert "stored raw" in amem("add", "hello").stderr


def test_add_with_a_known_source_returns_the_note_that_is_there(amem):
    first = json.loads(amem("add", "hello", "--source", "m1", "--json").stdout)
    again = json.loads(amem("add", "hello", "--source", "m1", "--json").stdout)
    assert (again["note"]["id"], again["is_new"]) == (first["note"]["id"], False)


def test_fields_set_by_hand_are_pinned(amem):
    note = json.loads(amem("add", "hello", "--keyword", "a", "--keyword", "b", "--tag", "t", "--json").stdout)["note"]
    assert (note["keywords"], note["tags"], note["pinned"]) == (["a", "b"], ["t"], ["keywords", "tags"])


def test_an_empty_text_is_refused_in_one_line(amem):
    result = amem("add", "  ")
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1
    assert "the text is empty" in result.stderr


def test_undo_takes_back_what_a_note_changed_and_history_keeps_it(amem, woven):
    first, second = woven
    result = amem("undo", "--caused-by", second.id)
    assert result.exit_code == 0
    assert "Ana sold the boat, and bought a van since." not in amem("show", first.id).stdout
    assert "undone" in amem("history", first.id).stdout


def test_undo_of_one_revision_names_it(amem, woven):
    history = json.loads(amem("history", woven[0].id, "--json").stdout)
    changed = next(r["id"] for r in history if r["field"] == "context" and r["cause"]["kind"] == "evolve")
    undone = json.loads(amem("undo", changed, "--json").stdout)
    assert [r["cause"]["undoes"] for r in undone] == [changed]


def test_undo_under_a_later_change_is_refused_by_the_store(amem, woven):
    history = json.loads(amem("history", woven[0].id, "--json").stdout)
    built = next(r["id"] for r in history if r["field"] == "context" and r["cause"]["kind"] == "build")
    result = amem("undo", built)
    assert result.exit_code == 3
    assert "undo those first" in result.stderr


def test_undo_of_nothing_is_a_usage_error(amem, woven):
    assert amem("undo").exit_code == 2
    assert amem("undo", "999").exit_code == 2


def test_process_without_a_model_says_how_to_give_one(amem, woven):
    result = amem("process")
    assert result.exit_code == 2
    assert "--llm" in result.stderr


def test_a_database_that_is_none_is_a_store_error_without_a_traceback(amem, tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "ledger.db").write_bytes(b"this is no database, whatever its name says" * 100)
    result = amem("stats")
    assert result.exit_code == 3
    assert "Traceback" not in result.stderr


def test_another_embedding_is_a_store_error_that_names_the_remedy(amem, woven):
    with sqlite3.connect("notes/ledger.db") as connection:
        connection.execute("UPDATE meta SET value = 'another' WHERE key = 'fingerprint'")
    result = amem("stats")
    assert result.exit_code == 3
    assert "amem reindex" in result.stderr
