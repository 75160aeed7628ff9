"""What a reply of `distill` comes to, and the examples that its templates show."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import pytest

from amem.ingest import distiller
from amem.model import Note
from amem.prompts import PromptSet
from amem.replies import BriefDistillReply, DistillReply

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
    assert distiller.reply_model(PromptSet("v2")) is BriefDistillReply


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_what_a_template_shows_as_an_example_is_what_code_accepts_whole(version):
    seen = list(examples(version))
    assert seen
    for turns, text in seen:
        reply = distiller.reply_model(PromptSet(version)).model_validate_json(text)
        found = distiller.parse(reply, turns)
        assert found.skipped == ()
        assert len(found.memories) == len(reply.notes) + len(reply.facts) + len(reply.episodes)
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
