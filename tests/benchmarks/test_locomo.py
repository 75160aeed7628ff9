from __future__ import annotations

import copy
import json
import os
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amem.errors import InputError
from amem.interfaces.cli.shipped import benchmarks_module

locomo = benchmarks_module("datasets.locomo")
months = benchmarks_module("datasets.months")

REAL = os.environ.get("AMEM_LOCOMO")
real_file = pytest.mark.skipif(REAL is None, reason="AMEM_LOCOMO does not name the official locomo10.json")

MINI = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ana",
            "speaker_b": "Ben",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ana", "dia_id": "D1:1", "text": " I bought a boat! \n", "re-download": True},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "Show me.", "img_url": ["https://example.org/b.jpg"],
                 "blip_caption": "a photo of a red boat", "query": "red sailing boat harbour"},
                {"speaker": "Ana", "dia_id": "D1:3", "text": "There.", "blip_caption": "a jetty"},
            ],
            "session_2_date_time": "12:05 am on 29 February, 2024",
            "session_2": [{"speaker": "Ben", "dia_id": "D2:1", "text": "It sank."}],
            "session_3_date_time": "9:00 am on 1 March, 2024",
        },
        "qa": [
            {"question": "When did the boat sink? ", "answer": 2024, "evidence": ["D2:1; D1:1"], "category": 2},
            {"question": "Its colour?", "answer": "red", "evidence": ["D:1:02", "D1:2", "D", "D9:9"], "category": 4},
            {"question": "Why?", "answer": "unknown", "evidence": [], "category": 3},
            {"question": "Who sank Ana's car?", "adversarial_answer": "Ben", "evidence": ["D2:1"], "category": 5},
        ],
        "event_summary": {"events_session_1": {"Ana": ["buys a boat"], "date": "8 May, 2023"}},
        "observation": {"session_1_observation": {"Ana": [["Ana owns a boat.", "D1:1"]]}},
        "session_summary": {"session_1_summary": "They talk about a boat."},
    }
]  # fmt: skip


@pytest.fixture
def load(tmp_path):
    def loaded(data=MINI):
        path = tmp_path / "locomo.json"
        path.write_text(data if isinstance(data, str) else json.dumps(data))
        return locomo.load(path)

    return loaded


def test_turns_come_in_sessions_with_dates_and_the_dates_words(load):
    first, second = load().conversations[0].sessions
    assert (first.number, first.at, first.stated) == (
        1, datetime(2023, 5, 8, 13, 56, tzinfo=UTC), "1:56 pm on 8 May, 2023",
    )  # fmt: skip
    assert second.at == datetime(2024, 2, 29, 0, 5, tzinfo=UTC)
    assert [turn.id for turn in first.turns] == ["D1:1", "D1:2", "D1:3"]


def test_a_date_without_a_session_is_no_session(load):
    assert [session.number for session in load().conversations[0].sessions] == [1, 2]


def test_captions_stand_in_what_was_said_with_or_without_an_image(load):
    turns = load().conversations[0].sessions[0].turns
    assert [turn.said for turn in turns] == [
        "I bought a boat!", "Show me. [image: a photo of a red boat]", "There. [image: a jetty]",
    ]  # fmt: skip
    assert [turn.has_image for turn in turns] == [False, True, False]


def test_nothing_of_what_the_annotators_or_models_added_is_read(load):
    text = load().model_dump_json()
    for added in ("sailing boat harbour", "buys a boat", "owns a boat", "They talk about"):
        assert added not in text


def test_questions_keep_their_place_and_numbers_become_text(load):
    questions = load().conversations[0].questions
    assert [(q.index, q.question, q.answer) for q in questions[:3]] == [
        (0, "When did the boat sink?", "2024"), (1, "Its colour?", "red"), (2, "Why?", "unknown"),
    ]  # fmt: skip
    assert locomo.CATEGORIES[questions[0].category] == "temporal"


def test_an_adversarial_question_has_a_trap_and_no_answer(load):
    question = load().conversations[0].questions[3]
    assert (question.answer, question.adversarial_answer) == (None, "Ben")


def test_evidence_is_repaired_and_what_names_no_turn_is_kept_apart(load):
    first, second, third, _ = load().conversations[0].questions
    assert first.evidence == ("D2:1", "D1:1")
    assert second.evidence == ("D1:2",)
    assert second.unresolved == ("D", "D9:9")
    assert third.evidence == ()


@given(st.lists(st.text("D:0123456789;, ", max_size=12), max_size=4))
def test_evidence_of_any_form_names_known_turns_once_or_is_unresolved(entries):
    ids, unresolved = locomo.repair_evidence(entries, {"D1:1", "D2:1"})
    assert set(ids) <= {"D1:1", "D2:1"}
    assert len(set(ids)) == len(ids)
    assert not set(unresolved) & {"D1:1", "D2:1"}


