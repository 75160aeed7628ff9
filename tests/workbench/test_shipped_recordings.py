"""The recordings of a small local model that stand in the repository, and what docs/prompts.md says of them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from amem.llm.metering import Meter
from amem.llm.recording_file import case_of
from amem.prompts import PromptSet
from amem.testing import RecordedLLM
from amem.workbench.answers import Answers
from amem.workbench.cases import read_all
from amem.workbench.checking import check
from amem.workbench.judging import judge
from amem.workbench.putting import put

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
    v2 = {"link": 110, "note": 48, "link_evolve": 39, "evolve": 35, "answer": 28}
    assert found == {("v2", name): count for name, count in v2.items()} | {
        ("v1", "link"): 36, ("v1", "note"): 20, ("v1", "evolve"): 17,
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
        value, low, high = (
            without_zero(number) for number in (found[measure].value, found[measure].low, found[measure].high)
        )
        assert f"{value} [{low}, {high}]" in DOCS.read_text("utf-8").replace("**", "")


def judged(prompt, field):
    """The notes that each reply of v2 judges, with those that it was shown."""
    for one in read_all([RECORDINGS]).values():
        if (one.request.prompt.version, one.request.prompt.name) == ("v2", prompt):
            shown = {note["number"] for note in one.request.variables["neighbours"]}
            yield [pair["neighbour"] for pair in json.loads(one.reply.text)[field]], shown


def test_replies_that_go_on_about_notes_nobody_showed_are_as_many_as_is_said():
    replies = [*judged("link", "links"), *judged("evolve", "changes")]
    assert sum(not set(numbers) <= shown for numbers, shown in replies) == 15
    assert sum(len(numbers) == 12 for numbers, _ in replies) == 4
    assert "15 replies of `link` and `evolve`" in DOCS.read_text("utf-8")


def without_zero(number):
    return f"{number:.2f}".removeprefix("0")
