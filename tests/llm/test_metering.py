"""What calls cost, and the budget that stops them."""

from __future__ import annotations

import asyncio

import pytest

from amem.errors import BudgetSpent, ModelRejected, ModelUnavailable
from amem.llm.metering import ASSUMED_MAX_TOKENS, Budget, Meter, attempting, estimate_tokens, may_attempt
from amem.llm.protocol import Reply, TokenUsage
from amem.model import Usage


def reply(prompt: int = 30, completion: int = 20, *, cost: float | None = 0.5, attempts: int = 1) -> Reply:
    usage = TokenUsage(prompt_tokens=prompt, completion_tokens=completion)
    return Reply(text="{}", usage=usage, seconds=2.0, cost=cost, attempts=attempts)


def spend(meter, request, *, stage="build", **kwargs):
    with meter.call(stage, request) as flight:
        flight.answered(reply(**kwargs))


def test_calls_are_counted_by_stage(make_request):
    meter = Meter()
    spend(meter, make_request())
    spend(meter, make_request(), cost=None)
    spend(meter, make_request(), stage="link", attempts=3)
    assert meter.by_stage() == {
        "build": Usage(calls=2, prompt_tokens=60, completion_tokens=40, seconds=4.0, cost=0.5, unpriced=1),
        "link": Usage(calls=3, failed=2, prompt_tokens=30, completion_tokens=20, seconds=2.0, cost=0.5),
    }
    assert meter.total.calls == 5


def test_an_unusable_reply_is_a_failed_call_and_paid_for(make_request):
    meter = Meter()
    meter.add("build", reply(), usable=False)
    assert (meter.total.failed, meter.total.prompt_tokens, meter.total.cost) == (1, 30, 0.5)


def test_a_call_that_broke_is_counted_with_its_attempts_and_time(make_request):
    meter = Meter()
    with pytest.raises(ModelUnavailable), meter.call("build", make_request()):
        raise ModelUnavailable("down", attempts=4)
    with pytest.raises(ModelRejected), meter.call("build", make_request()):
        raise ModelRejected("no key")
    assert (meter.total.calls, meter.total.failed) == (5, 5)
    assert meter.total.seconds > 0


def test_a_programming_error_is_no_call_and_holds_nothing_back(make_request):
    meter = Meter(Budget(calls=1))
    with pytest.raises(NameError), meter.call("build", make_request()):
        raise NameError("typo")
    assert meter.total == Usage()
    meter.check(make_request())


def test_a_budget_of_calls_stops_before_the_next_one(make_request):
    meter = Meter(Budget(calls=2))
    spend(meter, make_request())
    spend(meter, make_request())
    with pytest.raises(BudgetSpent, match="2 calls does not cover another call"):
        spend(meter, make_request())
    assert meter.total.calls == 2


def test_calls_under_way_are_held_back_until_they_end(make_request):
    meter = Meter(Budget(calls=2))
    request = make_request()
    with meter.call("a", request), meter.call("b", request), pytest.raises(BudgetSpent, match="2 under way"):
        meter.check(request)
    meter.check(make_request())


def test_a_budget_of_tokens_covers_the_prompt_and_the_whole_cap(make_request):
    request = make_request("x" * 294, max_tokens=50)  # and "You index.": 304 bytes
    assert estimate_tokens(request) == 102 + 50
    with pytest.raises(BudgetSpent):
        Meter(Budget(tokens=151)).check(request)
    meter = Meter(Budget(tokens=152 * 2))
    with meter.call("build", request), meter.call("build", request), pytest.raises(BudgetSpent):
        meter.check(request)
    spend(meter, request, prompt=150, completion=2)
    meter.check(request)
    spend(meter, request, prompt=1, completion=0)
    with pytest.raises(BudgetSpent):
        meter.check(request)


def test_the_estimate_counts_every_script_and_a_missing_cap(make_request):
    assert estimate_tokens(make_request("東京" * 30, max_tokens=1)) >= 60
    assert estimate_tokens(make_request("", max_tokens=None)) >= ASSUMED_MAX_TOKENS


