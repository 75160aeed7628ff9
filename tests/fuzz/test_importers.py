"""Any file is read line by line: each is a note or a named problem, and reading it again gives the same."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from amem.interfaces.cli import conversation_jsonl, conversation_text

FIELDS = ["text", "content", "role", "name", "speaker", "at", "session", "id", "tags", "metadata", "position", "box"]
WORDS = ["user", "2024-02-03"]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(WORDS),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)
MESSAGES = st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=5).map(lambda value: json.dumps(value).encode())
PLAIN = st.sampled_from([b'{"text": "hello"}', b"", b"{}", b"[]"])
JSON_LINES = st.lists(MESSAGES | st.binary(max_size=12) | PLAIN, max_size=8)
TEXT_LINES = st.lists(
    st.sampled_from(
        ["Ana: hello", "Ana:", "# 2024-02-03", "[2024-02-05 18:20]", "  indented", "# no date", ":", "[", "\ud800"]
    )
    | st.text(max_size=12),
    max_size=10,
)  # fmt: skip
BOUNDED = settings(max_examples=120, deadline=None)


@given(JSON_LINES)
@BOUNDED
def test_each_line_of_json_is_a_note_or_a_problem(lines):
    data = b"\n".join(lines)
    found = conversation_jsonl.read(data, "chat")
    said = [number for number, line in enumerate(data.split(b"\n"), start=1) if line.strip()]
    assert {bad.line for bad in found.bad} <= set(said)
    assert len(found.notes) + len(found.bad) <= len(said)
    assert len({note.source for note in found.notes}) == len(found.notes)
    assert conversation_jsonl.read(data, "chat") == found


@given(TEXT_LINES)
@BOUNDED
def test_each_line_of_text_belongs_to_a_note_or_is_a_problem(lines):
    data = "\n".join(lines).encode("utf-8", "surrogatepass")
    found = conversation_text.read(data, "chat")
    number = len(data.split(b"\n"))
    assert all(1 <= bad.line <= number for bad in found.bad)
    assert all(note.content.strip() and note.speaker for note in found.notes)
    assert len({note.source for note in found.notes}) == len(found.notes)
    assert conversation_text.read(data, "chat") == found


@given(st.lists(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip), max_size=5))
@BOUNDED
def test_what_was_written_as_json_is_read_byte_for_byte(texts):
    data = b"\n".join(json.dumps({"text": text, "id": str(i)}).encode() for i, text in enumerate(texts))
    found = conversation_jsonl.read(data, "chat")
    assert found.bad == []
    assert [note.content for note in found.notes] == texts
