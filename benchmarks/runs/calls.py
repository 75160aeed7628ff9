"""Calls to language models, kept: none is made twice, whatever happens to the process, and a run can be replayed.

A call is known by what decides its answer (`key_of`: messages, model, parameters, schema). Every use of a call has a
line with its scope, so that what a system cost is known exactly, also where it shared a call with another one.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from amem.errors import LLMError, ModelUnavailable, SettingsError
from amem.llm.faults import is_about_its_texts
from amem.llm.protocol import Reply  # noqa: TC001 - pydantic reads it
from amem.llm.recording_file import key_of
from amem.model import Usage

from .journal import Journal, Record

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from amem.llm.protocol import LLM, Request


class Call(Record):
    """One use of one call; `unit` is its scope and its key."""

    scope: str
    """What it was for: stage, system, and conversation or question."""
    key: str
    prompt: str
    """The prompt's label."""
    model: str
    reply: Reply | None = None
    """None where the reply stands in the line of an earlier use."""


class Failure(Record):
    """One call that got no reply."""

    scope: str
    prompt: str
    error: str
    attempts: int


class Calls:
    """All calls of a run.

    Args:
        folder: where they are kept.
        replay: the folder of another run, whose calls answer instead of a live model.
    """

    def __init__(self, folder: Path, *, replay: Path | None = None) -> None:
        self._calls = Journal(folder / "llm_calls.jsonl", Call)
        self._failures = Journal(folder / "llm_failures.jsonl", Failure)
        self._replay = replay
        self._replies = {call.key: call.reply for call in self._calls.records() if call.reply is not None}
        self._recorded = _recorded(replay)
        self._usage: dict[str, Usage] = {}
        for call in self._calls.records():
            self._count(call)
        for failure in self._failures.records():
            self._count_failure(failure)
        self.outage: LLMError | None = None
        """The last error that no other question would have been spared, until it is asked for by `refuse_outage`."""

    @property
    def total(self) -> Usage:
        """What all calls cost, those of earlier processes included; a shared call counts for each that used it."""
        return sum(self._usage.values(), Usage())

    def usage(self, scope: str) -> Usage:
        """Return what one scope cost."""
        return self._usage.get(scope, Usage())

    def client(self, live: Live, scope: str = "") -> Client:
        """Return a model that answers from what is kept, and asks the live one for the rest; in a replay, nobody."""
        return Client(self, live, asks=self._replay is None, scope=scope)

    def refuse_outage(self) -> None:
        """Stop where the model cannot be had.

        Raises:
            LLMError: the error met.
        """
        outage, self.outage = self.outage, None
        if outage is not None:
            raise outage

    def find(self, key: str) -> Reply | None:
        """Return the reply to a call, if it was made before."""
        return self._replies.get(key) or self._recorded.get(key)

    def used(self, scope: str, request: Request, model: str, reply: Reply) -> None:
        """Keep a use of a call; the same use again changes nothing."""
        key = key_of(request)
        unit = f"{scope} {key}"
        if unit in self._calls:
            return
        kept = None if key in self._replies else reply
        call = Call(unit=unit, scope=scope, key=key, prompt=request.prompt.label, model=model, reply=kept)
        self._calls.append(call)
        self._replies.setdefault(key, reply)
        self._count(call)

    def failed(self, scope: str, request: Request, error: LLMError) -> None:
        """Keep a call that got no reply."""
        attempts = error.attempts if isinstance(error, ModelUnavailable) else 1
        failure = Failure(
            unit=str(len(self._failures)), scope=scope, prompt=request.prompt.label,
            error=f"{type(error).__name__}: {error}", attempts=attempts,
        )  # fmt: skip
        self._failures.append(failure)
        self._count_failure(failure)
        if not is_about_its_texts(error):
            self.outage = error

    def _count(self, call: Call) -> None:
        reply = self._replies[call.key]
        assert reply is not None
        spent = Usage(
            calls=reply.attempts,
            failed=reply.attempts - 1,
            prompt_tokens=reply.usage.prompt_tokens or 0,
            completion_tokens=reply.usage.completion_tokens or 0,
            seconds=reply.seconds,
            cost=reply.cost or 0.0,
            unpriced=int(reply.cost is None),
        )
        self._usage[call.scope] = self.usage(call.scope) + spent

    def _count_failure(self, failure: Failure) -> None:
        spent = Usage(calls=failure.attempts, failed=failure.attempts)
        self._usage[failure.scope] = self.usage(failure.scope) + spent


class Live:
    """A live model that is opened when it is first asked.

    Args:
        name: as it is called in requests.
        opens: opens it.
    """

    def __init__(self, name: str, opens: Callable[[], LLM]) -> None:
        self.name = name
        self._opens = opens
        self._opened: LLM | None = None

    def open(self) -> LLM:
        """Open it, where it is not open yet: that may take as long as some calls."""
        self._opened = self._opened or self._opens()
        return self._opened

    async def complete(self, request: Request) -> Reply:
        """Ask it.

        Raises:
            LLMError: it failed.
        """
        return await self.open().complete(request)

    async def aclose(self) -> None:
        """Close its connections, where it was asked."""
        opened, self._opened = self._opened, None
        if opened is not None and hasattr(opened, "aclose"):
            await opened.aclose()


class Client:
    """A model that is asked for one scope at a time."""

    def __init__(self, calls: Calls, live: Live, *, asks: bool, scope: str) -> None:
        self._calls = calls
        self._live = live
        self._asks = asks
        self.scope = scope
        """What the next calls are for."""
        self.owed = 0.0
        """Seconds by which a clock is wrong, since this was last set to 0: what calls took that are now answered from
        what is kept, less what it took to open the model, which belongs to no call."""

    @property
    def model(self) -> str:
        """The live model's name."""
        return self._live.name

    async def complete(self, request: Request) -> Reply:
        """Answer from what is kept, or ask the live model and keep the reply.

        Raises:
            SettingsError: it is a replay, and no such call was recorded.
            LLMError: the live model failed.
        """
        addressed = request if request.model else request.model_copy(update={"model": self.model})
        reply = self._calls.find(key_of(addressed))
        if reply is not None:
            self.owed += reply.seconds
        else:
            reply = await self._asked(addressed)
        self._calls.used(self.scope, addressed, self.model, reply)
        return reply

    async def _asked(self, request: Request) -> Reply:
        if not self._asks:
            raise SettingsError(
                f"the recorded calls have none like this one of {request.prompt.label} by {self.model} ({self.scope}). "
                "What was done so far is kept; run without --replay to ask the model."
            )
        start = perf_counter()
        self._live.open()
        self.owed -= perf_counter() - start
        try:
            reply = await self._live.complete(request)
        except LLMError as error:
            self._calls.failed(self.scope, request, error)
            raise
        return reply.model_copy(update={"seconds": round(reply.seconds, 3)})


def _recorded(folder: Path | None) -> dict[str, Reply]:
    if folder is None:
        return {}
    path = folder / "llm_calls.jsonl"
    if not path.is_file():
        raise SettingsError(f"there are no recorded calls in {folder}: {path.name} is missing")
    return {call.key: call.reply for call in Journal(path, Call).records() if call.reply is not None}
