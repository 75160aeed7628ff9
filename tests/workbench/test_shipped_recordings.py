"""The recordings of a small local model that stand in the repository, and what docs/prompts.md says of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from amem.llm.metering import Meter
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


def test_there_are_as_many_as_is_said():
    found = Counter(recording.request.prompt.name for recording in read_all([RECORDINGS]).values())
    assert found == {"link": 107, "note": 6}


async def test_the_links_of_the_reporting_half_are_as_good_as_is_said():
    puts = put("report", ["link"])
    llm = RecordedLLM(RECORDINGS)
    trials = await Answers(llm, Meter()).all([(one.case, PromptSet("v2")) for one in puts])
    found = {score.measure: score.a for score in judge("report", puts, trials, trials).scores}
    balanced = found["links, balanced accuracy"]
    said = f"**{balanced.value:.2f}** [{balanced.low:.2f}, {balanced.high:.2f}] of {balanced.count} pairs".replace(
        "0.", "."
    )
    assert said in DOCS.read_text("utf-8")
