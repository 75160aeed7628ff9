"""What calls cost by stage, failed ones included, and a budget that stops before it is overspent."""

from __future__ import annotations

import math
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pydantic import Field

from amem.errors import BudgetSpent, LLMError, ModelUnavailable
from amem.llm.protocol import Reply
from amem.model import Frozen, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amem.llm.protocol import Request

ASSUMED_MAX_TOKENS = 1024
"""Reserved for the reply of a request that sets no `max_tokens`."""


class Budget(Frozen):
    """Limits for one meter; None is no limit. To go on after `BudgetSpent`, use another meter."""

    calls: int | None = Field(default=None, ge=0)
    tokens: int | None = Field(default=None, ge=0)
    """Of prompts and replies together."""
    usd: float | None = Field(default=None, ge=0)


def estimate_tokens(request: Request) -> int:
    """Estimate what a request may take at most: a token per three bytes of prompt, and the reply's whole cap.

    Three bytes are less than an average English token and just one CJK character: the estimate errs upwards.
    """
    prompt = sum(len(message.content.encode("utf-8", "replace")) for message in request.messages)
    cap = request.params.get("max_tokens", ASSUMED_MAX_TOKENS)
    return math.ceil(prompt / 3) + (cap if isinstance(cap, int) else ASSUMED_MAX_TOKENS)


class _Flight:
    """A call that has begun and not been counted yet."""

    def __init__(self, meter: Meter, stage: str, tokens: int) -> None:
        self.meter = meter
        self.stage = stage
        self.tokens = tokens
        self._began = time.monotonic()
        self._counted = False

    def answered(self, reply: Reply, *, usable: bool = True) -> None:
        """Count the reply; one that could not be used was a failed call, and paid for."""
        self._counted = True
        self.meter.add(self.stage, reply, usable=usable)

    def broke(self, error: LLMError) -> None:
        """Count a call that ended without a reply."""
        if not self._counted:
            self.meter.add(self.stage, error, seconds=time.monotonic() - self._began)


class Meter:
    """Counts calls, tokens, seconds and money by stage, for itself and for every meter it was split off from.

    With a budget, a call that might overspend it is not begun. What calls in flight may take is held back, so
    a budget is exceeded by no more than those calls take beyond their estimate (transport retries, say).
    """

    def __init__(self, budget: Budget | None = None, *, parent: Meter | None = None) -> None:
        self.budget = budget or Budget()
        self._parent = parent
        self._stages: dict[str, Usage] = {}
        self._flying: list[_Flight] = []
        self._dearest = 0.0

    def child(self, budget: Budget | None = None) -> Meter:
        """Return a meter whose counts also flow into this one, and which this one's budget binds too."""
        return Meter(budget, parent=self)

    @property
    def total(self) -> Usage:
        """The sum over all stages."""
        return sum(self._stages.values(), Usage())

    def by_stage(self) -> dict[str, Usage]:
        """Return a copy of the counts, by stage in order of first use."""
        return dict(self._stages)

    def check(self, request: Request) -> None:
        """Refuse a call that this or any parent's budget may not cover.

        Raises:
            BudgetSpent: beginning the call might overspend; nothing was sent.
        """
        for meter in self._line():
            meter._afford(estimate_tokens(request))  # noqa: SLF001 - its own kind

    @contextmanager
    def call(self, stage: str, request: Request) -> Iterator[_Flight]:
        """Check the budget, hold back what the call may take, and count it; report the reply by `answered`.

        Raises:
            BudgetSpent: beginning the call might overspend; nothing was sent.
        """
        self.check(request)
        flight = _Flight(self, stage, estimate_tokens(request))
        line = self._line()
        for meter in line:
            meter._flying.append(flight)  # noqa: SLF001 - its own kind
        try:
            yield flight
        except LLMError as error:
            flight.broke(error)
            raise
        finally:
            for meter in line:
                meter._flying.remove(flight)  # noqa: SLF001 - its own kind

    def add(self, stage: str, outcome: Reply | LLMError, *, usable: bool = True, seconds: float = 0.0) -> None:
        """Count one call by hand; `usable=False` marks a reply that had to be thrown away."""
        usage = _of_reply(outcome, usable=usable) if isinstance(outcome, Reply) else _of_error(outcome, seconds)
        for meter in self._line():
            meter._stages[stage] = meter._stages.get(stage, Usage()) + usage  # noqa: SLF001 - its own kind
            meter._dearest = max(meter._dearest, usage.cost)  # noqa: SLF001 - its own kind

    def _line(self) -> list[Meter]:
        line = [self]
        while (parent := line[-1]._parent) is not None:  # noqa: SLF001 - its own kind
            line.append(parent)
        return line

    def _afford(self, tokens: int) -> None:
        spent, budget, flying = self.total, self.budget, len(self._flying)
        if budget.calls is not None and spent.calls + flying + 1 > budget.calls:
            raise _spent(f"{budget.calls} calls", f"{spent.calls} made, {flying} under way")
        used = spent.prompt_tokens + spent.completion_tokens
        held = sum(flight.tokens for flight in self._flying)
        if budget.tokens is not None and used + held + tokens > budget.tokens:
            raise _spent(f"{budget.tokens} tokens", f"{used} used, {held} held for calls under way, {tokens} needed")
        if budget.usd is not None:
            self._afford_money(budget.usd, spent, flying)

    def _afford_money(self, usd: float, spent: Usage, flying: int) -> None:
        if spent.unpriced:
            raise _spent(f"${usd:g}", f"{spent.unpriced} calls have no known price; set calls or tokens instead")
        # What a call will cost is not known beforehand: the dearest one so far stands for each still to come.
        if spent.cost >= usd or spent.cost + (flying + 1) * self._dearest > usd:
            raise _spent(f"${usd:g}", f"${spent.cost:.4f} spent, {flying} calls under way")


def _spent(limit: str, state: str) -> BudgetSpent:
    return BudgetSpent(
        f"the budget of {limit} does not cover another call ({state}). "
        "Nothing was sent and what was done so far is kept; go on with a larger budget."
    )


def _of_reply(reply: Reply, *, usable: bool) -> Usage:
    return Usage(
        calls=reply.attempts,
        failed=reply.attempts - 1 + (not usable),
        prompt_tokens=reply.usage.prompt_tokens or 0,
        completion_tokens=reply.usage.completion_tokens or 0,
        seconds=reply.seconds,
        cost=reply.cost or 0.0,
        unpriced=int(reply.cost is None),
    )


def _of_error(error: LLMError, seconds: float) -> Usage:
    """Count a call without a reply; what the provider billed for it, if anything, is not known."""
    attempts = error.attempts if isinstance(error, ModelUnavailable) else 1
    return Usage(calls=attempts, failed=attempts, seconds=seconds)
