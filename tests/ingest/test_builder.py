from __future__ import annotations

from datetime import UTC, datetime, timedelta

from amem.ingest import builder
from amem.model import Note
from amem.prompts import PromptSet
from amem.replies import AnchoredNoteReply, NoteReply

WEDNESDAY = datetime(2024, 5, 15, 18, tzinfo=UTC)
TURNS = ("Last Friday I sold the boat.", "The winter was long.", "她已经能自己下楼买菜了。")


def notes(*texts):
    return [
        Note(id=f"n{i}", content=text, occurred_at=WEDNESDAY, created_at=WEDNESDAY + timedelta(days=400))
        for i, text in enumerate(texts or TURNS)
    ]


def entry(turn, words, context="Ana told it."):
    return {"turn": turn, "words": words, "keywords": ["word"], "tags": [], "context": context}


def built(*entries):
    return builder.parse(AnchoredNoteReply.model_validate({"notes": entries}), notes())


def test_entries_that_lost_count_go_to_the_turns_whose_words_they_repeat():
    found = built(entry(1, "Last Friday I", "Ana sold it."), entry(2, "The winter was"), entry(3, "她已经能自己"))
    assert list(found) == ["n0", "n1", "n2"]
    assert found["n0"].context.startswith("Ana sold it.")


def test_words_are_compared_without_case_and_punctuation():
    assert list(built(entry(5, "last FRIDAY, i…"))) == ["n0"]


def test_an_entry_with_words_of_no_turn_keeps_its_number():
    assert list(built(entry(1, "Someone else's"))) == ["n1"]
    assert built(entry(9, "Someone else's")) == {}


def test_turns_that_begin_alike_are_told_apart_by_their_numbers():
    reply = AnchoredNoteReply.model_validate({"notes": [entry(1, "Good morning")]})
    assert list(builder.parse(reply, notes("Good morning all", "Good morning you"))) == ["n1"]


def test_a_relative_date_stands_in_the_context_in_figures():
    assert built(entry(0, "Last Friday I"))["n0"].context == "Ana told it. (Last Friday: 2024-05-10)"


def test_a_date_that_the_context_tells_is_not_told_twice():
    context = "Ana sold it on 2024-05-10."
    assert built(entry(0, "Last Friday I", context))["n0"].context == context


def test_a_turn_without_a_context_gets_none_of_dates_alone():
    assert built(entry(0, "Last Friday I", ""))["n0"].context == ""


def test_replies_of_the_first_kind_are_stored_as_they_are():
    fields = {"turn": 0, "keywords": ["boat"], "tags": [], "context": "Ana told it."}
    assert builder.parse(NoteReply.model_validate({"notes": [fields]}), notes())["n0"].context == "Ana told it."


def test_each_version_is_answered_with_its_own_kind_of_reply():
    assert builder.reply_model(PromptSet("v1")) is NoteReply
    assert builder.reply_model(PromptSet("v2")) is AnchoredNoteReply


def test_a_context_in_another_script_is_seen_where_the_number_is_wrong():
    reply = AnchoredNoteReply.model_validate({"notes": [entry(0, "她已经能自己", "She can shop on her own again.")]})
    assert "not written in the language" in (builder.check(notes())(reply) or "")
