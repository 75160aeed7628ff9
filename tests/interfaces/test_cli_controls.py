"""The user's controls on the command line: correct, pin, upkeep, export, and import of other memories."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta

import pytest

from amem.exporting.jsonl import Exported
from amem.importing.bringing import Imported
from amem.memory import AsyncMemory
from amem.model import AddResult, Note
from amem.upkeep.tidying import Upkept


def listed(amem, *more):
    return json.loads(amem("list", "--json", *more).stdout)["notes"]


@pytest.fixture
def old(tmp_path):
    """A memory in ./notes of a note and its repeat of half a year ago, and a new note; returns their ids."""

    async def fill():
        then = datetime.now(UTC) - timedelta(days=180)
        async with AsyncMemory.open(tmp_path / "notes", now=lambda: then) as memory:
            ids = [(await memory.add(text)).id for text in ("I sold the boat", "I bought a van")]
        async with AsyncMemory.open(tmp_path / "notes") as memory:
            return [*ids, *[(await memory.add(text)).id for text in ("A bus came.", "a bus came")]]

    return asyncio.run(fill())


def test_correct_puts_a_note_in_the_place_of_another_and_says_how_it_is_taken_back(amem, old):
    result = amem("correct", old[0], "I sold the red boat", "--at", "2024-06-01", "--json")
    assert result.exit_code == 0
    new = AddResult.model_validate_json(result.stdout)
    assert new.note.occurred_at == datetime(2024, 6, 1, tzinfo=UTC)
    assert old[0] not in {note["id"] for note in listed(amem)}
    assert amem("undo", "--caused-by", new.id).exit_code == 0
    assert {note["id"] for note in listed(amem)} == set(old)
    assert "amem undo --caused-by" in amem("correct", old[0], stdin="once more").stderr


def test_a_note_that_is_not_there_cannot_be_corrected(amem, old):
    assert amem("correct", "nobody", "text").exit_code == 2
    assert amem("correct", old[0], " ").exit_code == 2


def test_pin_and_unpin_show_what_is_pinned(amem, old):
    assert "pinned: tags, context" in amem("pin", old[0], "--field", "tags", "--field", "context").stdout
    note = Note.model_validate_json(amem("unpin", old[0], "--field", "tags", "--json").stdout)
    assert note.pinned == ("context",)
    assert "pinned: nothing" in amem("unpin", old[0]).stdout
    assert amem("pin", old[0], "--field", "colour").exit_code == 2


def test_upkeep_says_first_and_does_then_and_is_taken_back(amem, old):
    would = amem("upkeep", "--dry-run")
    assert "2 notes would be archived" in would.stdout
    assert f"{old[0]}: importance 0.002, 180 days, recalled 0 times" in would.stdout
    assert f"{old[2]} repeated by {old[3]}" in would.stdout
    assert len(listed(amem)) == 4
    done = amem("upkeep")
    assert "2 notes archived" in done.stdout
    assert "1 group of notes merged" in done.stdout
    assert [note["id"] for note in listed(amem)] == [old[2]]
    numbers = done.stdout.split("amem undo ")[1].split()
    assert amem("undo", *numbers).exit_code == 0
    assert len(listed(amem)) == 4
    assert Upkept.model_validate_json(amem("upkeep", "--json", "--limit", "0").stdout).archived == ()


def test_an_export_comes_back_by_import_without_saying_what_it_is(amem, old, tmp_path):
    result = amem("export", "out.jsonl", "--json")
    assert Exported.model_validate_json(result.stdout).notes == 4
    assert "4 notes, 0 links, 0 revisions, 1 file written: out.jsonl" in amem("export", "out.jsonl").stdout
    back = amem("import", "out.jsonl", "--dir", tmp_path / "other")
    assert "4 notes, 0 links, 0 revisions brought in" in back.stdout
    assert [note["id"] for note in listed(amem, "--dir", tmp_path / "other")] == old
    again = amem("import", "out.jsonl", "--dir", tmp_path / "other")
    assert (again.exit_code, "has notes" in again.stderr) == (2, True)


def test_a_vault_is_exported_and_one_of_basic_memory_imported(amem, old, tmp_path):
    assert amem("export", "vault", "--format", "markdown", "--until", "2000-01-01").exit_code == 0
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "a.md").write_text("- knows [[b]]")
    (tmp_path / "theirs" / "b.md").write_text("b")
    (tmp_path / "theirs" / "c.md").write_text("")
    result = amem("import", "theirs", "--format", "basic-memory", "--box", "theirs", "--json")
    assert Imported.model_validate_json(result.stdout).links == 1
    again = amem("import", "theirs", "--format", "basic-memory", "--box", "theirs")
    assert "2 known already" in again.stdout
    assert "left out: c.md: " in again.stderr


def test_a_vault_comes_back_by_import_without_saying_what_it_is(amem, old, tmp_path):
    assert amem("export", "vault", "--format", "markdown").exit_code == 0
    result = amem("--box", "back", "import", "vault")
    assert "4 notes, 0 links, 0 revisions brought in" in result.stdout, result.stderr
    assert amem("import", "vault").stdout.startswith("0 notes, 0 links, 0 revisions brought in, 4 known already")


def test_an_unknown_format_of_an_export_is_bad_usage(amem, old):
    assert amem("export", "x", "--format", "xml").exit_code == 2
    assert amem("export", "notes/x.jsonl").exit_code == 2
