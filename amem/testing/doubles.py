"""Language models that are no model: a script, and faults on purpose.

Both stand at the `LLM` protocol, so that what they say goes through the same parser, validation, re-ask and
metering as a live reply.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from pydantic import BaseModel

from amem.errors import LLMError
from amem.llm.protocol import Reply
from amem.llm.recording_file import HAND

if TYPE_CHECKING:
    from amem.llm.protocol import LLM, Request

Answer = str | Mapping[str, object] | BaseModel | Reply | Exception
"""A reply's text, or JSON to be, or the reply itself, or what to raise."""
Respond = Callable[["Request"], Answer | Awaitable[Answer]]
"""Makes the answer from the request."""
Script = Answer | Respond | Sequence[Answer | Respond]
"""One answer for every call, or a list with one for each."""


class ScriptExhausted(AssertionError):
    """A call was made that the script has no reply for."""


class ScriptedLLM:
    """A language model that says what it is told to say, at once.

    Args:
        script: A list of answers in the order of the calls; or a function from request to answer; or one of
            these, or a single answer for every call, for each prompt's name. An answer is text, a dict or a
            pydantic model (sent as JSON), a Reply, an exception to raise, or a function that returns one.
        model: The name it goes by.

    A list that has run out is an error, never a new start.
    """

    written_by = HAND
    """What recordings of its replies say of their origin."""

    def __init__(
        self,
        script: Sequence[Answer | Respond] | Respond | Mapping[str, Script],
        *,
        model: str = "scripted",
    ) -> None:
        if isinstance(script, (str, BaseModel, Exception)):
            raise TypeError("a script is a list of answers, a function, or a dict by prompt name")
        self._lines: dict[str, _Line] = {}
        self._all: _Line | None = None
        if isinstance(script, Mapping):
            self._lines = {name: _Line(line) for name, line in script.items()}
        else:
            self._all = _Line(script)
        self._model = model
        self.calls: list[Request] = []
        """Every request so far, in order."""

    @property
    def model(self) -> str:
        """The name it goes by."""
        return self._model

    async def complete(self, request: Request) -> Reply:
        """Give the next answer.

        Raises:
            ScriptExhausted: the script has none for this call.
        """
        self.calls.append(request)
        answer = self._line(request.prompt.name).next(request, self.calls)
        if inspect.isawaitable(answer):
            answer = await answer
        return _reply(answer, self._model)

    def calls_of(self, prompt: str) -> list[Request]:
        """Return the requests that one prompt made."""
        return [call for call in self.calls if call.prompt.name == prompt]

    def assert_complete(self) -> None:
        """Check that everything in the script was asked for.

        Raises:
            AssertionError: answers are left over, or a prompt was never asked.
        """
        lines = self._lines if self._all is None else {"the script": self._all}
        left = [f"{name}: {line.left}" for name, line in lines.items() if line.left]
        if left:
            raise AssertionError(f"not asked for: {'; '.join(left)}. Asked: {_asked(self.calls)}.")

    def _line(self, prompt: str) -> _Line:
        line = self._lines.get(prompt) if self._all is None else self._all
        if line is None:
            known = ", ".join(self._lines) or "nothing"
            raise ScriptExhausted(
                f"no reply is scripted for prompt {prompt!r}, only for {known}. Asked: {_asked(self.calls)}."
            )
        return line


class _Line:
    """The answers to one prompt, or to all."""

    def __init__(self, script: Script) -> None:
        listed = isinstance(script, Sequence) and not isinstance(script, str)
        self._list = list(cast("Sequence[Answer | Respond]", script)) if listed else None
        self._always = None if listed else cast("Answer | Respond", script)
        self._given = 0

    @property
    def left(self) -> str:
        """What was not asked for, in words; empty if nothing."""
        if self._list is None:
            return "" if self._given else "never asked"
        rest = len(self._list) - self._given
        return f"{rest} of {len(self._list)} replies" if rest else ""

    def next(self, request: Request, calls: Sequence[Request]) -> Answer | Awaitable[Answer]:
        if self._list is None:
            answer = self._always
        elif self._given < len(self._list):
            answer = self._list[self._given]
        else:
            raise ScriptExhausted(
                f"all {len(self._list)} replies were given before this call of prompt "
                f"{request.prompt.name!r}. Asked: {_asked(calls)}."
            )
        self._given += 1
        assert answer is not None
        return answer(request) if callable(answer) else answer


class FaultyLLM:
    """A language model that fails where it is told to, and else asks another.

    Args:
        llm: Who answers the calls that do not fail.
        faults: What to raise: by the number of the call, from 1; or by prompt name, where one error makes
            every call of the prompt fail, and a list says what becomes of each call in turn (None lets it
            pass, and so does the list's end).
    """

    def __init__(self, llm: LLM, faults: Mapping[int | str, LLMError | Sequence[LLMError | None]]) -> None:
        self._llm = llm
        self._faults = faults
        self._turns = {name: iter(turns) for name, turns in faults.items() if not isinstance(turns, LLMError)}
        self.calls: list[Request] = []
        """Every request so far, failed ones included."""
        self.raised: list[LLMError] = []
        """Every error injected so far."""

    @property
    def model(self) -> str:
        """The other's model."""
        return self._llm.model

    @property
    def written_by(self) -> str | None:
        """What recordings say of the other's replies."""
        return getattr(self._llm, "written_by", None)

    async def complete(self, request: Request) -> Reply:
        """Fail as told, or ask the other.

        Raises:
            LLMError: one of the faults.
        """
        self.calls.append(request)
        by_number, by_name = self._fault(len(self.calls)), self._fault(request.prompt.name)
        fault = by_number or by_name
        if fault is not None:
            self.raised.append(fault)
            raise fault
        return await self._llm.complete(request)

    def _fault(self, where: int | str) -> LLMError | None:
        turns: Iterator[LLMError | None] | None = self._turns.get(where)
        if turns is not None:
            return next(turns, None)
        fault = self._faults.get(where)
        return fault if isinstance(fault, LLMError) else None


def _reply(answer: Answer, model: str) -> Reply:
    if isinstance(answer, Exception):
        raise answer
    if isinstance(answer, Reply):
        return answer
    if isinstance(answer, BaseModel):
        answer = answer.model_dump(mode="json")
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    return Reply(text=text, model=model)


def _asked(calls: Sequence[Request]) -> str:
    return ", ".join(call.prompt.name for call in calls) or "nothing"
