from __future__ import annotations

import json

import pytest
from pydantic import TypeAdapter

from amem.model import Context, Hit, Link, Note, Page, Revision, Stats


def test_search_shows_the_best_note_first(amem, woven):
    result = amem("search", "who bought a van?", "-k", "1")
    assert result.exit_code == 0
    assert "I bought a van" in result.stdout
    assert woven[1].id in result.stdout
    assert "sold the boat" not in result.stdout.splitlines()[1]


def test_search_explains_a_score_by_its_arms(amem, woven):
    assert "lexical" in amem("search", "van", "--explain").stdout


def test_filters_restrict_what_is_found(amem, woven):
    result = amem("search", "boat or van", "--until", "2024-03-01", "--json")
    assert [hit["note"]["id"] for hit in json.loads(result.stdout)] == [woven[0].id]


def test_recall_prints_the_cited_text_alone_on_stdout(amem, woven):
    result = amem("recall", "van")
    assert result.stdout.splitlines()[0].startswith("[1] 2024-02-03 Ana: I sold the boat (since:")
    assert len(result.stdout.splitlines()) == 2
    assert f"[1] {woven[0].id}" in result.stderr


def test_show_tells_what_a_note_is_linked_with_and_who_made_it(amem, woven):
    result = amem("show", woven[0].id)
    assert "came after" in result.stdout
    assert "I bought a van" in result.stdout
    assert "scripted, note@" in result.stdout


def test_links_are_seen_from_both_ends(amem, woven):
    for note, arrow in zip(woven, "←→", strict=True):
        result = amem("links", note.id)
        assert f"{arrow} came after" in result.stdout
        assert "because: The van was paid for with the boat." in result.stdout


def test_history_shows_before_and_after(amem, woven):
    lines = amem("history", woven[0].id).stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if "context (evolve" in line)
    assert lines[at + 1].strip() == "before: About: I sold the boat"
    assert lines[at + 2].strip() == "after:  Ana sold the boat, and bought a van since."


def test_list_goes_on_where_the_page_before_ended(amem, woven):
    first = amem("list", "-n", "1")
    after = first.stderr.split("--after ")[1].strip()
    assert "I sold the boat" in first.stdout
    assert "I bought a van" in amem("list", "-n", "1", "--after", after).stdout


def test_stats_count_notes_links_and_calls(amem, woven):
    result = amem("stats")
    assert "2 notes (2 ready" in result.stdout
    assert "1 link," in result.stdout
    assert "build: 2 calls" in result.stdout


@pytest.mark.parametrize(
    ("verb", "kind"),
    [
        (["search", "van"], list[Hit]),
        (["recall", "van"], Context),
        (["list"], Page),
        (["show", "{id}"], Note),
        (["links", "{id}"], list[Link]),
        (["history", "{id}"], list[Revision]),
        (["stats"], Stats),
    ],
)
def test_json_is_the_dump_of_the_documented_type(amem, woven, verb, kind):
    result = amem(*(word.format(id=woven[0].id) for word in verb), "--json")
    adapter = TypeAdapter(kind)
    value = adapter.validate_json(result.stdout)
    assert adapter.dump_python(value, mode="json") == json.loads(result.stdout)


def test_a_note_that_is_not_there_is_an_error_of_one_line(amem, woven):
    result = amem("show", "nobody")
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.splitlines() == ["amem: there is no note 'nobody' in the box 'default'"]


def test_reading_makes_no_memory_where_there_is_none(amem, tmp_path):
    result = amem("search", "anything")
    assert result.exit_code == 2
    assert "there is no memory in notes" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_box_sees_only_its_own_notes(amem, woven):
    assert json.loads(amem("search", "van", "--box", "other", "--json").stdout) == []


def test_nothing_found_is_no_failure(amem, woven):
    assert amem("search", "van", "--speaker", "Zoe").exit_code == 0
