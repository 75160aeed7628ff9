"""Reaching providers through litellm, imported only here: silent, one retrier, and connections of our own."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, stop_any, stop_before_delay
from tenacity.stop import stop_base
from tenacity.wait import wait_exponential, wait_random

from amem.llm import faults
from amem.llm.metering import may_attempt

if TYPE_CHECKING:
    from collections.abc import Callable

    from tenacity import RetryCallState

    from amem.errors import LLMError

    Pause = Callable[[RetryCallState], float]


class _Never(int):
    """A zero that counts as true: litellm's embeddings read `max_retries or 2`."""

    def __bool__(self) -> bool:
        return True


ONE_RETRIER = {"num_retries": 0, "max_retries": _Never()}
"""For every call to litellm: left alone it retries in two layers, which multiply."""

_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")


def load_litellm() -> Any:
    """Import litellm so that it stays silent and offline; eight seconds of CPU, so call it in a thread."""
    first = "litellm" not in sys.modules
    # Without this the import fetches a price list from the network.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    import litellm

    litellm.suppress_debug_info = True  # it prints to stdout otherwise, which belongs to the MCP client
    if first and "LITELLM_LOG" not in os.environ:
        _hush()
    return litellm


def _hush() -> None:
    """Take away litellm's stderr handlers; what it logs still reaches the application's handlers."""
    for name in _LOGGERS:
        logger = logging.getLogger(name)
        for handler in list(logger.handlers):
            logger.removeHandler(handler)
        logger.addHandler(logging.NullHandler())


def failures(library: Any) -> tuple[type[Exception], ...]:
    """Return all exceptions that mean a call failed, and not that our code did."""
    return (*library.exceptions.LITELLM_EXCEPTION_TYPES, TimeoutError)


@dataclass
class Effort:
    """What one call has taken so far, and what it may still take."""

    model: str
    deadline: float
    attempts: int = 0
    began: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Seconds since it began."""
        return time.monotonic() - self.began

    @property
    def left(self) -> float:
        """Seconds until the deadline."""
        return max(0.0, self.deadline - self.seconds)

    def explain(self, error: BaseException, secret: str | None) -> LLMError:
        """Build the typed error for what ended the call; `secret` is kept out of its text."""
        said = faults.summary(error, secret)
        if faults.is_transient(error):
            return faults.unavailable(self.model, error, attempts=self.attempts, seconds=self.seconds, said=said)
        return faults.refusal(self.model, error, said=said)


class _BudgetSpent(stop_base):
    def __call__(self, retry_state: RetryCallState) -> bool:  # noqa: ARG002 - tenacity's signature
        return not may_attempt()


def retrying(retries: int, seconds: float, pause: Pause | None = None) -> AsyncRetrying:
    """Retry transient faults only, while the budget lasts; a Retry-After beyond `seconds` ends the trying."""
    backoff: Pause = pause or wait_exponential(multiplier=0.5, max=20) + wait_random(0, 0.5)

    def wait(state: RetryCallState) -> float:
        asked = faults.retry_after(state.outcome.exception()) if state.outcome else None
        return backoff(state) if asked is None else asked

    return AsyncRetrying(
        retry=retry_if_exception(faults.is_transient),
        stop=stop_any(stop_after_attempt(retries + 1), stop_before_delay(seconds), _BudgetSpent()),
        wait=wait,
        reraise=True,
    )


def apart(timeout: float, owner: object) -> float:
    """Make a timeout no other caller has, for as long as `owner` lives.

    litellm shares one HTTP client among all callers with equal settings. This keeps ours apart, so that closing
    it never closes a connection the application is using.
    """
    return timeout + (id(owner) % 1_000_000) * 1e-9


async def hang_up(library: Any, mark: float) -> None:
    """Close the connections opened in the running event loop with the timeout `mark`.

    Only clients of OpenAI's own and compatible APIs carry a timeout; the others are shared by all callers of a
    provider, and stay with litellm.
    """
    cache = library.in_memory_llm_clients_cache
    here = cache.update_cache_key_with_event_loop("")
    for key, client in list(cache.cache_dict.items()):
        if key.endswith(here) and getattr(client, "timeout", None) == mark:
            cache.delete_cache(key)
            await client.close()
    await asyncio.sleep(0)  # transports finish closing in the loop's next round
