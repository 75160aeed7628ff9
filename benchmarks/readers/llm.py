"""A language model as the reader, with amem's own prompt `answer`; choices have a prompt of their own."""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING

from amem.errors import LLMError
from amem.llm.faults import is_about_its_texts
from amem.llm.metering import Meter
from amem.llm.structured import ask, ask_text
from amem.prompts import PromptSet
from amem.replies import AnswerReply

from ..metrics.dialsim import LETTERS  # noqa: TID252 - in a wheel, this package has another name
from .protocol import Answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from amem.llm.protocol import LLM, Request

    from ..runs.config import Compat  # noqa: TID252 - likewise
    from .protocol import Asked, Shown

STAGE = "answer"
_PROMPTS = Path(__file__).parent / "prompts"
_VERSION = "v1"
_TEMPORAL = "2"
_HINT = " Work out the date from the day on which it was told; about when is enough."
_REFUSAL = "Not mentioned in the conversation"
_TEMPERATURES = {"official": (0.0, 0.0), "amem": (0.7, 0.5)}
"""Of open questions, and of choices, in the authors' own runs."""


class ModelReader:
    """Asks a model for each answer; what it cannot use counts as a failed answer.

    Args:
        compat: whether, and in whose way, the reader is shown the question's category.
        version: of amem's prompts.
        max_tokens: of one answer.
        seed: of the order of choices, and passed on to the model.
    """

    def __init__(self, *, compat: Compat = "fair", version: str = "v1", max_tokens: int = 150, seed: int = 0) -> None:
        self._compat = compat
        self._prompts = PromptSet(version)
        self._own = PromptSet(_VERSION, root=_PROMPTS)
        self._params: dict[str, JsonValue] = {"max_tokens": max_tokens, "seed": seed}
        self._seed = seed

    @property
    def about(self) -> str:
        """The prompts with their hashes."""
        own = "choose" if self._compat == "fair" else "categorised"
        fair = [self._prompts.get("answer").ref.label] if self._compat == "fair" else []
        return ", ".join([*fair, self._own.get(own).ref.label])

    async def answer(self, asked: Asked, llm: LLM | None) -> Answer:
        """Ask the model.

        Raises:
            LLMError: the model cannot be had.
        """
        assert llm is not None
        try:
            return Answer(text=await self._text(asked, llm))
        except LLMError as error:
            if not is_about_its_texts(error):
                raise
            return Answer(text="", failed=f"{type(error).__name__}")

    async def _text(self, asked: Asked, llm: LLM) -> str:
        if asked.shown is not None:
            return await self._categorised(asked, asked.shown, llm)
        if asked.options:
            options = [f"({letter}) {text}" for letter, text in zip(LETTERS, asked.options, strict=True)]
            variables: dict[str, JsonValue] = {
                "context": asked.context, "question": asked.question, "options": [*options]
            }  # fmt: skip
            return await self._said(self._own.render("choose", variables, params=self._params), llm)
        request = self._prompts.render(
            "answer", {"context": asked.context, "question": asked.question}, params=self._params
        )
        reply = await ask(llm, request, AnswerReply, meter=Meter(), stage=STAGE)
        return reply.answer

    async def _categorised(self, asked: Asked, shown: Shown, llm: LLM) -> str:
        choices = self._choices(asked.key, shown)
        temperature = _TEMPERATURES[self._compat][bool(choices)]
        variables: dict[str, JsonValue] = {
            "context": asked.context,
            "question": asked.question,
            "hint": _HINT if shown.category == _TEMPORAL else "",
            "choices": [f"({letter}) {text}" for letter, text in zip("ab", choices, strict=False)],
        }
        params = {**self._params, "temperature": temperature}
        said = await self._said(self._own.render("categorised", variables, params=params), llm)
        return chosen(said, choices) if choices else said

    def _choices(self, key: str, shown: Shown) -> list[str]:
        """Return the trap and the refusal, in an order that hangs on the seed and the question."""
        if not shown.trap:
            return []
        both = [shown.trap, _REFUSAL]
        random.Random(f"{self._seed} {key}").shuffle(both)  # noqa: S311 - no secret, and it has to be repeatable
        return both

    @staticmethod
    async def _said(request: Request, llm: LLM) -> str:
        return await ask_text(llm, request, meter=Meter(), stage=STAGE)


def chosen(said: str, choices: Sequence[str]) -> str:
    """Return the choice that a reply of one letter means, as LoCoMo's code reads it; longer ones are the answer."""
    plain = said.strip().lower()
    if plain in {"a", "(a)"}:
        return choices[0]
    return choices[1] if plain in {"b", "(b)"} else said
