"""Trials: what came of asking one case in one wording, by the parser, checks and second chances of the pipeline."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

from pydantic import BaseModel, JsonValue, ValidationError

from amem.errors import BadReply, ModelRefused
from amem.ingest import builder
from amem.llm.metering import Meter
from amem.llm.protocol import Reply, Request
from amem.llm.recording_miss import RecordingMiss
from amem.llm.structured import ask, ask_text
from amem.model import Frozen, Note, Usage
from amem.replies import NoteReply

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem.llm.protocol import LLM
    from amem.prompts import PromptSet

    Check = Callable[[BaseModel], str | None]

_ANY_DAY = datetime(2024, 1, 1, tzinfo=UTC)


class Trial(Frozen):
    """One case in one wording: what was asked, what was said, what it was worth."""

    request: Request | None = None
    """The first request; None where the wording cannot be rendered for this case."""
    replies: tuple[Reply, ...] = ()
    """One, or two where the first could not be used."""
    value: JsonValue = None
    """The reply as it was understood: a JSON object, or text."""
    problem: str = ""
    """Why there is no value."""
    missing: bool = False
    """There is no reply to judge: nothing is recorded, or the wording cannot be rendered."""
    usage: Usage = Usage()

    @property
    def usable(self) -> bool:
        """Whether the reply could be used."""
        return not self.missing and not self.problem

    @property
    def said(self) -> str:
        """The last reply's text."""
        return self.replies[-1].text if self.replies else ""


class _Overheard:
    """Passes requests on, and keeps the replies."""

    def __init__(self, llm: LLM) -> None:
        self._llm = llm
        self.replies: list[Reply] = []

    @property
    def model(self) -> str:
        return self._llm.model

    async def complete(self, request: Request) -> Reply:
        reply = await self._llm.complete(request)
        self.replies.append(reply)
        return reply


async def try_request(request: Request, prompts: PromptSet, llm: LLM, meter: Meter | None = None) -> Trial:
    """Ask, and read the reply as the pipeline would.

    Raises:
        LLMError: no reply could be had: an outage, a refused key, a spent budget.
    """
    meter = (meter or Meter()).child()
    overheard = _Overheard(llm)
    value: JsonValue = None
    problem, missing = "", False
    try:
        value = await _value(request, prompts, overheard, meter)
    except RecordingMiss as miss:
        problem, missing = str(miss), True
    except (BadReply, ModelRefused) as error:
        problem = str(error)
    return Trial(
        request=request,
        replies=tuple(overheard.replies),
        value=value,
        problem=problem,
        missing=missing,
        usage=meter.total,
    )


async def _value(request: Request, prompts: PromptSet, llm: LLM, meter: Meter) -> JsonValue:
    name = request.prompt.name
    output = prompts.output(name)
    if output is None:
        return await ask_text(llm, request, meter=meter, stage=name)
    check = pipeline_check(request, output)
    reply = await ask(llm, request, output, check=check, meter=meter, stage=name)
    return cast("JsonValue", reply.model_dump(mode="json"))


def pipeline_check(request: Request, output: type[BaseModel]) -> Check | None:
    """Return the check that the pipeline makes of a valid reply, so that it is asked again here as it is there."""
    turns = request.variables.get("turns")
    if output is not NoteReply or not isinstance(turns, list):
        return None
    try:
        notes = [Note.model_validate(_as_note(turn)) for turn in turns]
    except ValidationError:  # variables of another shape than the pipeline's: there is nothing to check against
        return None
    return cast("Check", builder.check(notes))


def _as_note(turn: JsonValue) -> dict[str, JsonValue | datetime]:
    shown = turn if isinstance(turn, dict) else {}
    return {
        "id": str(shown.get("number")),
        "content": shown.get("text"),
        "occurred_at": _ANY_DAY,
        "created_at": _ANY_DAY,
    }
