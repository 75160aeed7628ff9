from __future__ import annotations

import pytest
from locomo_support import write_mini

from amem.errors import InputError
from amem.interfaces.cli.shipped import benchmarks_module

config = benchmarks_module("runs.config")
opening = benchmarks_module("datasets.opening")
selecting = benchmarks_module("runs.selecting")


@pytest.fixture
def selected(tmp_path):
    data = opening.open_dataset(write_mini(tmp_path))

    def select(**wanted):
        return selecting.selected(data, config.Data(path=tmp_path, **wanted)).conversations

    return select


def test_everything_is_asked_by_default(selected):
    assert [(one.id, len(one.turns), len(one.questions)) for one in selected()] == [("conv-26", 7, 5), ("conv-1", 7, 2)]


def test_the_first_sessions_are_taken_in_and_only_what_can_be_known_is_asked(selected):
    (one, other) = selected(sessions=1, questions="evidence_within")
    assert [turn.session for turn in one.turns] == ["conv-26/session_1"] * 3
    assert [question.index for question in one.questions] == [0, 4]
    assert {(question.after, question.at) for question in one.questions} == {(3, one.turns[-1].at)}
    assert [question.index for question in other.questions] == [0]


def test_categories_conversations_and_a_number_of_questions_can_be_chosen(selected):
    (one,) = selected(conversations=["conv-26"], categories=["4"], limit=1)
    assert [question.index for question in one.questions] == [0]


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"conversations": ["conv-9"]}, "no conversation 'conv-9'"),
        ({"categories": ["9"]}, "no category '9'; there are 1, 3, 4, 5"),
        ({"conversations": ["conv-1"], "categories": ["5"]}, "no question is left"),
    ],
)
def test_what_is_not_there_is_refused(selected, wanted, message):
    with pytest.raises(InputError, match=message):
        selected(**wanted)
