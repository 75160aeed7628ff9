"""The gate's second half: a model is asked about the turns that rules leave undecided, and code says why of each."""

from __future__ import annotations

import pytest
from support import NOTHING, builds

from amem.errors import BadReply, ModelUnavailable

MOVED = "I moved to Busan in June 2023."
POOR = "Poor you, what a long way to go!"
SWIMS = "I swim there."
ASKS = "Would you like some advice on the currents there?"
YES = "Yes."


def sorts(**told):
    """Answer the gate by what each turn says."""

    def script(request):
        asked = [turn for turn in request.variables["turns"] if turn["number"] is not None]
        return {"turns": [{"turn": turn["number"], "tells": told[turn["text"].split()[0]]} for turn in asked]}

    return script


@pytest.fixture
def gated(open_memory):
    def opened(gate, **settings):
        script = {"gate": gate, "note": builds, "link_evolve": NOTHING}
        return open_memory(script, session_gate="llm", session_buffer=1, window=4, **settings)

    return opened


async def told(memory, *texts):
    """Observe texts, each by whoever's turn it is, and build them."""
    session = memory.session("s1")
    for number, text in enumerate(texts):
        await session.observe(text, speaker="Ana" if number % 2 == 0 else "Ben")
    await session.end()
    return {note.content: note for note in await session.turns()}, session


async def calls(memory):
    return {stage: usage.calls for stage, usage in (await memory.stats()).usage.items()}


async def test_one_call_sorts_a_window_and_what_tells_nothing_stays_raw_with_the_reason(gated):
    async with gated(sorts(Poor="small talk", I="fact", Would="question")) as memory:
        notes, _ = await told(memory, MOVED, POOR, SWIMS, ASKS)
        assert {text: note.status for text, note in notes.items()} == {
            MOVED: "ready", POOR: "pending", SWIMS: "ready", ASKS: "pending"
        }  # fmt: skip
        assert notes[POOR].error == "skipped: the model takes it for small talk"
        assert notes[ASKS].error == "skipped: the model finds that it only asks"
        assert (await calls(memory))["gate"] == 1


async def test_what_is_kept_says_why_in_the_trace(gated):
    async with gated(sorts(Poor="small talk", I="fact", Would="question")) as memory:
        notes, session = await told(memory, MOVED, POOR, SWIMS, ASKS)
        (build,) = [step for step in session.trace if step.step == "build"]
        assert build.wrote == (notes[MOVED].id, notes[SWIMS].id)
        assert set(build.remarks) == {
            f"{notes[MOVED].id}: it has a number",
            f"{notes[POOR].id}: skipped: the model takes it for small talk",
            f"{notes[SWIMS].id}: the model finds that it tells a fact",
            f"{notes[ASKS].id}: skipped: the model finds that it only asks",
        }


async def test_where_rules_decide_no_call_is_made(gated):
    async with gated([]) as memory:
        notes, _ = await told(memory, MOVED, "Thanks!")
        assert notes["Thanks!"].error == "skipped: it is small talk"
        assert "gate" not in await calls(memory)


async def test_turns_that_rules_have_decided_are_shown_for_understanding_only(gated):
    seen = []

    def script(request):
        seen.append([(turn["number"], turn["text"]) for turn in request.variables["turns"]])
        return {"turns": []}

    async with gated(script) as memory:
        await told(memory, MOVED, POOR)
    assert seen == [[(None, MOVED), (1, POOR)]]


async def test_an_answer_is_kept_however_short(gated):
    async with gated(sorts(Would="question")) as memory:
        notes, _ = await told(memory, ASKS, YES)
        assert notes[YES].status == "ready"


@pytest.mark.parametrize(
    "reply", [{"turns": []}, {"turns": [{"turn": 9, "tells": "small talk"}]}, BadReply("what?", "what?")]
)
async def test_a_model_that_does_not_say_keeps_nobody_out(gated, reply):
    async with gated(lambda _: reply) as memory:
        notes, _ = await told(memory, POOR)
        assert notes[POOR].status == "ready"


async def test_p1_an_outage_leaves_the_window_pending_as_any_other_would(gated):
    async with gated(lambda _: ModelUnavailable("down")) as memory:
        notes, _ = await told(memory, MOVED, POOR)
        assert {note.pending_reason for note in notes.values()} == {"failed"}


async def test_it_is_off_unless_asked_for_and_never_asks_in_paper(open_memory):
    async with open_memory({"note": builds, "link_evolve": NOTHING}) as memory:
        notes, _ = await told(memory, POOR)
        assert notes[POOR].status == "ready"
    one_by_one = {"note": builds, "link": {"links": []}, "evolve": {"tags": [], "changes": []}}
    async with open_memory(one_by_one, strategy="paper", session_gate="llm", path="other") as memory:
        notes, _ = await told(memory, POOR)
        assert notes[POOR].status == "ready"


async def test_what_is_added_by_hand_is_not_sifted(gated):
    async with gated([]) as memory:
        result = await memory.add(POOR)
        assert (result.status, result.kept) == ("ready", None)
