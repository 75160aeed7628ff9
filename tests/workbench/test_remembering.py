from __future__ import annotations

from datetime import UTC, datetime, timedelta

from amem.llm.metering import Meter
from amem.settings import Settings
from amem.testing import HashEmbedder, RecordedLLM, ScriptedLLM
from amem.workbench.answers import Answers
from amem.workbench.labelled import QuestionCase, Spoken, load_conversation
from amem.workbench.remembering import DEPTHS, remembered, windows

NOON = datetime(2025, 1, 11, 12, tzinfo=UTC)
WORDS = [
    "anchor",
    "basalt",
    "cello",
    "dune",
    "ember",
    "fjord",
    "gravel",
    "harbour",
    "iris",
    "jasmine",
    "kelp",
    "lantern",
]
SPOKEN = [
    Spoken(
        id=f"turn-{i:03d}", session=f"s{i // 6}", speaker="Ana", at=NOON + timedelta(minutes=i), text=f"It is {word}."
    )
    for i, word in enumerate(WORDS)
]
QUESTION = QuestionCase(
    id="question-001",
    half="develop",
    language="en",
    sort="single",
    question="Who has the zeppelin?",
    evidence=("turn-007",),
    answer="Ana.",
    facts=(("Ana",),),
)


def telling(word):
    """Build notes, and tell of the zeppelin in the context of the turn that has a word."""

    def build(request):
        return {
            "notes": [
                {
                    "turn": turn["number"],
                    "keywords": [],
                    "tags": ["told"],
                    "context": "Ana has the zeppelin." if word in turn["text"] else "Ana says something.",
                }
                for turn in request.variables["turns"]
            ]
        }

    return {"note": build}


async def trials(shop, folder, script, put):
    llm = RecordedLLM(folder, real=ScriptedLLM(script, model=folder.name), mode="live")
    return await Answers(llm, Meter()).all([(window.case, shop.set()) for window in put])


def test_a_window_keeps_to_its_session_and_shows_the_turns_before_it():
    put = windows(SPOKEN, Settings(window=4))
    assert [len(window.turns) for window in put] == [4, 2, 4, 2]
    assert [len(window.case.variables["earlier"]) for window in put] == [0, 2, 0, 2]
    assert [turn for window in put for turn in window.turns] == [turn.id for turn in SPOKEN]


def test_the_shipped_conversation_is_put_whole():
    spoken = load_conversation()
    assert sum(len(window.turns) for window in windows(spoken, Settings())) == len(spoken)


async def test_notes_that_tell_what_is_asked_are_found_and_others_are_not(shop, tmp_path):
    put = windows(SPOKEN, Settings())
    right = await trials(shop, tmp_path / "right", telling("harbour"), put)
    wrong = await trials(shop, tmp_path / "wrong", telling("cello"), put)
    found = await remembered(SPOKEN, [QUESTION], put, right, wrong, embedder=HashEmbedder())
    assert [score.depth for score in found.scores] == list(DEPTHS)
    assert found.scores[0].a.value == 1.0
    assert found.scores[0].b.value < 1.0
    assert (found.built_a, found.built_b, found.turns) == (12, 12, 12)
    assert found.a.calls == len(put)


async def test_windows_without_a_reply_are_counted_and_their_turns_stay_raw(shop, tmp_path):
    put = windows(SPOKEN, Settings())
    right = await trials(shop, tmp_path / "right", telling("harbour"), put)
    none = await Answers(RecordedLLM(tmp_path / "none"), Meter()).all([(window.case, shop.set()) for window in put])
    found = await remembered(SPOKEN, [QUESTION], put, right, none, embedder=HashEmbedder())
    assert (found.missing_a, found.missing_b, found.built_b) == (0, len(put), 0)
    assert found.scores[0].b == found.scores[0].plain
