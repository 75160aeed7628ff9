"""Trials: what came of asking one case in one wording, by the parser, checks and second chances of the pipeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from pydantic import BaseModel, JsonValue

from amem import replies
from amem.errors import BadReply, ModelRefused
from amem.ingest import builder
from amem.llm.metering import Meter
from amem.llm.protocol import Reply, Request
from amem.llm.recording_miss import RecordingMiss
from amem.llm.structured import ask, ask_text
from amem.model import Usage
from amem.values import Frozen
from amem.workbench.shownotes import notes_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem.llm.protocol import LLM
    from amem.prompts import PromptSet

    Check = Callable[[BaseModel], str | None]


class Trial(Frozen):
    """One case in one wording: what was asked, what was said, what it was worth."""

    request: Request | None = None
    """The first request; None where the wording cannot be rendered for this case."""
    replies: tuple[Reply, ...] = ()
    """One, or two where the first could not be used."""
    value: JsonValue = None
    """The reply as it was understood: a JSON object, or text."""
    model: str = ""
    """Name of the model that the value satisfies; empty where it is text."""
    problem: str = ""
    """Why there is no value."""
    missing: bool = False
    """There is no reply to judge: nothing is recorded, or the wording cannot be rendered."""
    usage: Usage = Usage()

    @property
    def usable(self) -> bool:
        """Whether the reply could be used."""
        return not self.missing and not self.problem

    def reply(self) -> BaseModel | None:
        """Return the reply as the pipeline has it; None where it is of no use, or text."""
        found = getattr(replies, self.model, None) if self.model and self.usable else None
        return None if found is None else cast("type[BaseModel]", found).model_validate(self.value)

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
    output = prompts.output(request.prompt.name)
    return Trial(
        request=request,
        replies=tuple(overheard.replies),
        value=value,
        model="" if output is None else output.__name__,
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
    turns = notes_of(request.variables, "turns")
    if not issubclass(output, builder.REPLIES) or turns is None:
        return None  # variables of another shape than the pipeline's: there is nothing to check against
    return cast("Check", builder.check(turns.notes))
