"""Asking for a typed answer: what is asked again, what is not, and that no request is sent twice."""

from __future__ import annotations

import json

import pytest
from pydantic import BaseModel

from amem.errors import BadReply, BudgetSpent, EmptyReply, ModelRefused, ModelUnavailable, TruncatedReply
from amem.llm.metering import Budget, Meter
from amem.llm.protocol import Reply, TokenUsage
from amem.llm.structured import ask, ask_text


class Fields(BaseModel):
    keywords: list[str]
    context: str


GOOD = '{"keywords": ["race"], "context": "Melanie ran."}'
FIELDS = Fields(keywords=["race"], context="Melanie ran.")
LOOP = '{"keywords": [' + '"race", ' * 60
USAGE = TokenUsage(prompt_tokens=10, completion_tokens=5)


class Scripted:
    """Gives its replies in order, and keeps what it was asked."""

    model = "scripted"

    def __init__(self, *replies: Reply | str | Exception) -> None:
        self.left = list(replies)
        self.asked = []

    async def complete(self, request):
        self.asked.append(request)
        reply = self.left.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return Reply(text=reply, usage=USAGE, cost=0.01) if isinstance(reply, str) else reply


def cut(text: str = '{"keywords": ["ra') -> Reply:
    return Reply(text=text, finish_reason="length", usage=USAGE, cost=0.01)


async def test_a_good_reply_takes_one_call(make_request):
    llm, meter = Scripted(GOOD), Meter()
    assert await ask(llm, make_request(), Fields, meter=meter, stage="build") == FIELDS
    usage = meter.by_stage()["build"]
    assert (usage.calls, usage.failed, usage.prompt_tokens, usage.completion_tokens) == (1, 0, 10, 5)


async def test_a_bad_reply_is_shown_back_once_with_what_is_wrong(make_request):
    bad = '{"keywords": "race", "context": "Melanie ran."}'
    llm, meter, request = Scripted(bad, GOOD), Meter(), make_request(schema={"type": "object"})
    assert await ask(llm, request, Fields, meter=meter, stage="build") == FIELDS
    first, second = llm.asked
    assert first == request
    assert second.messages[:2] == request.messages
    said, wanted = second.messages[2:]
    assert (said.role, said.content) == ("assistant", bad)
    assert wanted.role == "user"
    assert "keywords: Input should be a valid list" in wanted.content
    assert second.prompt == request.prompt
    assert second.variables == request.variables


async def test_a_second_bad_reply_is_an_error_that_holds_it(make_request):
    llm, meter = Scripted("no idea", "still no idea"), Meter()
    with pytest.raises(BadReply, match=r"^note: there is no JSON object in it .*asked again") as caught:
        await ask(llm, make_request(), Fields, meter=meter, stage="build")
    assert caught.value.text == "still no idea"
    assert len(llm.asked) == 2
    usage = meter.total
    assert (usage.calls, usage.failed, usage.prompt_tokens, usage.cost) == (2, 2, 20, 0.02)


async def test_an_empty_reply_is_asked_again_and_never_sent_back_empty(make_request):
    llm = Scripted("", "<think>hm")
    with pytest.raises(EmptyReply):
        await ask(llm, make_request(), Fields, meter=Meter(), stage="build")
    assert llm.asked[0] != llm.asked[1]
    assert all(message.content for message in llm.asked[1].messages)


async def test_a_long_bad_reply_is_shown_back_shortened_and_without_its_reasoning(make_request):
    llm = Scripted("<think>secret plan</think>" + "blah " * 2000, GOOD)
    await ask(llm, make_request(), Fields, meter=Meter(), stage="build")
    shown = llm.asked[1].messages[2].content
    assert len(shown) < 1000
    assert "secret plan" not in shown


async def test_a_cut_reply_gets_twice_the_room_and_is_not_shown_back(make_request):
    llm, meter = Scripted(cut(), GOOD), Meter()
    assert await ask(llm, make_request(), Fields, meter=meter, stage="build") == FIELDS
    assert [request.params["max_tokens"] for request in llm.asked] == [64, 128]
    assert llm.asked[0].messages == llm.asked[1].messages
    assert (meter.total.calls, meter.total.failed) == (2, 1)


async def test_a_cut_reply_without_a_cap_gets_twice_what_it_took(make_request):
    llm = Scripted(cut(), GOOD)
    await ask(llm, make_request(max_tokens=None), Fields, meter=Meter(), stage="build")
    assert llm.asked[1].params["max_tokens"] == 10


