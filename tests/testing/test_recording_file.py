from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recording_support import recording

from amem.llm.protocol import Message, PromptRef, Reply, Request, TokenUsage
from amem.llm.recording_file import (
    Recording,
    RecordingInvalid,
    from_text,
    read_recording,
    to_text,
    write_recording,
)
from amem.llm.reviewable import dump_reviewable, load_reviewable

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30) | st.sampled_from(
    [
        "",
        "\n",
        "\n\n",
        "a\n",
        "\na",
        "a\r\nb\r",
        "a\u2028b\u2029\x85c",
        "\x00\x1f\x7f",
        "👨‍👩‍👧\n می‌خواهم",
        '"\\n"',
        "\\n",
    ]
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=8,
)
objects = st.dictionaries(texts, json_values, max_size=4)
messages = st.builds(Message, role=st.sampled_from(["system", "user", "assistant"]), content=texts)
requests = st.builds(
    Request,
    prompt=st.builds(PromptRef, name=texts, version=texts, hash=texts),
    variables=objects,
    messages=st.lists(messages, max_size=3).map(tuple),
    reply_schema=st.none() | objects,
    model=st.none() | texts,
    params=objects,
)
counts = st.none() | st.integers(min_value=0)
replies = st.builds(
    Reply,
    text=texts | json_values.map(json.dumps) | json_values.map(lambda v: json.dumps(v, ensure_ascii=False, indent=2)),
    finish_reason=texts,
    usage=st.builds(TokenUsage, prompt_tokens=counts, completion_tokens=counts),
    seconds=st.floats(min_value=0, allow_infinity=False),
    cost=st.none() | st.floats(min_value=0, allow_infinity=False),
    model=texts,
    attempts=st.integers(min_value=1),
)
recordings = st.builds(Recording, request=requests, reply=replies, on=st.dates(), by=texts, bad=st.booleans())


@given(recordings)
@settings(deadline=None, max_examples=60)
def test_what_is_written_is_read_back_exactly(original):
    text = to_text(original)
    text.encode()
    read = from_text(text)
    assert read == original
    assert read.reply.text == original.reply.text
    assert (read.case, read.key) == (original.case, original.key)
    assert to_text(read) == text


@given(recording=recordings)
@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_file_keeps_every_line_end_on_every_system(tmp_path, recording):
    path = tmp_path / "case.json"
    write_recording(recording, path)
    assert read_recording(path) == recording
    assert b"\r" not in path.read_bytes()


@given(st.dictionaries(texts, json_values, max_size=5))
def test_lists_and_texts_of_several_lines_are_never_confused(value):
    assert load_reviewable(dump_reviewable(value)) == value


def test_every_field_of_a_reply_is_kept():
    other = Reply(
        text="x",
        finish_reason="length",
        usage=TokenUsage(prompt_tokens=1, completion_tokens=2),
        seconds=3.0,
        cost=4.0,
        model="m",
        attempts=5,
    )
    unlike = {name for name, field in Reply.model_fields.items() if getattr(other, name) != field.default}
    assert unlike == set(Reply.model_fields)
    assert from_text(to_text(recording().model_copy(update={"reply": other}))).reply == other


def test_a_recording_reads_like_a_page():
    reply = Reply(
        text='{"keywords": ["oslo", "冬"], "context": "Alice moved."}',
        usage=TokenUsage(prompt_tokens=61, completion_tokens=18),
        seconds=1.25,
        model="qwen",
    )
    made = recording().model_copy(update={"reply": reply})
    expected = """{
  "prompt": "note",
  "version": "v1",
  "hash": "1029dfc2",
  "case": "CASE",
  "key": "KEY",
  "model": "openai/local",
  "params": {"temperature": 0.0, "max_tokens": 400},
  "variables": {
    "content": [
      "Alice moved to Oslo.\\n",
      "She likes the winter."
    ]
  },
  "messages": [
    {"role": "system", "content": "Reply with JSON."},
    {
      "role": "user",
      "content": [
        "<memory>\\n",
        "Alice moved to Oslo.\\n",
        "She likes the winter.\\n",
        "</memory>"
      ]
    }
  ],
  "reply": {"keywords": ["oslo", "冬"], "context": "Alice moved."},
  "finish_reason": "stop",
  "usage": {"prompt_tokens": 61, "completion_tokens": 18},
  "seconds": 1.25,
  "cost": null,
  "recorded": {"on": "2026-11-29", "by": "openai/local", "model_reported": "qwen"},
  "schema": {"type": "object"}
}
"""
    assert to_text(made) == expected.replace("CASE", made.case).replace("KEY", made.key)


