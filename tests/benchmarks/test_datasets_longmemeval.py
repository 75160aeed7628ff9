from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from amem.errors import InputError
from amem.interfaces.cli.shipped import benchmarks_module

longmemeval = benchmarks_module("datasets.longmemeval")

FIXTURE = Path(__file__).parents[1] / "fixtures" / "longmemeval_fixture.json"
"""Invented records in the official form: one of each type, and one without an answer."""


@pytest.fixture
def load(tmp_path):
    def loaded(change=lambda _: None):
        data = json.loads(FIXTURE.read_text())
        change(data)
        path = tmp_path / "lme.json"
        path.write_text(json.dumps(data))
        return longmemeval.load(path)

    return loaded


def test_each_question_has_a_history_of_its_own(load):
    conversations = load().conversations
    assert [len(one.questions) for one in conversations] == [1] * 7
    assert [one.questions[0].category for one in conversations[:3]] == [
        "single-session-user", "single-session-assistant", "single-session-preference",
    ]  # fmt: skip
    first = conversations[0]
    assert (first.turns[0].speaker, first.turns[1].speaker) == ("user", "assistant")
    assert first.turns[0].at == datetime(2024, 2, 3, 9, 10, tzinfo=UTC)
    assert first.questions[0].shown == "What is my bicycle called? (asked on 2024/05/01 (Wed) 10:00)"
    assert first.questions[0].at == datetime(2024, 5, 1, 10, 0, tzinfo=UTC)


def test_nothing_that_a_system_sees_gives_the_evidence_away(load):
    seen = "".join(turn.model_dump_json() for one in load().conversations for turn in one.turns)
    for telling in ("answer", "filler", "fx00", "_abs"):
        assert telling not in seen
    ids = {(turn.id, turn.session) for turn in load().conversations[6].turns[:2]}
    assert ids == {("question-7/1:1", "question-7/1"), ("question-7/1:2", "question-7/1")}


def test_evidence_is_kept_apart_by_turn_and_by_session(load):
    plants = load().conversations[3].questions[0]
    assert (plants.gold, plants.answerable, plants.official_id) == ("5", True, "fx000004")
    assert plants.evidence == ("question-4/1:1", "question-4/3:1")
    assert plants.evidence_sessions == ("question-4/1", "question-4/3")


def test_a_question_that_asks_for_abstention_has_no_answer_and_no_evidence(load):
    def marked(data):
        data[6]["haystack_sessions"][0][0]["has_answer"] = True

    cat = load(marked).conversations[6].questions[0]
    assert (cat.answerable, cat.evidence, cat.evidence_sessions) == (False, (), ())
    assert cat.gold.startswith("You did not mention a cat")


def test_sessions_are_sorted_by_date_and_their_evidence_with_them(load):
    def turned(data):
        for key in ("haystack_session_ids", "haystack_dates", "haystack_sessions"):
            data[3][key].reverse()

    assert load(turned).conversations[3].model_dump() == load().conversations[3].model_dump()


def test_turns_without_text_are_left_out(load):
    def silenced(data):
        data[0]["haystack_sessions"][1][0]["content"] = " "

    assert [turn.position for turn in load(silenced).conversations[0].turns] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d[1].update(question_type="guess"), r"\[1\]\.question_type: expected one of single-session-user"),
        (lambda d: d[1].pop("question_date"), r"\[1\]: expected an object with the key 'question_date'"),
        (lambda d: d[1].update(question_date="2024/13/01 (Wed) 10:00"), r"\[1\]\.question_date: expected a date"),
        (lambda d: d[1]["haystack_dates"].pop(), r"\[1\]\.haystack_sessions: expected as many sessions"),
        (lambda d: d[1]["haystack_sessions"][2][1].update(role="tool"), r"sessions\[2\]\[1\]\.role: expected `user`"),
        (lambda d: d[1]["haystack_sessions"][2][1].update(content=None), r"\[2\]\[1\]\.content: expected text"),
        (lambda d: d[1].update(answer=[1]), r"\[1\]\.answer: expected text, found a list"),
    ],
)  # fmt: skip
def test_a_departure_from_the_form_is_named_with_its_place(load, change, message):
    with pytest.raises(InputError, match=message):
        load(change)
