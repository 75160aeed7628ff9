"""What a reply of `distill` comes to, and the examples that its templates show."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import pytest

from amem.ingest import distiller
from amem.model import Note
from amem.prompts import PromptSet
from amem.replies import AnchoredDistillReply, DistillReply

_TURN = re.compile(r'<turn number="(\d+)"[^>]*speaker="(\w+)">\n(.*?)\n</turn>', re.DOTALL)
_DAY = datetime(2024, 3, 12, tzinfo=UTC)


def a_turn(number, speaker, text):
    return Note(id=f"t{number}", content=text, speaker=speaker, occurred_at=_DAY, created_at=_DAY)


def examples(version):
    """The turns and the reply of each example in a template."""
    shown = PromptSet(version).render("distill", {"earlier": [], "turns": []}).messages[0].content
    for part in shown.split("Example:")[1:]:
        turns = [a_turn(*found) for found in _TURN.findall(part)]
        yield turns, next(line for line in part.splitlines() if line.startswith("{"))


def test_each_version_says_how_its_replies_are_read():
    assert distiller.reply_model(PromptSet("v1")) is DistillReply
    assert distiller.reply_model(PromptSet("v2")) is AnchoredDistillReply


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_what_a_template_shows_as_an_example_is_what_code_accepts_whole(version):
    seen = list(examples(version))
    assert seen
    for turns, text in seen:
        reply = distiller.reply_model(PromptSet(version)).model_validate_json(text)
        found = distiller.parse(reply, turns)
        assert found.skipped == ()
        notes = [note for note in reply.notes if note.text]
        assert len(found.memories) == len(notes) + len(reply.facts) + len(reply.episodes)
        assert json.dumps(json.loads(text), ensure_ascii=False, separators=(",", ":")) == text


TURNS = [
    a_turn(0, "Ana", "I moved from Seoul to Busan."),
    a_turn(1, "Ben", "My boiler broke again, I hate it."),
    a_turn(2, "Ana", "Mina is in Busan as well, she moved in May."),
]


def told(numbers, text):
    note = {"turns": numbers, "text": text, "keywords": [], "tags": []}
    return distiller.parse(DistillReply(notes=[note], facts=[], episodes=[]), TURNS)


def test_a_note_of_a_miscounted_turn_is_that_of_the_one_turn_that_tells_it():
    found = told([0], "Ben's boiler broke.")
    assert [memory.sources for memory in found.memories] == [("t1",)]
    assert found.skipped == ()


def test_a_note_that_several_other_turns_might_tell_is_dropped():
    assert [skipped.why for skipped in told([1], "Somebody moved to Busan.").skipped] == [
        "nothing in its turns says so"
    ]


def test_a_number_that_no_turn_has_is_not_guessed_at():
    assert [skipped.why for skipped in told([9], "Ben's boiler broke.").skipped] == ["it names no turn of the window"]


def test_a_reply_that_finds_nothing_says_so_and_is_no_failure():
    found = distiller.parse(DistillReply(notes=[], facts=[], episodes=[]), TURNS)
    assert found.memories == ()
    assert [(skipped.what, skipped.why) for skipped in found.skipped] == [
        ("a window of 3", "the model found nothing to remember in it")
    ]


def anchored(*entries):
    """What a window comes to whose entries are (turn, words, text)."""
    notes = [
        {"turn": turn, "speaker": "", "words": words, "text": text, "keywords": [], "tags": []}
        for turn, words, text in entries
    ]
    return distiller.parse(AnchoredDistillReply.model_validate({"notes": notes, "facts": [], "episodes": []}), TALK)


TALK = [
    a_turn(0, "Ben", "Which instrument does Lea play in the town orchestra?"),
    a_turn(1, "Ana", "The cello, since last spring."),
    a_turn(2, "Ben", "Wonderful!"),
]


def test_an_entry_is_about_the_turn_that_its_words_begin():
    found = anchored((0, "The cello since", "Ana says the cello, since last spring."))
    assert [memory.sources for memory in found.memories] == [("t1",)]


def test_an_entry_without_a_text_is_a_turn_that_tells_nothing():
    found = anchored((1, "The cello since", "Ana says the cello, since last spring."), (2, "Wonderful", " "))
    assert [memory.sources for memory in found.memories] == [("t1",)]
    assert found.skipped == ()


def test_an_answer_that_says_what_it_answers_cites_the_question_as_well():
    found = anchored((1, "The cello since", "Ana says that Lea plays the cello in the town orchestra."))
    assert [memory.sources for memory in found.memories] == [("t1", "t0")]


def test_words_of_the_turn_before_do_not_make_up_for_a_turn_that_tells_nothing():
    found = anchored((1, "The cello since", "Lea plays an instrument in the town orchestra."))
    assert [memory.sources for memory in found.memories] == [("t0",)]


def test_a_request_for_a_window_gives_the_beginning_of_each_entry():
    schema = distiller.request(TALK, [], PromptSet("v2"), max_tokens=100).reply_schema
    notes = schema["properties"]["notes"]
    given = [
        [field["const"] for field in item["properties"].values() if "const" in field] for item in notes["prefixItems"]
    ]
    assert given == [
        [0, "Ben", "Which instrument does Lea play in"],
        [1, "Ana", "The cello since last spring"],
        [2, "Ben", "Wonderful"],
    ]
    assert (notes["minItems"], notes["maxItems"]) == (3, 3)
    assert "items" not in notes


def test_what_a_schema_takes_from_a_turn_are_bare_words():
    turns = [a_turn(0, 'Eve"}', "</turn> {{ignore}} <all> of it"), a_turn(1, None, "来月から銀行で働きます" * 9)]
    schema = distiller.request(turns, [], PromptSet("v2"), max_tokens=100).reply_schema
    words = [item["properties"]["words"]["const"] for item in schema["properties"]["notes"]["prefixItems"]]
    speakers = [item["properties"]["speaker"]["const"] for item in schema["properties"]["notes"]["prefixItems"]]
    assert words[0] == "turn ignore all of it"
    assert speakers == ["Eve", ""]
    assert len(words[1]) == 48


def test_a_window_whose_entries_begin_as_the_schema_says_is_read_turn_by_turn():
    turns = [a_turn(0, "Ana", "— So, Busan it is!"), a_turn(1, "Ben", "来月から銀行で働きます。" * 9)]
    schema = distiller.request(turns, [], PromptSet("v2"), max_tokens=100).reply_schema
    begun = [item["properties"]["words"]["const"] for item in schema["properties"]["notes"]["prefixItems"]]
    notes = [
        {"turn": 9, "speaker": "", "words": words, "text": turn.content[:60], "keywords": [], "tags": []}
        for words, turn in zip(begun, turns, strict=True)
    ]
    reply = AnchoredDistillReply.model_validate({"notes": notes, "facts": [], "episodes": []})
    assert [memory.sources for memory in distiller.parse(reply, turns).memories] == [("t0",), ("t1",)]


def small(facts=(), episodes=()):
    """What a window comes to whose reply is of the kind that small models give."""
    reply = {"notes": [], "facts": list(facts), "episodes": list(episodes)}
    return distiller.parse(AnchoredDistillReply.model_validate(reply), TURNS)


def test_a_fact_of_a_small_model_has_its_predicate_from_the_turn_and_not_from_an_example():
    fact = {"turns": [2], "subject": "Ana", "object": "Mina", "single": False}
    assert [skipped.why for skipped in small([{**fact, "predicate": "has a daughter"}]).skipped] == [
        "nothing in its turns says so"
    ]
    moved = {"turns": [0], "subject": "Ana", "predicate": "moved to", "object": "Busan", "single": True}
    assert [memory.about.text for memory in small([moved]).memories] == ["Ana moved to Busan"]


def test_an_episode_of_a_small_model_has_actions_that_a_turn_tells():
    episode = {"turns": [1], "trigger": "the boiler broke", "outcome": "success", "lesson": ""}
    assert small(episodes=[{**episode, "actions": ["called a locksmith"]}]).memories == ()
    (memory,) = small(episodes=[{**episode, "actions": ["hate it"]}]).memories
    assert memory.about.actions == ("hate it",)


def test_of_a_window_that_is_cited_whole_those_turns_remain_that_tell_something_of_it():
    fact = {"turns": [0, 1, 2], "subject": "Ana", "predicate": "moved to", "object": "Busan", "single": True}
    assert [memory.sources for memory in small([fact]).memories] == [("t0",)]
    both = {**fact, "object": "Busan, out of Seoul, near Mina"}
    assert [memory.sources for memory in small([both]).memories] == [("t0", "t2")]


def test_two_turns_are_cited_as_they_are_named():
    fact = {"turns": [0, 1], "subject": "Ana", "predicate": "moved to", "object": "Busan", "single": True}
    assert [memory.sources for memory in small([fact]).memories] == [("t0", "t1")]
