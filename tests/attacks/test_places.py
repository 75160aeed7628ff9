"""Names are names and no paths: nothing is read or written but the memory's directory and the file one names."""

from __future__ import annotations

import json

import pytest

from amem.errors import InputError
from amem.interfaces.cli.conversation import read_conversation

PATHS = ["../outside", "/etc/passwd", "..", ".", "C:\\temp", "a/b/c", "~", "$HOME", "%2e%2e%2f", "con", "x; rm -rf /"]


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


async def test_no_name_leads_out_of_the_directory(open_memory, tmp_path):
    async with open_memory(path="inside/memory", chroma=True, exact_up_to=0, index_batch=1) as memory:
        for name in PATHS:
            box = memory.box(name)
            await box.add(f"of {name}", session_id=name, agent_id=name, source=name, speaker=name)
        for name in PATHS[:3]:
            box = memory.box(name)
            assert [hit.note.content for hit in await box.search("of what?", session_id=name)] == [f"of {name}"]
    outside = [name for name in files(tmp_path) if not name.startswith("inside/memory/")]
    assert outside == ["inside", "inside/memory"]
    assert not any(part in name for name in files(tmp_path / "inside" / "memory") for part in ("outside", "passwd"))


@pytest.mark.parametrize("name", ["", " ", "a\x00b", "a\nb", "\x1b[2J", "\ud800", "\u202egnp", "x" * 201, None, 7])
async def test_a_box_has_a_name_that_can_be_read(open_memory, name):
    async with open_memory() as memory:
        with pytest.raises(InputError, match="no name for a box"):
            memory.box(name)
        with pytest.raises(InputError, match="no name for a box"):
            await memory.search("bread", boxes=[name])


def written(path, *lines):
    path.write_bytes(b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines))
    return path


@pytest.mark.parametrize("field", ["box", "status", "pinned", "version", "made_by", "created_at", "superseded_by"])
def test_an_imported_line_cannot_say_what_is_amems_to_say(tmp_path, field):
    found = read_conversation(written(tmp_path / "chat.jsonl", {"text": "hello", field: "x"}))
    assert found.notes == []
    assert field in found.bad[0].problem


async def test_metadata_moves_no_note_into_another_box(open_memory):
    async with open_memory() as memory:
        note = (await memory.box("mine").add("hello", metadata={"box": "default", "id": "x", "trust": "user"})).note
        assert note.box == "mine"
        assert (await memory.stats()).notes == 0


HOSTILE_LINES = [
    b'{"text": "fine"}',
    b'{"text": ' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    b'{"text": "x", "metadata": ' + b'{"a":' * 5_000 + b"1" + b"}" * 5_000 + b"}",
    b'{"text": "half \\ud83d"}',
    b'{"text": "\xff\xfe"}',
    b'{"text": "x", "position": 1' + b"0" * 5_000 + b"}",
    b'{"text": "x", "metadata": {"a": NaN}}',
    b'{"text": "x", "text": "y", "content": "z"}',
    b'{"__proto__": {"text": "x"}}',
    b"\x00\x01\x02",
    b"null",
    b'"text"',
]


def test_each_hostile_line_is_named_and_the_others_are_read(tmp_path):
    found = read_conversation(written(tmp_path / "chat.jsonl", *HOSTILE_LINES))
    assert [note.content for note in found.notes] == ["fine"]
    assert [bad.line for bad in found.bad] == list(range(2, len(HOSTILE_LINES) + 1))
    assert all(len(bad.problem) < 1000 for bad in found.bad)


def test_a_nested_file_of_a_benchmark_is_refused(tmp_path):
    with pytest.raises(InputError):
        read_conversation(written(tmp_path / "chat.json", b"[" * 200_000))


def test_a_link_to_a_file_is_read_and_left_alone(amem, tmp_path):
    target = written(tmp_path / "elsewhere.jsonl", {"text": "hello", "id": "1"})
    (tmp_path / "chat.jsonl").symlink_to(target)
    before = (target.read_bytes(), target.stat().st_mtime_ns)
    assert amem("import", "chat.jsonl").exit_code == 0
    assert (target.read_bytes(), target.stat().st_mtime_ns) == before


@pytest.mark.parametrize("name", ["missing.jsonl", "folder", "loop", "broken"])
def test_what_is_no_file_is_refused_with_its_name(amem, tmp_path, name):
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "broken").symlink_to("nowhere")
    result = amem("import", name)
    assert result.exit_code == 2
    assert name in result.stderr
    assert not (tmp_path / "notes").exists()


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "v1/note", "note.j2", ".."])
def test_a_prompt_is_asked_for_by_name_and_not_by_path(amem, name):
    assert amem("prompts", "render", name).exit_code == 2
    assert amem("prompts", "list", "--set", f"prompts_version={name}").exit_code == 2
