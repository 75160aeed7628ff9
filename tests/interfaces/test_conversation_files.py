from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amem.errors import InputError
from amem.interfaces.cli import conversation_jsonl, conversation_text
from amem.interfaces.cli.conversation import read_conversation, refuse_bad


def jsonl(*lines):
    return conversation_jsonl.read("\n".join(lines).encode(), "chat")


def text(content):
    return conversation_text.read(content.encode(), "chat")


def sources(found):
    return [note.source for note in found.notes]


def test_a_line_may_use_the_short_names_or_those_of_amem():
    found = jsonl(
        '{"text": "hi", "speaker": "Ana", "at": "2024-02-03T10:00Z", "session": "s1", "id": "m1"}',
        '{"content": "hi", "speaker": "Ana", "occurred_at": "2024-02-03T10:00Z", "session_id": "s1", "source": "m2"}',
    )
    first, second = found.notes
    assert first.model_copy(update={"source": "m2"}) == second
    assert first.occurred_at == datetime(2024, 2, 3, 10, tzinfo=UTC)


def test_chat_messages_keep_their_role_as_speaker_and_trust():
    (note,) = jsonl('{"role": "assistant", "content": "hi", "name": null}').notes
    assert (note.speaker, note.trust) == ("assistant", "assistant")


def test_a_number_is_an_id_as_well():
    assert sources(jsonl('{"text": "hi", "id": 7}')) == ["7"]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("nope", "not a line of JSON"),
        ("[1]", "not a list"),
        ('{"text": ""}', "the text is empty"),
        ('{"speaker": "Ana"}', "content"),
        ('{"text": "hi", "mood": "good"}', "mood"),
        ('{"text": "hi", "at": "yesterday"}', "ISO 8601"),
        ('{"text": "hi", "content": "ho"}', "given twice"),
        ('{"text": "hi", "metadata": {"x": NaN}}', "NaN"),
        ("[" * 100_000, "not a line of JSON"),
    ],
)
def test_a_bad_line_is_named_and_the_others_are_read(line, problem):
    found = jsonl('{"text": "before"}', line, '{"text": "after"}')
    assert [note.content for note in found.notes] == ["before", "after"]
    assert [bad.line for bad in found.bad] == [2]
    assert problem in found.bad[0].problem


def test_bytes_that_are_not_utf8_are_a_bad_line():
    assert [bad.line for bad in conversation_jsonl.read(b'{"text": "\xff"}', "chat").bad] == [1]
    assert [bad.line for bad in conversation_text.read(b"Ana: \xff", "chat").bad] == [1]


def test_a_byte_order_mark_and_windows_line_ends_are_no_text():
    (note,) = conversation_jsonl.read(b'\xef\xbb\xbf{"text": "hi"}\r\n', "chat").notes
    assert note.content == "hi"
    (note,) = conversation_text.read(b"\xef\xbb\xbfAna: hi\r\n", "chat").notes
    assert (note.speaker, note.content) == ("Ana", "hi")


def test_an_id_used_for_another_message_is_refused_and_for_the_same_one_read_once():
    found = jsonl('{"text": "hi", "id": "1"}', '{"text": "hi", "id": "1"}', '{"text": "ho", "id": "1"}')
    assert sources(found) == ["1"]
    assert "used on line 1" in found.bad[0].problem


def test_messages_without_an_id_keep_theirs_when_the_file_grows_anywhere():
    lines = [f'{{"text": "message {i}"}}' for i in range(3)]
    before = sources(jsonl(*lines))
    assert sources(jsonl('{"text": "put in at the top"}', *lines))[1:] == before
    assert sources(jsonl(*lines, '{"text": "more"}'))[:3] == before


def test_the_same_words_said_twice_are_two_messages():
    assert len(set(sources(jsonl('{"text": "ok"}', '{"text": "ok"}')))) == 2


