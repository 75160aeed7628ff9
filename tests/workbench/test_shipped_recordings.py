"""The recordings of a small local model that stand in the repository, and what docs/prompts.md says of them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from amem.llm.metering import Meter
from amem.llm.recording_file import case_of
from amem.prompts import PromptSet
from amem.settings import Settings
from amem.testing import RecordedLLM
from amem.workbench.answers import Answers
from amem.workbench.cases import read_all
from amem.workbench.checking import check
from amem.workbench.judging import judge
from amem.workbench.labelled import QuestionCase, load, load_conversation
from amem.workbench.putting import put
from amem.workbench.remembering import remembered, windows

RECORDINGS = Path(__file__).parent.parent / "recordings" / "prompts"
DOCS = Path(__file__).parent.parent.parent / "docs" / "prompts.md"


def test_every_recording_is_what_its_prompt_asks_today():
    assert check([RECORDINGS]).findings == ()


def test_there_are_as_many_cases_as_is_said():
    found = Counter(
        (version, name)
        for version, name, _ in {
            (one.request.prompt.version, one.request.prompt.name, case_of(one.request))
            for one in read_all([RECORDINGS]).values()
        }
    )
    v2 = {"link": 122, "note": 58, "link_evolve": 39, "evolve": 35, "answer": 35}
    assert found == {("v2", name): count for name, count in v2.items()} | {
        ("v1", "link"): 36, ("v1", "note"): 38, ("v1", "evolve"): 17,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("version", "prompt", "measures"),
    [
        ("v2", "link", ["links, balanced accuracy"]),
        ("v2", "note", ["dates resolved", "facts kept"]),
        ("v2", "evolve", ["wrong changes", "changes made where due", "new facts told"]),
        ("v1", "evolve", ["wrong changes", "changes made where due", "new facts told"]),
        ("v2", "answer", ["answers right"]),
    ],
)
async def test_the_replies_to_the_reporting_half_are_as_good_as_is_said(version, prompt, measures):
    puts = put("report", [prompt])
    trials = await Answers(RecordedLLM(RECORDINGS), Meter()).all([(one.case, PromptSet(version)) for one in puts])
    found = {score.measure: score.a for score in judge("report", puts, trials, trials).scores}
    for measure in measures:
        assert interval(found[measure]) in DOCS.read_text("utf-8").replace("**", "")


async def test_the_notes_of_either_version_are_found_as_often_as_is_said():
    spoken, asked = load_conversation(), windows(load_conversation(), Settings())
    trials = [
        await Answers(RecordedLLM(RECORDINGS), Meter()).all([(one.case, PromptSet(version)) for one in asked])
        for version in ("v1", "v2")
    ]
    found = await remembered(spoken, load(QuestionCase), asked, *trials)
    row = "| {} | {} | {} | 34 questions | the raw turns: {} |"
    for what, score in zip(("evidence among 5 notes found", "– among 10 notes"), found.scores, strict=True):
        assert row.format(what, *map(interval, (score.a, score.b, score.plain))) in DOCS.read_text("utf-8")
    assert f"| {found.built_a} | {found.built_b} | {found.turns} turns |" in DOCS.read_text("utf-8")


def judged(prompt, field):
    """The notes that each reply of v2 judges, with those that it was shown."""
    for one in read_all([RECORDINGS]).values():
        if (one.request.prompt.version, one.request.prompt.name) == ("v2", prompt):
            shown = {note["number"] for note in one.request.variables["neighbours"]}
            yield [pair["neighbour"] for pair in json.loads(one.reply.text)[field]], shown


@pytest.mark.parametrize(("prompt", "field"), [("link", "links"), ("evolve", "changes")])
def test_there_is_one_judgement_for_each_neighbour_that_was_shown(prompt, field):
    for numbers, shown in judged(prompt, field):
        assert sorted(numbers) == sorted(shown)


def interval(score):
    value, low, high = (without_zero(number) for number in (score.value, score.low, score.high))
    return f"{value} [{low}, {high}]"


def without_zero(number):
    return f"{number:.2f}".removeprefix("0")
