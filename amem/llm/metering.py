"""What calls cost by stage, failed ones included, and a budget that stops before it is overspent."""

from __future__ import annotations

import asyncio
import math
import time
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import TYPE_CHECKING

from pydantic import Field

from amem.errors import BudgetSpent, LLMError, ModelUnavailable
from amem.llm.limiter import Limiter
from amem.model import Usage
from amem.values import Frozen, canonical_json

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from amem.llm.protocol import Reply, Request

ASSUMED_MAX_TOKENS = 1024
"""Reserved for the reply of a request that sets no `max_tokens`."""


class Budget(Frozen):
    """Limits for one meter; None is no limit. To go on after `BudgetSpent`, use another meter."""

    calls: int | None = Field(default=None, ge=0)
    tokens: int | None = Field(default=None, ge=0)
    """Of prompts and replies together."""
    usd: float | None = Field(default=None, ge=0)


_UNLIMITED = Budget()


def estimate_tokens(request: Request) -> int:
    """Estimate what a request may take at most: a token per three bytes of prompt, and the reply's whole cap.

    Three bytes are less than an average English token and just one CJK character: the estimate errs upwards. The
    reply's schema is part of the prompt, whoever puts it there.
    """
    prompt = sum(len(message.content.encode("utf-8", "replace")) for message in request.messages)
    if request.reply_schema is not None:
        prompt += len(canonical_json(request.reply_schema).encode())
    cap = request.params.get("max_tokens", ASSUMED_MAX_TOKENS)
    return math.ceil(prompt / 3) + (cap if isinstance(cap, int) else ASSUMED_MAX_TOKENS)


class _Flight:
    """A call that has begun and not been counted yet."""

    def __init__(self, meter: Meter, stage: str, request: Request) -> None:
        self.meter = meter
        self.stage = stage
        self._request = request
        self.attempts = 0
        """Requests sent so far, as told by a client that tells."""
        self._began = time.monotonic()
        self._counted = False

    @cached_property
    def tokens(self) -> int:
        """What the call may take at most; asked only where a budget or a silent provider makes it matter."""
        return estimate_tokens(self._request)

    def answered(self, reply: Reply, *, usable: bool = True) -> None:
        """Count the reply; one that could not be used was a failed call, and paid for."""
        self._counted = True
        silent = not (reply.usage.prompt_tokens or reply.usage.completion_tokens)
        charged = silent and any(meter.is_limited for meter in self.meter._line())  # noqa: SLF001 - its own kind
        self.meter.add(self.stage, reply, usable=usable, estimate=self.tokens if charged else 0)

    def broke(self, error: LLMError | None = None) -> None:
        """Count a call that ended without a reply; none and no error is a call that was cancelled."""
        if not self._counted:
            told = error.attempts if isinstance(error, ModelUnavailable) else 1
            attempts = max(self.attempts, told)
            seconds = time.monotonic() - self._began
            self.meter.count(self.stage, Usage(calls=attempts, failed=attempts, seconds=seconds))


_FLIGHT: ContextVar[_Flight | None] = ContextVar("amem_flight", default=None)
"""The call that this task has under way: how a client, which knows no meter, has its attempts counted as they go."""


def attempting() -> None:
    """Count one attempt of the call under way."""
    flight = _FLIGHT.get()
    if flight is not None:
        flight.attempts += 1


def may_attempt() -> bool:
    """Say whether the budget covers one more attempt of the call under way."""
    flight = _FLIGHT.get()
    return flight is None or flight.meter.covers_attempt()


