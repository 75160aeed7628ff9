from __future__ import annotations

import asyncio

import pytest
from pydantic import BaseModel

from amem.errors import LLMError, ModelRejected, ModelUnavailable
from amem.llm.metering import Meter
from amem.llm.protocol import LLM, Message, PromptRef, Reply, Request, TokenUsage
from amem.llm.structured import ask
from amem.testing import FaultyLLM, ScriptedLLM, ScriptExhausted


class Fields(BaseModel):
    keywords: list[str]


def asking(prompt="note", content="Alice"):
    return Request(
        prompt=PromptRef(name=prompt, version="v1", hash="00000000"),
        variables={"content": content},
        messages=(Message(role="user", content=content),),
        reply_schema={},
    )


async def texts(llm, *prompts):
    return [(await llm.complete(asking(prompt))).text for prompt in prompts]


# A script


async def test_a_list_answers_in_order_whatever_the_prompt():
    llm = ScriptedLLM(["one", "two"])
    assert await texts(llm, "note", "link") == ["one", "two"]


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("plain", "plain"),
        ({"keywords": ["冬"]}, '{"keywords": ["冬"]}'),
        (Fields(keywords=["a"]), '{"keywords": ["a"]}'),
        (lambda request: f"about {request.variables['content']}", "about Alice"),
        (lambda request: {"keywords": [request.prompt.name]}, '{"keywords": ["note"]}'),
        ("", ""),
    ],
)
async def test_an_answer_may_be_text_json_a_model_or_a_function(answer, text):
    assert await texts(ScriptedLLM([answer]), "note") == [text]


async def test_a_reply_is_given_as_it_is():
    reply = Reply(text="cut", finish_reason="length", usage=TokenUsage(completion_tokens=9), cost=0.1)
    assert await ScriptedLLM([reply]).complete(asking()) == reply


async def test_an_exception_is_raised_also_from_a_function():
    llm = ScriptedLLM([ModelUnavailable("down"), lambda _: ModelRejected("no key")])
    with pytest.raises(ModelUnavailable):
        await llm.complete(asking())
    with pytest.raises(ModelRejected):
        await llm.complete(asking())


async def test_a_function_may_wait():
    async def slow(request):
        await asyncio.sleep(0)
        return "slow"

    assert await texts(ScriptedLLM(slow), "note", "link") == ["slow", "slow"]


async def test_by_prompt_a_list_answers_in_turn_and_a_single_answer_always():
    llm = ScriptedLLM({"note": ["one", "two"], "link": {"links": []}, "evolve": lambda r: r.prompt.name})
    asked = await texts(llm, "link", "note", "evolve", "link", "note")
    assert asked == ['{"links": []}', "one", "evolve", '{"links": []}', "two"]


async def test_running_out_is_an_error_and_never_a_new_start():
    llm = ScriptedLLM({"note": ["one"]})
    await llm.complete(asking())
    for _ in range(2):
        with pytest.raises(ScriptExhausted, match="all 1 replies were given") as caught:
            await llm.complete(asking())
        assert not isinstance(caught.value, LLMError)


async def test_an_unforeseen_prompt_is_an_error_that_names_it():
    with pytest.raises(ScriptExhausted, match="'evolve', only for note"):
        await ScriptedLLM({"note": "x"}).complete(asking("evolve"))


async def test_it_remembers_what_it_was_asked():
    llm = ScriptedLLM(lambda _: "x")
    await texts(llm, "note", "link", "note")
    assert [call.prompt.name for call in llm.calls] == ["note", "link", "note"]
    assert len(llm.calls_of("note")) == 2


async def test_what_was_not_asked_for_can_be_made_an_error():
    llm = ScriptedLLM({"note": ["one", "two"], "link": "x"})
    await texts(llm, "note")
    with pytest.raises(AssertionError, match="note: 1 of 2 replies; link: never asked"):
        llm.assert_complete()
    await texts(llm, "note", "link")
    llm.assert_complete()


async def test_a_list_that_was_asked_for_in_full_is_complete():
    llm = ScriptedLLM(["one"])
    with pytest.raises(AssertionError, match="1 of 1"):
        llm.assert_complete()
    await texts(llm, "note")
    llm.assert_complete()


@pytest.mark.parametrize("script", ["text", Fields(keywords=[]), ModelUnavailable("down")])
def test_a_single_answer_is_no_script(script):
    with pytest.raises(TypeError, match="list of answers"):
        ScriptedLLM(script)


async def test_p8_a_scripted_reply_goes_through_the_parser_and_the_re_ask_like_a_live_one():
    llm, meter = ScriptedLLM(["no JSON", "```json\n{'keywords': ['oslo'],}\n```"]), Meter()
    assert await ask(llm, asking(), Fields, meter=meter, stage="build") == Fields(keywords=["oslo"])
    assert (meter.total.calls, meter.total.failed) == (2, 1)
    assert llm.calls[1].messages != llm.calls[0].messages


# Faults


async def outcomes(llm, *prompts):
    said = []
    for prompt in prompts:
        try:
            said.append((await llm.complete(asking(prompt))).text)
        except LLMError as error:
            said.append(str(error))
    return said


async def test_a_fault_by_number_strikes_that_call_only():
    llm = FaultyLLM(ScriptedLLM(lambda _: "ok"), {2: ModelUnavailable("down")})
    assert await outcomes(llm, "note", "note", "note") == ["ok", "down", "ok"]


async def test_a_fault_by_prompt_strikes_every_call_of_it():
    llm = FaultyLLM(ScriptedLLM(lambda _: "ok"), {"link": ModelUnavailable("down")})
    assert await outcomes(llm, "note", "link", "evolve", "link") == ["ok", "down", "ok", "down"]


async def test_a_list_of_faults_strikes_in_turn_and_then_no_more():
    faults = {"note": [ModelUnavailable("first"), None, ModelRejected("third")]}
    llm = FaultyLLM(ScriptedLLM(lambda _: "ok"), faults)
    assert await outcomes(llm, "note", "link", "note", "note", "note") == ["first", "ok", "ok", "third", "ok"]


async def test_a_call_that_fails_does_not_reach_the_other_model():
    inner = ScriptedLLM(["one"], model="inner")
    llm = FaultyLLM(inner, {1: ModelUnavailable("down")})
    assert await outcomes(llm, "note", "note") == ["down", "one"]
    assert len(inner.calls) == 1
    assert len(llm.calls) == 2
    assert [str(error) for error in llm.raised] == ["down"]
    assert llm.model == "inner"


@pytest.mark.parametrize("llm", [ScriptedLLM([]), FaultyLLM(ScriptedLLM([]), {})])
def test_the_doubles_are_language_models(llm):
    assert isinstance(llm, LLM)
