"""Typed answers from a model: read the reply, check it, and ask once more, differently, if it is no use."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar, get_origin

from pydantic import BaseModel, ValidationError

from amem.errors import BadReply, EmptyReply, ModelRefused, TruncatedReply
from amem.llm import jsontext
from amem.llm.metering import ASSUMED_MAX_TOKENS
from amem.llm.protocol import Message

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from amem.llm.jsontext import Piece
    from amem.llm.metering import Meter
    from amem.llm.protocol import LLM, Reply, Request

T = TypeVar("T", bound=BaseModel)
R = TypeVar("R")

REFUSALS = frozenset({"refusal", "content_filter"})
"""What a reply's `finish_reason` is where the model declined."""


async def ask(
    llm: LLM,
    request: Request,
    output: type[T],
    *,
    check: Callable[[T], str | None] | None = None,
    meter: Meter,
    stage: str,
) -> T:
    """Ask for an `output`; a reply that cannot be used is shown back once, a cut one gets more room once.

    `check` sees each valid value and returns what is wrong with it (all fields empty, say), or None.

    Raises:
        LLMError: no usable reply; BadReply and its kinds carry the last one.
    """

    def read(text: str) -> T:
        value = parse_reply(text, output)
        problem = check(value) if check else None
        if problem:
            raise BadReply(problem, text)
        return value

    return await _settle(llm, request, read, meter, stage)


async def ask_text(llm: LLM, request: Request, *, meter: Meter, stage: str) -> str:
    """Ask for plain text, and return it without reasoning.

    Raises:
        LLMError: no usable reply.
    """

    def read(text: str) -> str:
        answer = jsontext.strip_reasoning(text)
        if not answer:
            raise EmptyReply("the reply was empty", text)
        return answer

    return await _settle(llm, request, read, meter, stage)


def parse_reply(text: str, output: type[T]) -> T:
    """Read an `output` from what a model said.

    Raises:
        EmptyReply: nothing, or nothing but reasoning.
        BadReply: no JSON, JSON that is cut off or contradicts itself, or not an `output`.
    """
    try:
        return _valid(jsontext.strict(text), text, output)
    except ValueError:  # not JSON as it stands
        pass
    found = jsontext.find(text)
    answers, problems = _answers(found.pieces, text, output)
    if answers:
        return _agreed(answers, text)
    if jsontext.is_blank(text):
        raise EmptyReply("the reply was empty", text)
    if found.cut:
        raise BadReply("the JSON ends before it is complete", text)
    raise BadReply(problems[-1] if problems else "there is no JSON object in it", text)


def _answers(pieces: Sequence[Piece], text: str, output: type[T]) -> tuple[list[tuple[T, Piece]], list[str]]:
    answers, problems = [], []
    # A list stands for the object only where there is none: "[0]" in prose is no answer.
    for piece in [piece for piece in pieces if piece.is_object] or pieces:
        try:
            answers.append((_read(piece, text, output), piece))
        except BadReply as error:
            problems.append(error.problem)
    return answers, problems


def _read(piece: Piece, text: str, output: type[T]) -> T:
    try:
        value = jsontext.strict(piece.text)
    except ValueError:
        try:
            value = jsontext.repaired(piece)
        except ValueError as error:
            raise BadReply(f"it is not valid JSON ({error})", text) from error
    if isinstance(value, list) and not jsontext.only(piece, text) and not all(isinstance(v, dict) for v in value):
        raise BadReply("there is no JSON object in it", text)
    return _valid(value, text, output)


def _valid(value: Any, text: str, output: type[T]) -> T:
    if isinstance(value, list) and (name := _only_list(output)) is not None:
        value = {name: value}
    try:
        return output.model_validate(value)
    except ValidationError as error:
        raise BadReply(_describe(error), text) from error


def _only_list(output: type[BaseModel]) -> str | None:
    """Name the one field that is a list, for models that leave out the object around it."""
    lists = [name for name, field in output.model_fields.items() if get_origin(field.annotation) in {list, tuple}]
    return lists[0] if len(lists) == 1 else None


def _describe(error: ValidationError) -> str:
    faults = error.errors(include_url=False, include_context=False, include_input=False)
    lines = [f"{'.'.join(map(str, fault['loc'])) or 'the reply'}: {fault['msg']}" for fault in faults[:5]]
    return "; ".join(lines) + (f"; and {len(faults) - 5} more" if len(faults) > 5 else "")


def _agreed(answers: Sequence[tuple[T, Piece]], text: str) -> T:
    spoken = [value for value, piece in answers if not piece.thought]
    if not spoken:
        return answers[-1][0]
    if any(value != spoken[0] for value in spoken):
        raise BadReply("it holds several different answers; give exactly one JSON object", text)
    return spoken[0]


async def _settle(llm: LLM, request: Request, read: Callable[[str], R], meter: Meter, stage: str) -> R:
    """Ask until there is a usable reply: one re-ask and one raised cap at most, and no request twice."""
    asked, raised, repeated = request, False, False
    while True:
        async with meter.priced():
            with meter.call(stage, asked) as flight:
                reply = await llm.complete(asked)
                try:
                    value = _judge(reply, read)
                except (BadReply, ModelRefused) as error:
                    flight.answered(reply, usable=False)
                    fault = error
                else:
                    flight.answered(reply)
                    return value
        if isinstance(fault, TruncatedReply) and not raised:
            asked, raised = _with_room(asked, reply), True
        elif isinstance(fault, BadReply) and not isinstance(fault, TruncatedReply) and not repeated:
            asked, repeated = _again(asked, reply.text, fault.problem), True
        else:
            raise _final(fault, request)


def _judge(reply: Reply, read: Callable[[str], R]) -> R:
    if reply.finish_reason in REFUSALS:
        raise ModelRefused(f"the model declined to answer: {_shortened(reply.text) or reply.finish_reason}")
    if reply.finish_reason != "length":
        return read(reply.text)
    if jsontext.repeats(reply.text):
        raise BadReply("it repeats the same words up to the token limit", reply.text)
    raise TruncatedReply("the reply was cut at the token limit", reply.text)


def _with_room(request: Request, reply: Reply) -> Request:
    cap = request.params.get("max_tokens") or reply.usage.completion_tokens or ASSUMED_MAX_TOKENS
    return request.model_copy(update={"params": {**request.params, "max_tokens": 2 * int(str(cap))}})


def _again(request: Request, text: str, problem: str) -> Request:
    """Show the model its reply and what is wrong with it."""
    how = "in words only" if request.reply_schema is None else "with one JSON object and nothing else"
    said = Message(role="assistant", content=_shortened(jsontext.strip_reasoning(text)) or "(nothing)")
    wanted = Message(
        role="user",
        content=f"That reply cannot be used: {problem}.\nAnswer again, {how}.",
    )
    return request.model_copy(update={"messages": (*request.messages, said, wanted)})


def _shortened(text: str) -> str:
    return text if len(text) <= 800 else f"{text[:600]}\n…\n{text[-160:]}"


def _final(fault: BadReply | ModelRefused, request: Request) -> BadReply | ModelRefused:
    if isinstance(fault, BadReply):
        tried = "also with twice the room" if isinstance(fault, TruncatedReply) else "also when asked again"
        return type(fault)(f"{request.prompt.name}: {fault.problem} ({tried}); nothing of it was stored", fault.text)
    return ModelRefused(f"{request.prompt.name}: {fault}; nothing was stored")
