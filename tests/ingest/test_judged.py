from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from amem.ingest import evolver, linker, weaver
from amem.ingest.judged import FOLLOWS, MAX_NEWS, MOST_NEWS, is_news, is_same, told_since
from amem.ingest.shown import Numbered
from amem.model import Note
from amem.prompts import PromptSet
from amem.replies import (
    EvolveReply,
    JudgedChange,
    JudgedEvolveReply,
    JudgedLinkReply,
    JudgedWindowReply,
    LinkEvolveReply,
    LinkReply,
)

MAY = datetime(2024, 5, 1, 9, tzinfo=UTC)


def note(name, content="Some text.", context="", days=0):
    at = MAY + timedelta(days=days)
    return Note(id=name, content=content, context=context, occurred_at=at, created_at=at)


OLD = [note("cello", "I want to sell my cello.", "Ida wants to sell her cello."), note("nuts", "No nuts for me.")]
NEW = note("sold", "A student has carried it off.", "Ida's cello is sold.", days=9)


def judged(number, older, newer, same, then=""):
    return {"neighbour": number, "older": older, "newer": newer, "same": same, "then": then}


SOLD = judged(0, "Ida's cello is for sale", "Ida's cello is sold", "yes", "sold")
OTHER = judged(1, "Ida mustn't eat nuts", "Ida's cello is sold", "no", "nothing")


@pytest.mark.parametrize(
    ("older", "newer", "same", "linked"),
    [
        ("Ida's cello is for sale", "Ida's cello is sold", "yes", True),
        ("Ida's cello is for sale", "Ida's cello is sold", "no", False),
        ("Le concert au parc", "le concert, au parc", "no", True),
        ("屋久島の登山", "屋久島の登山", "no", True),
        ("", "", "no", False),
    ],
)
def test_notes_are_linked_where_the_model_says_so_or_names_the_same_thing_twice(older, newer, same, linked):
    assert is_same(JudgedChange(**judged(0, older, newer, same))) is linked


@pytest.mark.parametrize(
    ("same", "then", "news"),
    [
        ("yes", "sold", True),
        ("yes", "nothing", False),
        ("yes", "Nothing new", False),
        ("yes", " ", False),
        ("no", "sold", False),
    ],
)
def test_something_has_become_only_of_the_same_thing_and_only_where_it_is_named(same, then, news):
    pair = JudgedChange(**judged(0, "the cello is for sale", "the cello is gone", same, then))
    assert is_news(pair) is news


def test_an_older_context_is_kept_and_what_was_told_since_stands_behind_it():
    assert told_since(OLD[0], NEW) == "Ida wants to sell her cello. [2024-05-10: Ida's cello is sold.]"


def test_without_contexts_the_texts_speak():
    assert told_since(OLD[1], note("n", "Still\nno nuts.", days=1)) == "[2024-05-02: Still no nuts.]"


def test_of_many_changes_the_latest_are_told():
    older = OLD[0]
    for day in range(1, MOST_NEWS + 3):
        older = older.model_copy(update={"context": told_since(older, note("n", f"Day {day}.", days=day))})
    assert older.context.startswith("Ida wants to sell her cello. [2024-05-04: Day 3.]")
    assert older.context.count("[") == MOST_NEWS


def test_what_a_note_was_told_itself_is_not_told_on_and_long_texts_are_cut():
    newer = note("n", "x" * 999, "It is [really] sold. [2024-05-03: Thanks.]", days=2)
    assert told_since(OLD[0], newer).endswith("[2024-05-03: It is [really] sold.]".replace("[really]", "(really)"))
    assert len(told_since(OLD[1], note("n", "x" * 999))) < MAX_NEWS + 20


def test_only_what_is_the_same_becomes_a_link():
    reply = JudgedLinkReply.model_validate({"links": [SOLD, OTHER, judged(7, "a", "a", "yes")]})
    links, skipped = linker.parse(reply, NEW, Numbered(OLD))
    assert [(link.source, link.target, link.relation, link.reason) for link in links] == [
        ("sold", "cello", FOLLOWS, "Ida's cello is sold")
    ]
    assert [item.what for item in skipped] == ["note number 7"]


def test_evolving_keeps_what_a_note_was_known_for():
    reply = JudgedEvolveReply.model_validate({"changes": [SOLD, OTHER, judged(7, "a", "a", "yes", "x")]})
    changes, skipped = evolver.parse(reply, NEW, Numbered(OLD))
    assert [(change.note_id, change.because, change.context) for change in changes] == [
        ("cello", ("sold",), "Ida wants to sell her cello. [2024-05-10: Ida's cello is sold.]")
    ]
    assert len(skipped) == 1


def test_a_window_links_each_pair_and_tells_an_older_note_of_every_newer_one():
    again = note("again", "She played it on the radio.", "The student played the cello on the radio.", days=20)
    older, newer = weaver.numbered(OLD, [NEW, again])
    pairs = [{"source": 2, "target": 0, **SOLD}, {"source": 3, "target": 0, **SOLD}, {"source": 3, "target": 2, **SOLD}]
    reply = JudgedWindowReply.model_validate({"links": [*pairs, {"source": 9, "target": 0, **SOLD}]})
    links, skipped = weaver.parse_links(reply, older, newer)
    assert [(link.source, link.target) for link in links] == [("sold", "cello"), ("again", "cello"), ("again", "sold")]
    assert [item.what for item in skipped] == ["note number 9"]
    changes, _ = weaver.parse_changes(reply, older, newer)
    assert [(change.note_id, change.because) for change in changes] == [("cello", ("sold", "again"))]
    assert changes[0].context.endswith(
        "[2024-05-10: Ida's cello is sold.] [2024-05-21: The student played the cello on the radio.]"
    )


def test_each_version_is_answered_with_its_own_kind_of_reply():
    first, second = PromptSet("v1"), PromptSet("v2")
    models = [linker.reply_model, evolver.reply_model, weaver.reply_model]
    assert [model(first) for model in models] == [LinkReply, EvolveReply, LinkEvolveReply]
    assert [model(second) for model in models] == [JudgedLinkReply, JudgedEvolveReply, JudgedWindowReply]
    assert (evolver.along_links(first), evolver.along_links(second)) == (False, True)
