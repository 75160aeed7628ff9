from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from dialsim_support import FIXTURE, fixture_parts, write_pickles
from locomo_support import write_mini

from amem.errors import InputError
from amem.interfaces.cli.shipped import benchmarks_module

dialsim = benchmarks_module("datasets.dialsim")
draw = benchmarks_module("datasets.dialsim_draw")
from_locomo = benchmarks_module("datasets.from_locomo")
locomo = benchmarks_module("datasets.locomo")
notes = benchmarks_module("datasets.notes")
opening = benchmarks_module("datasets.opening")
plans = benchmarks_module("datasets.dialsim_plan")
summary = benchmarks_module("datasets.summary").summary

LONGMEMEVAL = Path(__file__).parents[1] / "fixtures" / "longmemeval_fixture.json"


def captioned(data):
    data[0]["conversation"]["session_1"][1]["blip_caption"] = "a red hull"


@pytest.fixture
def ana_and_ben(tmp_path):
    return opening.open_dataset(write_mini(tmp_path, change=captioned)).conversation("conv-26")


def test_locomos_turns_come_in_one_order_with_ids_of_their_own(ana_and_ben):
    assert [(turn.id, turn.session, turn.position) for turn in ana_and_ben.turns[2:4]] == [
        ("conv-26/D1:3", "conv-26/session_1", 2), ("conv-26/D2:1", "conv-26/session_2", 3),
    ]  # fmt: skip
    last = ana_and_ben.turns[-1]
    assert (last.at, last.stated) == (datetime(2023, 6, 2, 9, 0, tzinfo=UTC), "9:00 am on 2 June, 2023")
    assert list(ana_and_ben.sessions) == ["conv-26/session_1", "conv-26/session_2"]


def test_captions_are_part_of_what_was_said_or_left_out(tmp_path):
    path = write_mini(tmp_path, change=captioned)
    texts = [opening.open_dataset(path, captions=captions).conversations[0].turns[1].text for captions in (True, False)]
    assert texts == ["What colour is the hull? [image: a red hull]", "What colour is the hull?"]


def test_locomos_questions_are_asked_when_all_is_said(ana_and_ben):
    asked = ana_and_ben.questions[2]
    assert (asked.key, asked.category, asked.gold, asked.answerable) == ("conv-26#2", "1", "visit her", True)
    assert asked.evidence == ("conv-26/D1:1", "conv-26/D2:4")
    assert asked.evidence_sessions == ("conv-26/session_1", "conv-26/session_2")
    assert asked.at == ana_and_ben.turns[-1].at
    assert ana_and_ben.history(asked) == ana_and_ben.turns


def test_an_adversarial_question_has_a_trap_and_no_gold(ana_and_ben):
    asked = ana_and_ben.questions[4]
    assert (asked.answerable, asked.gold, asked.trap) == (False, None, "red")


def test_notes_are_those_that_an_import_makes(ana_and_ben):
    first, second, *_ = notes.as_notes(ana_and_ben.turns)
    assert (first.content, first.speaker, first.source) == ("I bought a sailing boat.", "Ana", "conv-26/D1:1")
    assert (second.session_id, second.occurred_at) == ("conv-26/session_1", ana_and_ben.turns[1].at)


def test_a_conversation_without_turns_has_no_questions(tmp_path):
    def emptied(data):
        for session in (1, 2):
            del data[1]["conversation"][f"session_{session}"]

    assert opening.open_dataset(write_mini(tmp_path, change=emptied)).conversation("conv-1").questions == ()


def test_a_path_is_opened_as_what_it_holds(tmp_path):
    mini, folder = write_mini(tmp_path), write_pickles(tmp_path / "shows", fixture_parts())
    found = {path: opening.open_dataset(path).format for path in (mini, folder, FIXTURE, LONGMEMEVAL)}
    assert list(found.values()) == ["locomo", "dialsim", "dialsim", "longmemeval"]


@pytest.mark.parametrize("content", ["", "hello", "\xff\xfe"])
def test_what_is_no_data_set_is_an_input_error(tmp_path, content):
    path = tmp_path / "x"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(InputError):
        opening.open_dataset(path)
    with pytest.raises(InputError, match="cannot be read"):
        opening.open_dataset(tmp_path / "nowhere.json")


def test_what_has_no_effect_on_a_data_set_is_refused(tmp_path):
    path = write_mini(tmp_path)
    for given in ({"plan": path}, {"shows": ("friends",)}, {"seed": 1}, {"episodes": 2}, {"answers": "open"},
                  {"names": "shuffle"}):  # fmt: skip
        with pytest.raises(InputError, match=f"format of locomo, in which there is no choice of {next(iter(given))}"):
            opening.open_dataset(path, **given)
    for other in (FIXTURE, LONGMEMEVAL):
        with pytest.raises(InputError, match="no choice of captions"):
            opening.open_dataset(other, captions=False)


def test_a_plan_chooses_the_shows_and_their_questions(tmp_path):
    plan = draw.draw(dialsim.load(FIXTURE, ["friends"]), 3)
    plans.write(plan, tmp_path / "plan.jsonl")
    data = opening.open_dataset(FIXTURE, plan=tmp_path / "plan.jsonl", answers="open")
    assert [one.id for one in data.conversations] == ["friends"]
    assert [one.category for one in data.conversations[0].questions] == [one.bucket for one in plan.questions]
    drawn = opening.open_dataset(FIXTURE, shows=("friends",), seed=3, answers="open")
    assert drawn == data


def test_texts_of_others_are_marked_so_that_no_report_shows_them(tmp_path):
    assert all(opening.open_dataset(path).restricted for path in (write_mini(tmp_path), FIXTURE, LONGMEMEVAL))


def test_a_summary_counts_what_is_there(tmp_path):
    found = summary(opening.open_dataset(write_mini(tmp_path)), "mini.json")
    assert found.all.model_dump() == {
        "sessions": 4, "turns": 14, "words": 74, "first": "2023-05-08", "last": "2023-06-02", "questions": 7,
        "unanswerable": 1, "with_evidence": 6, "by_category": {"1": 1, "3": 1, "4": 4, "5": 1},
    }  # fmt: skip
    assert found.conversations["conv-26"].questions == 5
    assert json.loads(found.model_dump_json())["category_names"]["1"] == "multi-hop"
