from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from amem import replies
from amem.replies import LinkEvolveReply, NoteReply

REPLIES = [
    reply
    for name, reply in vars(replies).items()
    if isinstance(reply, type) and issubclass(reply, replies.Reply) and name.endswith("Reply") and name != "Reply"
]


def parts(schema):
    """Every schema inside a schema, itself included."""
    yield schema
    for value in schema.values():
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, dict):
                yield from parts(inner)


@pytest.mark.parametrize("reply", REPLIES)
def test_every_string_and_every_list_of_a_reply_is_bounded(reply):
    for part in parts(reply.model_json_schema()):
        if part.get("type") == "string":
            assert "maxLength" in part or "enum" in part
        if part.get("type") == "array":
            assert "maxItems" in part


@pytest.mark.parametrize("reply", REPLIES)
def test_every_field_of_a_reply_is_required_and_none_has_a_default(reply):
    for part in parts(reply.model_json_schema()):
        assert "default" not in part
        if part.get("type") == "object":
            assert set(part["required"]) == set(part["properties"])


def test_a_link_names_its_target_before_its_reason_because_small_models_retell_the_new_note_otherwise():
    assert list(replies.WindowLink.model_fields)[:2] == ["source", "targets"]


def test_the_things_are_named_before_they_are_said_to_be_the_same_because_small_models_judge_what_they_have_named():
    for pair in (replies.JudgedLink, replies.JudgedChange, replies.JudgedWindowPair):
        names = list(pair.model_fields)
        assert names.index("older") < names.index("newer") < names.index("same")


def test_an_entry_repeats_its_turns_words_before_it_tells_of_it_because_small_models_lose_count():
    assert list(replies.AnchoredNoteFields.model_fields)[:2] == ["turn", "words"]


def test_a_change_names_the_new_note_first_because_small_models_go_through_those_in_order():
    assert list(replies.WindowChange.model_fields)[:2] == ["because", "neighbour"]


def test_a_key_that_nobody_asked_for_is_ignored():
    note = {"turn": 0, "keywords": ["oslo"], "tags": ["home"], "context": "Ana moved.", "mood": "glad"}
    assert NoteReply.model_validate({"notes": [note], "note": "done"}).notes[0].keywords == ["oslo"]


@pytest.mark.parametrize(
    "links",
    [
        [{"source": 1, "targets": [0, 2, 3], "reason": "r", "relation": "r"}],
        [{"source": 1, "targets": "0", "reason": "r", "relation": "r"}],
        [{"source": -1, "targets": [0], "reason": "r", "relation": "r"}],
        [{"source": 1, "targets": [0], "reason": None, "relation": "r"}],
    ],
    ids=["more targets than asked for", "text for a list", "no such number", "null for text"],
)
def test_a_link_of_another_shape_is_refused(links):
    with pytest.raises(ValidationError):
        LinkEvolveReply.model_validate_json(json.dumps({"links": links, "changes": []}))


def test_how_many_entries_a_reply_has_is_told_of_variables_of_any_shape():
    assert replies.JudgedWindowReply.counts({"notes": [{"near": 3}, 7, {}, {"near": [0, 1]}]}) == {"links": (0, 2)}
    assert replies.JudgedWindowReply.counts({}) == {"links": (0, 0)}
    assert replies.JudgedLinkReply.counts({"neighbours": [1, {}, "three"]}) == {"links": (3, 3)}
    assert replies.JudgedEvolveReply.counts({"neighbours": [{}, {}]}) == {"changes": (2, 2)}
    assert replies.NoteReply.counts({"turns": [1]}) == {}


@pytest.mark.parametrize("reply", [replies.AnchoredNoteReply, replies.AnchoredDistillReply])
def test_how_an_entry_begins_is_told_of_variables_of_any_shape(reply):
    (given,) = reply.beginnings({"turns": [7, {"number": 3, "speaker": None, "text": "Yes, I am!"}]})["notes"]
    assert (given["turn"], given["words"]) == (3, "Yes I am")
    assert given.get("speaker", "") == ""
    assert reply.beginnings({"turns": "two"}) == reply.beginnings({}) == {"notes": []}
