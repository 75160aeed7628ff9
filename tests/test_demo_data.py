"""The demo's conversation and questions are data, and hold to what the demo promises."""

from __future__ import annotations

import json
from datetime import datetime
from importlib.resources import files
from itertools import pairwise

DEMO = files("amem") / "_data" / "demo"


def turns():
    return [json.loads(line) for line in (DEMO / "conversation.jsonl").read_text("utf-8").splitlines()]


def questions():
    return json.loads((DEMO / "questions.json").read_text("utf-8"))


def moments():
    return [datetime.fromisoformat(turn["at"]) for turn in turns()]


def test_it_has_sixty_turns_and_more_over_six_sessions_between_two_speakers():
    assert len(turns()) >= 60
    assert len({turn["session"] for turn in turns()}) >= 6
    assert {turn["speaker"] for turn in turns()} == {"Mira", "Tomasz"}


def test_each_session_has_a_date_of_its_own_and_the_turns_stand_in_order():
    assert all(before < after for before, after in pairwise(moments()))
    dates = {(turn["session"], moment.date()) for turn, moment in zip(turns(), moments(), strict=True)}
    assert len(dates) == len({session for session, _ in dates}) == len({date for _, date in dates})


def test_every_moment_says_its_time_zone():
    assert all(moment.tzinfo is not None for moment in moments())


def test_no_two_turns_say_the_same():
    assert len({turn["text"] for turn in turns()}) == len(turns())


def test_ten_questions_name_the_turns_they_expect():
    assert len(questions()) == 10
    for question in questions():
        assert question["question"].endswith("?")
        assert question["answer"]
        assert all(0 <= number < len(turns()) for number in question["expects"])


def test_one_question_has_no_answer_in_the_conversation_and_one_needs_several_sessions():
    assert any(not question["expects"] for question in questions())
    sessions = [{turns()[number]["session"] for number in question["expects"]} for question in questions()]
    assert any(len(of_one) > 1 for of_one in sessions)
