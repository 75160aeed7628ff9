from __future__ import annotations

import json
import sqlite3

from amem.repair import Reindexed
from amem.store.report import Report


def test_doctor_finds_nothing_in_a_sound_memory(amem, woven):
    result = amem("doctor")
    assert result.exit_code == 0
    assert "2 notes in 1 box looked at: 0 problems" in result.stdout


def test_doctor_names_a_problem_and_what_mends_it(amem, woven):
    with sqlite3.connect("notes/ledger.db") as connection:
        connection.execute("DELETE FROM vector WHERE note_id = ?", (woven[0].id,))
    result = amem("doctor")
    assert result.exit_code == 1
    assert f"vector_missing: Notes without a vector, found by their words only (box 'default'): {woven[0].id}" in (
        result.stdout
    )
    assert "amem reindex" in result.stdout
    report = Report.model_validate_json(amem("doctor", "--json").stdout)
    assert [problem.kind for problem in report.problems] == ["vector_missing"]


def test_doctor_looks_also_where_the_embedding_is_another_one(amem, woven):
    with sqlite3.connect("notes/ledger.db") as connection:
        connection.execute("UPDATE meta SET value = 'another' WHERE key = 'fingerprint'")
    result = amem("doctor", "--json")
    assert result.exit_code == 1
    assert [problem["kind"] for problem in json.loads(result.stdout)["problems"]] == ["embedding"]


def test_doctor_mends_what_it_may_and_looks_again(amem, woven):
    with sqlite3.connect("notes/ledger.db") as connection:
        connection.execute("DELETE FROM vector WHERE note_id = ?", (woven[0].id,))
    result = amem("doctor", "--repair")
    assert result.exit_code == 0
    assert "0 problems" in result.stdout
    assert "0 problems" in amem("doctor").stdout


def test_reindex_embeds_anew_for_another_embedding(amem, woven):
    with sqlite3.connect("notes/ledger.db") as connection:
        connection.execute("UPDATE meta SET value = 'another' WHERE key = 'fingerprint'")
    result = amem("reindex")
    assert result.exit_code == 0
    assert "2 notes indexed by words, 2 embedded, Chroma is switched off" in result.stdout
    assert "I bought a van" in amem("search", "van").stdout


def test_reindex_embeds_only_what_is_missing_unless_all_is_asked_for(amem, woven):
    with sqlite3.connect("notes/ledger.db") as connection:
        connection.execute("DELETE FROM vector WHERE note_id = ?", (woven[0].id,))
    assert Reindexed.model_validate_json(amem("reindex", "--json").stdout).embedded == 1
    assert Reindexed.model_validate_json(amem("reindex", "--embed", "--json").stdout).embedded == 2