def test_a_budget_of_money_expects_each_token_to_be_as_dear_as_the_dearest(make_request):
    request = make_request("x" * 138, max_tokens=50)  # 100 tokens at most
    meter = Meter(Budget(usd=1.0))
    spend(meter, request, cost=0.21)  # 50 tokens: $0.0042 each
    expected = pytest.raises(BudgetSpent, match=r"\$0.2100 spent, 1 calls under way")
    with meter.call("build", request), expected:
        meter.check(request)
    spend(meter, request, prompt=400, completion=0, cost=0.1)
    meter.check(request)
    spend(meter, request, cost=0.3)
    with pytest.raises(BudgetSpent):
        meter.check(request)


async def test_while_no_price_is_known_one_call_goes_ahead_and_the_others_wait_for_what_it_costs(make_request):
    meter, order = Meter(Budget(usd=1.0)).child(), []

    async def call(number, cost):
        async with meter.priced():
            with meter.call("build", make_request()) as flight:
                order.append(f"{number} begins")
                await asyncio.sleep(0.01)
                flight.answered(reply(30, 20, cost=cost))
        order.append(f"{number} ends")

    done = await asyncio.gather(call(1, 0.5), call(2, 0.5), call(3, 0.5), return_exceptions=True)
    assert order == ["1 begins", "1 ends"]
    assert [type(one) for one in done] == [type(None), BudgetSpent, BudgetSpent]


def test_a_budget_of_money_does_not_take_an_unknown_price_for_free(make_request):
    meter = Meter(Budget(usd=1.0))
    spend(meter, make_request(), cost=None)
    with pytest.raises(BudgetSpent, match="no known price"):
        meter.check(make_request())


def test_a_budget_of_nothing_allows_nothing(make_request):
    for budget in (Budget(calls=0), Budget(tokens=0), Budget(usd=0)):
        with pytest.raises(BudgetSpent):
            Meter(budget).check(make_request())


def test_a_childs_calls_flow_into_its_parent_and_its_budget_binds(make_request):
    parent = Meter(Budget(calls=3))
    first, second = parent.child(), parent.child(Budget(calls=1))
    spend(first, make_request())
    spend(second, make_request(), stage="link")
    assert set(parent.by_stage()) == {"build", "link"}
    assert (first.total.calls, second.total.calls, parent.total.calls) == (1, 1, 2)
    with pytest.raises(BudgetSpent):
        second.check(make_request())
    with first.call("build", make_request()), pytest.raises(BudgetSpent):
        first.check(make_request())


def test_a_reply_that_does_not_say_what_it_took_is_charged_what_it_may_have_taken(make_request):
    request = make_request("x" * 294, max_tokens=50)
    meter = Meter(Budget(tokens=152 * 2 - 1))
    with meter.call("build", request) as flight:
        flight.answered(Reply(text="{}"))
    assert (meter.total.prompt_tokens, meter.total.completion_tokens) == (0, 0)
    with pytest.raises(BudgetSpent, match="152 used"):
        meter.check(request)


def test_the_estimate_counts_the_schema(make_request):
    schema = {"type": "object", "description": "x" * 300}
    assert estimate_tokens(make_request(schema=schema)) > estimate_tokens(make_request()) + 100


async def test_a_cancelled_call_was_a_call_and_holds_nothing_back(make_request):
    meter = Meter(Budget(calls=2))

    async def call():
        with meter.call("build", make_request()):
            attempting()
            await asyncio.sleep(60)

    task = asyncio.create_task(call())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert (meter.total.calls, meter.total.failed) == (1, 1)
    spend(meter, make_request())


def test_attempts_under_way_count_and_no_budget_is_passed_by_trying_again(make_request):
    meter = Meter(Budget(calls=3))
    request = make_request()
    with meter.child().call("build", request) as flight:
        attempting()
        assert may_attempt()
        attempting()
        with meter.call("a", request), pytest.raises(BudgetSpent, match="3 under way"):
            meter.check(request)
        attempting()
        assert not may_attempt()
        flight.answered(reply(attempts=3))
    assert may_attempt()  # no call is under way
    assert (meter.total.calls, meter.total.failed) == (3, 2)


def test_the_attempts_of_a_call_that_broke_are_those_that_were_made_whatever_its_error_says(make_request):
    meter = Meter()

    def ask():
        with meter.call("build", make_request()):
            attempting()
            attempting()
            raise ModelRejected("the other format was refused as well")

    with pytest.raises(ModelRejected):
        ask()
    assert (meter.total.calls, meter.total.failed) == (2, 2)