async def test_a_reply_cut_twice_is_an_error_and_not_billed_a_third_time(make_request):
    llm = Scripted(cut(), cut(), GOOD)
    with pytest.raises(TruncatedReply, match="twice the room"):
        await ask(llm, make_request(), Fields, meter=Meter(), stage="build")
    assert len(llm.asked) == 2


async def test_a_whole_looking_reply_that_reached_the_limit_is_not_trusted(make_request):
    llm = Scripted(cut(GOOD), GOOD)
    await ask(llm, make_request(), Fields, meter=Meter(), stage="build")
    assert len(llm.asked) == 2


async def test_a_reply_that_loops_is_asked_again_and_gets_no_more_room(make_request):
    llm = Scripted(cut(LOOP), cut(LOOP))
    with pytest.raises(BadReply, match="repeats the same words") as caught:
        await ask(llm, make_request(), Fields, meter=Meter(), stage="build")
    assert not isinstance(caught.value, TruncatedReply)
    assert [request.params["max_tokens"] for request in llm.asked] == [64, 64]


async def test_more_room_and_one_re_ask_may_both_be_needed_and_no_more(make_request):
    for script in ((cut(), "no idea", GOOD), ("no idea", cut(), GOOD)):
        llm = Scripted(*script)
        assert await ask(llm, make_request(), Fields, meter=Meter(), stage="build") == FIELDS
        assert llm.asked[2].params["max_tokens"] == 128
        assert len(llm.asked[2].messages) == 4
        assert len({json.dumps(request.model_dump()) for request in llm.asked}) == 3
    llm = Scripted(cut(), "no idea", cut(), GOOD)
    with pytest.raises(TruncatedReply):
        await ask(llm, make_request(), Fields, meter=Meter(), stage="build")


@pytest.mark.parametrize("reason", ["refusal", "content_filter"])
async def test_a_refusal_is_not_argued_with(make_request, reason):
    llm, meter = Scripted(Reply(text="I cannot help with that.", finish_reason=reason)), Meter()
    with pytest.raises(ModelRefused, match="I cannot help with that"):
        await ask(llm, make_request(), Fields, meter=meter, stage="build")
    assert (meter.total.calls, meter.total.failed) == (1, 1)


async def test_the_callers_check_counts_like_the_schema(make_request):
    def check(value):
        return None if value.keywords else "every field is empty"

    empty = '{"keywords": [], "context": ""}'
    llm = Scripted(empty, GOOD)
    assert await ask(llm, make_request(), Fields, check=check, meter=Meter(), stage="build") == FIELDS
    assert "every field is empty" in llm.asked[1].messages[-1].content
    with pytest.raises(BadReply, match="every field is empty"):
        await ask(Scripted(empty, empty), make_request(), Fields, check=check, meter=Meter(), stage="build")


async def test_an_outage_passes_through_and_its_attempts_are_counted(make_request):
    llm, meter = Scripted(ModelUnavailable("down", attempts=4)), Meter()
    with pytest.raises(ModelUnavailable):
        await ask(llm, make_request(), Fields, meter=meter, stage="build")
    assert (meter.total.calls, meter.total.failed) == (4, 4)


async def test_a_mistake_in_the_callers_code_is_not_taken_for_a_bad_reply(make_request):
    def check(value):
        raise NameError("typo")

    llm = Scripted(GOOD, GOOD)
    with pytest.raises(NameError):
        await ask(llm, make_request(), Fields, check=check, meter=Meter(), stage="build")
    assert len(llm.asked) == 1


async def test_a_re_ask_the_budget_does_not_cover_is_not_made(make_request):
    llm = Scripted("no idea", GOOD)
    with pytest.raises(BudgetSpent):
        await ask(llm, make_request(), Fields, meter=Meter(Budget(calls=1)), stage="build")
    assert len(llm.asked) == 1


async def test_plain_text_is_asked_for_in_the_same_way(make_request):
    llm, meter = Scripted("<think>6 times 7</think>42"), Meter()
    assert await ask_text(llm, make_request(), meter=meter, stage="answer") == "42"
    llm = Scripted("<think>6 times", "42")
    assert await ask_text(llm, make_request(), meter=meter, stage="answer") == "42"
    assert "in words only" in llm.asked[1].messages[-1].content
    with pytest.raises(EmptyReply):
        await ask_text(Scripted("", ""), make_request(), meter=meter, stage="answer")
    assert meter.by_stage()["answer"].calls == 5