def test_text_has_speakers_dates_and_indented_continuations():
    found = text(
        "# 2024-02-03\nAna: I sold the boat.\nBen: Why?\n  You loved it.\n\n[2024-02-05 18:20]\nAna: Harbour.\n"
    )
    assert [(note.speaker, note.content, note.session_id) for note in found.notes] == [
        ("Ana", "I sold the boat.", "2024-02-03"),
        ("Ben", "Why?\nYou loved it.", "2024-02-03"),
        ("Ana", "Harbour.", "2024-02-05 18:20"),
    ]
    assert found.notes[2].occurred_at == datetime(2024, 2, 5, 18, 20, tzinfo=UTC)


def test_text_before_the_first_date_is_a_session_named_after_the_file():
    (note,) = text("Ana: hello").notes
    assert (note.session_id, note.occurred_at) == ("chat", None)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("Ana: hi\nno speaker here\n", 2),
        ("# a title\nAna: hi\n", 1),
        ("[2024-13-01]\nAna: hi\n", 1),
        ("  indented under nothing\nAna: hi\n", 1),
        ("Ana:\nBen: hi\n", 1),
        ("https://example.org/a\nAna: hi\n", 1),
    ],
)
def test_a_line_of_text_that_fits_nothing_is_named(content, line):
    found = text(content)
    assert [bad.line for bad in found.bad] == [line]
    assert len(found.notes) == 1


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_reported(data):
    for reader in (conversation_jsonl, conversation_text):
        found = reader.read(data, "chat")
        assert len({note.source for note in found.notes}) == len(found.notes)
        assert all(note.source and note.content.strip() for note in found.notes)


words = st.text("abc \t\u00e9\u4e2d", min_size=1).map(str.strip).filter(bool)


@given(st.lists(st.tuples(words, st.lists(words, min_size=1, max_size=3)), max_size=5))
def test_text_that_follows_the_rules_comes_back_whole(messages):
    lines = [f"{' '.join(who.split())}: " + "\n  ".join(said) for who, said in messages]
    found = text("\n".join(lines))
    assert [note.content for note in found.notes] == ["\n".join(said) for _, said in messages]
    assert found.bad == []


@pytest.mark.parametrize(
    ("name", "content", "speaker"),
    [
        ("a.jsonl", '{"text": "hi", "speaker": "J"}', "J"),
        ("a.txt", "T: hi", "T"),
        ("a.log", '{"text": "hi", "speaker": "J"}', "J"),
        ("a", "[2024-02-03]\nT: hi", "T"),
    ],
)
def test_the_format_goes_by_name_then_by_content(tmp_path, name, content, speaker):
    (tmp_path / name).write_text(content)
    assert [note.speaker for note in read_conversation(tmp_path / name).notes] == [speaker]


def test_sessions_takes_the_first_ones(tmp_path):
    (tmp_path / "a.txt").write_text("# 2024-01-01\nA: one\n# 2024-01-02\nA: two\n# 2024-01-03\nA: three\n")
    found = read_conversation(tmp_path / "a.txt", sessions=2)
    assert [note.content for note in found.notes] == ["one", "two"]


@pytest.mark.parametrize("args", [{"kind": "yaml"}, {"sample": "conv-26"}])
def test_options_that_do_not_fit_the_file_are_refused(tmp_path, args):
    (tmp_path / "a.txt").write_text("A: hi")
    with pytest.raises(InputError):
        read_conversation(tmp_path / "a.txt", **args)


def test_a_file_that_is_not_there_is_an_input_error(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        read_conversation(tmp_path / "none.txt")


def test_the_error_names_file_and_line_and_counts_the_rest():
    found = text("\n".join(f"line {i}" for i in range(7)))
    with pytest.raises(InputError) as caught:
        refuse_bad(Path("chat.txt"), found.bad)
    assert "chat.txt:1: neither" in str(caught.value)
    assert "chat.txt:6" not in str(caught.value)
    assert "and 2 more" in str(caught.value)
