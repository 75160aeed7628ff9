from __future__ import annotations

import pytest
from support import builds

from amem.errors import ModelUnavailable
from amem.llm.metering import Meter
from amem.llm.protocol import Reply
from amem.replies import LinkReply, NoteReply
from amem.testing import FaultyLLM, RecordedLLM, ScriptedLLM
from amem.workbench.cases import Case
from amem.workbench.trials import pipeline_check, try_request

RUSSIAN = {
    "earlier": [],
    "turns": [{"number": 0, "date": "2024-02-03", "speaker": None, "text": "Я продала лодку в Одессе."}],
}
ENGLISH = {"notes": [{"turn": 0, "keywords": ["boat"], "tags": [], "context": "Ana sold her boat in Odessa."}]}


def trial(shop, *replies, variables=RUSSIAN, meter=None):
    request = Case.given("note", variables).request(shop.set())
    return try_request(request, shop.set(), ScriptedLLM({"note": list(replies)}), meter)


async def test_a_reply_is_understood_as_the_pipeline_understands_it(shop):
    notes = '[{"turn": 0, "keywords": [], "tags": ["t"], "context": "Ана продала лодку."}]'
    fenced = f'Here it is:\n```json\n{{"notes": {notes}}}\n```'
    found = await trial(shop, fenced)
    assert found.usable
    assert found.value == {"notes": [{"turn": 0, "keywords": [], "tags": ["t"], "context": "Ана продала лодку."}]}
    assert found.said == fenced


async def test_a_context_in_another_language_is_asked_again_as_in_the_pipeline(shop):
    found = await trial(shop, ENGLISH, builds)
    assert found.usable
    assert len(found.replies) == 2
    assert found.usage.calls == 2
    assert found.usage.failed == 1


async def test_a_reply_that_stays_useless_has_a_problem_and_is_not_missing(shop):
    found = await trial(shop, "no", "no again")
    assert (found.usable, found.missing) == (False, False)
    assert found.problem
    assert found.said == "no again"


async def test_a_refusal_is_a_problem(shop):
    found = await trial(shop, Reply(text="I will not.", finish_reason="refusal"))
    assert "declined" in found.problem


async def test_what_is_not_recorded_is_missing(shop):
    request = Case.given("note", RUSSIAN).request(shop.set())
    found = await try_request(request, shop.set(), RecordedLLM(shop.recordings))
    assert found.missing
    assert "NO recording" in found.problem


async def test_an_outage_is_raised(shop):
    request = Case.given("note", RUSSIAN).request(shop.set())
    llm = FaultyLLM(ScriptedLLM({"note": builds}), {1: ModelUnavailable("down")})
    with pytest.raises(ModelUnavailable):
        await try_request(request, shop.set(), llm)


async def test_spending_is_counted_in_the_meter_that_is_given(shop):
    meter = Meter()
    await trial(shop, builds, meter=meter)
    assert meter.total.calls == 1


async def test_a_prompt_for_plain_text_is_answered_in_text(shop):
    shop.reword("note", 'output = "NoteReply"\n', "")
    found = await trial(shop, "<think>hm</think>Just words.")
    assert found.value == "Just words."


def test_there_is_no_check_for_other_replies_or_variables_of_another_shape(shop):
    request = Case.given("note", RUSSIAN).request(shop.set())
    assert pipeline_check(request, LinkReply) is None
    assert pipeline_check(request.model_copy(update={"variables": {"turns": ["text"]}}), NoteReply) is None