@pytest.mark.parametrize(
    ("text", "field", "spacing"),
    [
        ('{"a": [1, 2.0]}', "reply", None),
        ('{"a":[1,2.0]}', "reply", "compact"),
        ('{\n  "a": [\n    1\n  ]\n}', "reply", "indent 2"),
        ('{\n    "a": 1\n}', "reply", "indent 4"),
        ("null", "reply", None),
        ('{ "a": 1 }', "raw", None),
        ('{"a": 1}\n', "raw", None),
        ('{"a": 1, "a": 2}', "raw", None),
        ('{"a": 1e2}', "raw", None),
        ('{"a": NaN}', "raw", None),
        ('{"a": 1e999}', "raw", None),
        ('{"a": "\\u51ac"}', "raw", None),
        ('{"a": "\\ud83d"}', "raw", None),
        ('```json\n{"a": 1}\n```', "raw", None),
        ("[" * 100_000, "raw", None),
        ("[" * 300 + "]" * 300, "raw", None),
        ("9" * 5000, "raw", None),
        ("", "raw", None),
    ],
)
def test_a_reply_is_kept_as_json_only_where_that_gives_the_same_bytes(text, field, spacing):
    written = to_text(recording(text))
    document = json.loads(written)
    assert field in document
    assert ({"reply", "raw"} - {field}).isdisjoint(document)
    assert document.get("spacing") == spacing
    assert from_text(written).reply.text == text


def test_a_bad_reply_is_marked_and_a_good_one_is_not():
    bad = recording("nonsense").model_copy(update={"bad": True})
    assert json.loads(to_text(bad))["bad"] is True
    assert from_text(to_text(bad)) == bad
    assert "bad" not in json.loads(to_text(recording()))


def test_half_a_surrogate_pair_is_refused_and_nothing_is_written(tmp_path):
    with pytest.raises(RecordingInvalid, match="no Unicode"):
        write_recording(recording(content="a\ud83db"), tmp_path / "case.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="limits the size of files")
def test_a_write_that_is_cut_short_leaves_the_old_file(tmp_path):
    path = tmp_path / "case.json"
    path.write_text("old")
    code = f"""
        import pathlib, resource, signal
        from amem.llm.recording_file import write_whole
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        write_whole(pathlib.Path({str(path)!r}), b"x" * 1000)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=False, capture_output=True, text=True)
    assert "File too large" in done.stderr
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["case.json"]


def test_a_write_that_fails_leaves_the_old_file(tmp_path):
    path = tmp_path / "case.json"
    write_recording(recording(), path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="JSON"):
        write_recording(recording(seconds=float("nan")), path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["case.json"]


# Files that people touch


def damaged(**changes):
    document = json.loads(to_text(recording())) | changes
    return json.dumps({k: v for k, v in document.items() if v is not ...})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "Expecting value"),
        ("[]", "valid dictionary"),
        (damaged(prompt=...), "prompt: Field required"),
        (damaged(rply={}), "rply: Extra"),
        (damaged(reply=...), "either 'reply' or 'raw'"),
        (damaged(raw="{}"), "either 'reply' or 'raw'"),
        (damaged(messages=[{"role": "user", "content": "edited"}]), "key is .* edited by hand"),
        (damaged(model="openai/other"), "key is .* edited by hand"),
        (damaged(variables={"content": "edited"}), "case is .* edited by hand"),
        (damaged(recorded={"on": "2026-11-29"}), "recorded.by: Field required"),
        (damaged(messages=[{"role": "user", "content": ["a\n", 3]}]), "valid string"),
    ],
)
def test_a_file_that_is_damaged_or_no_longer_its_key_is_refused_by_name(tmp_path, text, problem):
    path = tmp_path / "case.json"
    path.write_text(text)
    with pytest.raises(RecordingInvalid, match=problem) as caught:
        read_recording(path)
    assert caught.value.path == path
    assert "case.json" in str(caught.value)


def test_a_file_that_is_not_utf8_is_refused(tmp_path):
    path = Path(tmp_path / "case.json")
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(RecordingInvalid, match="utf-8"):
        read_recording(path)


def test_a_person_may_write_a_recording_without_working_out_hashes():
    text = damaged(case=..., key=..., recorded={"on": "2026-11-29", "by": "hand"}, reply={"keywords": ["oslo"]})
    read = from_text(text)
    assert read.by == "hand"
    assert read.key == recording().key
    assert read.reply.text == '{"keywords": ["oslo"]}'