class Meter:
    """Counts calls, tokens, seconds and money by stage, for itself and for every meter it was split off from.

    With a budget, a call that might overspend it is not begun, nor a failed one attempted again. What calls in flight
    may take is held back, so a budget is exceeded by no more than those calls take beyond their estimate.
    """

    def __init__(self, budget: Budget | None = None, *, parent: Meter | None = None) -> None:
        self.budget = budget or Budget()
        self._parent = parent
        self._stages: dict[str, Usage] = {}
        self._flying: list[_Flight] = []
        self._unsaid = 0
        self._rate: float | None = None
        self._first = Limiter(1)

    def child(self, budget: Budget | None = None) -> Meter:
        """Return a meter whose counts also flow into this one, and which this one's budget binds too."""
        return Meter(budget, parent=self)

    @property
    def is_limited(self) -> bool:
        """Whether its own budget sets any limit."""
        return self.budget != _UNLIMITED

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
        self._check(_Flight(self, "", request))

    def covers_attempt(self) -> bool:
        """Say whether this and every parent's budget of calls has room for one more."""
        return all(meter._has_room() for meter in self._line())  # noqa: SLF001 - its own kind

    @asynccontextmanager
    async def priced(self) -> AsyncIterator[None]:
        """Wait where a budget of money has no price to go by yet: one call finds it out, alone."""
        async with AsyncExitStack() as alone:
            for meter in self._line():
                if not meter._lacks_price():  # noqa: SLF001 - its own kind
                    continue
                slot = await alone.enter_async_context(AsyncExitStack())
                await slot.enter_async_context(meter._first.slot())  # noqa: SLF001 - its own kind
                if not meter._lacks_price():  # noqa: SLF001 - its own kind
                    await slot.aclose()
            yield

    @contextmanager
    def call(self, stage: str, request: Request) -> Iterator[_Flight]:
        """Check the budget, hold back what the call may take, and count it; report the reply by `answered`.

        Raises:
            BudgetSpent: beginning the call might overspend; nothing was sent.
        """
        flight = _Flight(self, stage, request)
        self._check(flight)
        line = self._line()
        for meter in line:
            meter._flying.append(flight)  # noqa: SLF001 - its own kind
        before = _FLIGHT.set(flight)
        try:
            yield flight
        except LLMError as error:
            flight.broke(error)
            raise
        except asyncio.CancelledError:
            flight.broke()
            raise
        finally:
            _FLIGHT.reset(before)
            for meter in line:
                meter._flying.remove(flight)  # noqa: SLF001 - its own kind

    def add(self, stage: str, reply: Reply, *, usable: bool = True, estimate: int = 0) -> None:
        """Count one reply by hand.

        Args:
            stage: what it was for.
            reply: what came back.
            usable: false marks a reply that had to be thrown away.
            estimate: tokens the budget is charged where the provider does not say how many it took.
        """
        usage = _of_reply(reply, usable=usable)
        said = usage.prompt_tokens + usage.completion_tokens
        for meter in self._line():
            meter._unsaid += 0 if said else estimate  # noqa: SLF001 - its own kind
            if reply.cost is not None:
                meter._rate = max(meter._rate or 0.0, reply.cost / (said or estimate or 1))  # noqa: SLF001 - its own kind
        self.count(stage, usage)

    def count(self, stage: str, usage: Usage) -> None:
        """Add to the counts of a stage, here and in every parent."""
        for meter in self._line():
            meter._stages[stage] = meter._stages.get(stage, Usage()) + usage  # noqa: SLF001 - its own kind

    def _check(self, flight: _Flight) -> None:
        for meter in self._line():
            if meter.is_limited:
                meter._afford(flight.tokens)  # noqa: SLF001 - its own kind

    def _line(self) -> list[Meter]:
        line = [self]
        while (parent := line[-1]._parent) is not None:  # noqa: SLF001 - its own kind
            line.append(parent)
        return line

    def _lacks_price(self) -> bool:
        return self.budget.usd is not None and self._rate is None

    def _has_room(self) -> bool:
        calls = self.budget.calls
        return calls is None or self.total.calls + self._under_way() < calls

    def _under_way(self) -> int:
        """Return how many requests the calls in flight have sent, each its first at least."""
        return sum(max(1, flight.attempts) for flight in self._flying)

    def _afford(self, tokens: int) -> None:
        spent, budget = self.total, self.budget
        if not self._has_room():
            raise _spent(f"{budget.calls} calls", f"{spent.calls} made, {self._under_way()} under way")
        used = spent.prompt_tokens + spent.completion_tokens + self._unsaid
        held = sum(flight.tokens for flight in self._flying)
        if budget.tokens is not None and used + held + tokens > budget.tokens:
            raise _spent(f"{budget.tokens} tokens", f"{used} used, {held} held for calls under way, {tokens} needed")
        if budget.usd is not None:
            self._afford_money(budget.usd, spent, held + tokens)

    def _afford_money(self, usd: float, spent: Usage, tokens: int) -> None:
        if spent.unpriced:
            raise _spent(f"${usd:g}", f"{spent.unpriced} calls have no known price; set calls or tokens instead")
        # What a token costs is known from replies only; the dearest one so far stands for each still to come.
        if spent.cost >= usd or spent.cost + tokens * (self._rate or 0.0) > usd:
            raise _spent(f"${usd:g}", f"${spent.cost:.4f} spent, {len(self._flying)} calls under way")


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
