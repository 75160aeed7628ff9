"""Two configurations over one conversation and its questions: what each finds, and what that takes."""

from __future__ import annotations

import json
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from amem.errors import InputError
from amem.filters import first_problem
from amem.model import Usage
from amem.recall.packing import SAID
from amem.values import Frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from amem.ingest.worker import Progress
    from amem.intake import NewNote
    from amem.memory import AsyncMemory


class Question(Frozen):
    """A question, and what answers it."""

    question: Annotated[str, Field(min_length=1)]
    expects: tuple[int | str, ...] = ()
    """The turns that a good context cites: by position in the conversation, from 0, or by source."""
    answer: str | None = None
    """For the reader; it is compared with nothing."""


class Found(Frozen):
    """What one configuration found for one question."""

    question: str
    recall: float | None
    """Share of the expected turns that the context cites, or that say the same as one, or that one was made of."""
    missed: tuple[int, ...] = ()
    """The positions of the others."""
    tokens: int
    seconds: float


class Side(Frozen):
    """One configuration: what it took to build the memory, and what it found."""

    name: str
    settings: dict[str, str]
    """What it sets, besides what both have."""
    turns: int
    notes: int
    """Notes, facts and episodes there are, the turns included."""
    pending: int
    """Turns that a model should have made something of, and did not."""
    usage: Usage
    """All calls, of building and of asking."""
    building: float
    """Seconds."""
    recall: float | None
    """Mean over the questions that expect something."""
    tokens: float | None
    """Of a context, on average."""
    seconds: float | None
    """For a question, on average."""
    found: tuple[Found, ...]


def read_questions(path: Path) -> list[Question]:
    """Read questions from a JSON file: a list of `{"question": …, "expects": [positions or sources], "answer": …}`.

    Raises:
        InputError: it cannot be read, or is no such list.
    """
    try:
        return TypeAdapter(list[Question]).validate_python(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        problem = first_problem(error) if isinstance(error, ValidationError) else str(error)
        raise InputError(f"{path} holds no questions: {problem}") from error


async def contend(
    name: str,
    open_memory: Callable[[], AsyncMemory],
    settings: Mapping[str, Any],
    turns: Sequence[NewNote],
    questions: Sequence[Question],
    *,
    budget: int,
    progress: Progress | None = None,
) -> Side:
    """Build a memory of the turns, ask it the questions, and say what came of it.

    Args:
        name: of the configuration.
        open_memory: opens an empty memory that is so configured.
        settings: what it sets, to be told.
        turns: the conversation.
        questions: what to ask.
        budget: tokens of each context.
        progress: called after each window.

    Raises:
        InputError: a question expects a turn that is not there.
    """
    expected = [_positions(question, turns) for question in questions]
    async with open_memory() as memory:
        for question in questions[:1]:  # what is loaded at first use is nobody's time
            await memory.recall(question.question, budget=budget)
        began = monotonic()
        added = await memory.add_many(turns, progress=progress)
        building = monotonic() - began
        ids = [result.id for result in added]
        found = [
            await _ask(memory, question, {ids[at]: at for at in wanted}, budget)
            for question, wanted in zip(questions, expected, strict=True)
        ]
        stats = await memory.stats()
    unfinished = sum(number for reason, number in stats.pending.items() if reason != "raw")
    return Side(
        name=name,
        settings={key: str(value) for key, value in settings.items()},
        turns=len(turns),
        notes=stats.notes,
        pending=unfinished,
        usage=sum(stats.usage.values(), Usage()),
        building=building,
        recall=_mean([one.recall for one in found if one.recall is not None]),
        tokens=_mean([float(one.tokens) for one in found]),
        seconds=_mean([one.seconds for one in found]),
        found=tuple(found),
    )


async def _ask(memory: AsyncMemory, question: Question, wanted: Mapping[str, int], budget: int) -> Found:
    began = monotonic()
    context = await memory.recall(question.question, budget=budget)
    seconds = monotonic() - began
    cited = [citation.note_id for citation in context.citations]
    notes = [await memory.get(note_id) for note_id in cited]
    said = [left.note_id for left in context.left_out if left.why == SAID]
    covered = {*cited, *said, *(source for note in notes for source in note.sources)}
    missed = sorted(at for note_id, at in wanted.items() if note_id not in covered)
    return Found(
        question=question.question, recall=1 - len(missed) / len(wanted) if wanted else None, missed=tuple(missed),
        tokens=context.tokens, seconds=seconds,
    )  # fmt: skip


def _positions(question: Question, turns: Sequence[NewNote]) -> set[int]:
    sources = {turn.source: at for at, turn in enumerate(turns) if turn.source is not None}
    positions = {sources.get(one, -1) if isinstance(one, str) else one for one in question.expects}
    if not positions <= set(range(len(turns))):
        raise InputError(f"{question.question!r} expects turns that the conversation of {len(turns)} does not have")
    return positions


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None