def test_another_file_than_the_official_one_is_said_to_be_another(load):
    assert "not the official file" in load().warnings[0]
    assert load().sha256 in load().warnings[0]


def test_an_unknown_conversation_is_an_error_that_lists_the_known_ones(load):
    assert load().conversation("conv-1").speakers == ("Ana", "Ben")
    with pytest.raises(InputError, match="conv-1"):
        load().conversation("conv-2")


def turn(conversation):
    return conversation["conversation"]["session_1"][1]


def changed(change):
    data = copy.deepcopy(MINI)
    change(data[0])
    return data


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: turn(c).update(dia_id="D1:7"),
         r"\[0\]\.conversation\.session_1\[1\]\.dia_id: expected the id 'D1:2', found text 'D1:7'"),
        (lambda c: turn(c).update(speaker="Zoe"), r"session_1\[1\]\.speaker: expected one of"),
        (lambda c: turn(c).update(text=3), r"session_1\[1\]\.text: expected text, found a number"),
        (lambda c: turn(c).pop("text"), r"session_1\[1\]: expected an object with the key 'text'"),
        (lambda c: c["conversation"].update(session_1_date_time="May"), r"session_1_date_time: expected a date"),
        (lambda c: c["conversation"].update(session_1_date_time="1:56 pm on 31 June, 2023"), "expected a date such as"),
        (lambda c: c["conversation"].pop("session_2_date_time"), "key 'session_2_date_time'"),
        (lambda c: c["conversation"].update(session_1={}), r"session_1: expected a list, found an object"),
        (lambda c: c["qa"][0].update(category=6), r"\[0\]\.qa\[0\]\.category: expected a category from 1 to 5"),
        (lambda c: c["qa"][0].pop("answer"), r"\[0\]\.qa\[0\]: expected an `answer`"),
        (lambda c: c["qa"][0].update(evidence="D1:1"), r"qa\[0\]\.evidence: expected a list"),
        (lambda c: c.pop("sample_id"), r"\[0\]: expected an object with the key 'sample_id'"),
    ],
)  # fmt: skip
def test_a_departure_from_the_schema_is_named_with_its_place(load, change, message):
    with pytest.raises(InputError, match=message):
        load(changed(change))


@pytest.mark.parametrize("content", ["{", '{"a": 1}', "[1]", "null"])
def test_another_kind_of_file_is_an_input_error(load, content):
    with pytest.raises(InputError):
        load(content)


@pytest.mark.parametrize("hour", ["12:00 am", "1:00 am", "12:00 pm", "11:59 pm"])
def test_hours_are_those_of_a_twelve_hour_clock(hour):
    expected = {"12:00 am": (0, 0), "1:00 am": (1, 0), "12:00 pm": (12, 0), "11:59 pm": (23, 59)}[hour]
    moment = months.parse_locomo(f"{hour} on 3 July, 2023")
    assert (moment.hour, moment.minute) == expected


def test_the_benchmarks_are_found_under_one_name_and_no_other_package_is_taken_for_them():
    assert locomo.__name__ == "amem._benchmarks.datasets.locomo"
    assert sys.modules["amem._benchmarks"].__file__ == str(Path(locomo.__file__).parents[1] / "__init__.py")


@pytest.fixture(scope="module")
def official():
    return locomo.load(Path(REAL))


@real_file
def test_the_official_file_has_the_published_counts(official):
    turns = [turn for c in official.conversations for s in c.sessions for turn in s.turns]
    assert official.warnings == ()
    assert len(official.conversations) == 10
    assert sum(len(c.sessions) for c in official.conversations) == 272
    assert len(turns) == 5882
    assert sum(turn.has_image for turn in turns) == 910
    assert sum(turn.caption is not None for turn in turns) == 1226


@real_file
def test_the_official_file_has_the_published_questions(official):
    questions = [question for c in official.conversations for question in c.questions]
    assert Counter(question.category for question in questions) == {1: 282, 2: 321, 3: 96, 4: 841, 5: 446}
    assert sum(question.category == 5 and question.answer is None for question in questions) == 444
    assert all(isinstance(question.answer, str) for question in questions if question.category != 5)


@real_file
def test_the_official_evidence_is_repaired_whole(official):
    questions = [question for c in official.conversations for question in c.questions]
    assert sum(bool(question.evidence) for question in questions) == 1982
    assert sum(len(question.evidence) for question in questions) == 2820
    assert sum(len(question.unresolved) for question in questions) == 3
