"""Answer: the reader is asked each question, with the context that a system found for it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from ..readers.protocol import Asked, Shown  # noqa: TID252 - in a wheel, this package has another name
from .records import Answered, unit
from .work import Watch

if TYPE_CHECKING:
    from ..datasets.conversation import Conversation, Question  # noqa: TID252 - likewise
    from .calls import Live
    from .records import Measured
    from .work import Bench


async def answer(bench: Bench, label: str, live: Live | None, conversation: Conversation) -> None:
    """Answer what is not answered yet, some questions at once, written down in their order.

    Args:
        bench: what the stages work with.
        label: the system whose contexts are read.
        live: the reader's model, where it has one.
        conversation: whose questions are asked.

    Raises:
        LLMError: the reader's model cannot be had.
    """
    left = [one for one in conversation.questions if unit(label, one.key) not in bench.folder.answers]
    bench.moved(label, len(conversation.questions) - len(left))
    size = bench.material.config.reader.concurrency
    for start in range(0, len(left), size):
        some = left[start : start + size]
        done = await asyncio.gather(*(_one(bench, label, live, one) for one in some), return_exceptions=True)
        for result in done:
            if isinstance(result, BaseException):
                raise result
            measured, answered = result
            bench.measured(measured)
            bench.folder.answers.append(answered)
            bench.moved(f"{label}: answering")


async def _one(bench: Bench, label: str, live: Live | None, question: Question) -> tuple[Measured, Answered]:
    name = unit(label, question.key)
    client = None if live is None else bench.calls.client(live, f"answer {name}")
    watch = Watch(client)
    with watch:
        said = await bench.material.reader.answer(_asked(bench, label, question), client)
    return watch.read(f"answer {name}"), Answered(unit=name, answer=said.text, failed=said.failed)


def _asked(bench: Bench, label: str, question: Question) -> Asked:
    """Return what the reader sees: the category only where the run says so."""
    found = bench.folder.retrieval.get(unit(label, question.key))
    assert found is not None
    fair = bench.material.config.compat == "fair"
    lettered = question.right is not None
    return Asked(
        system=label,
        key=question.key,
        question=question.question if lettered else question.shown,
        context=found.text,
        options=question.options if lettered else (),
        shown=None if fair else Shown(category=question.category, trap=question.trap),
    )
