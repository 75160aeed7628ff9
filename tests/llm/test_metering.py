"""What calls cost, and the budget that stops them."""

from __future__ import annotations

import pytest

from amem.errors import BudgetSpent, ModelRejected, ModelUnavailable
from amem.llm.metering import ASSUMED_MAX_TOKENS, Budget, Meter, estimate_tokens
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


def test_a_budget_of_money_expects_each_call_to_be_as_dear_as_the_dearest(make_request):
    meter = Meter(Budget(usd=1.0))
    spend(meter, make_request(), cost=0.4)
    expected = pytest.raises(BudgetSpent, match=r"\$0.4000 spent, 1 calls under way")
    with meter.call("build", make_request()), expected:
        meter.check(make_request())
    spend(meter, make_request(), cost=0.1)
    spend(meter, make_request(), cost=0.1)
    spend(meter, make_request(), cost=0.4)
    with pytest.raises(BudgetSpent):
        meter.check(make_request())


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
