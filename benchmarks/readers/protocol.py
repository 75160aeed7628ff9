"""What a reader is shown, and what it gives back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from amem.values import Frozen

if TYPE_CHECKING:
    from amem.llm.protocol import LLM

NOT_MENTIONED = "not mentioned"
"""How a reader says that the context does not hold the answer; LoCoMo's official scorer knows these words."""


class Shown(Frozen):
    """A question about somebody's category, as only `compat` runs show it."""

    category: str
    trap: str | None
    """The wrong answer that an adversarial question lays out; it is offered as a choice."""


class Asked(Frozen):
    """All that a reader sees."""

    system: str
    """Whose context it is; no part of a prompt."""
    key: str
    """Names the question; no part of a prompt."""
    question: str
    context: str
    options: tuple[str, ...] = ()
    """The texts of (A) to (E), where a choice is offered."""
    shown: Shown | None = None
    """None but in a `compat` run."""


class Answer(Frozen):
    """What was answered."""

    text: str
    failed: str | None = None
    """Why there is no answer, where a model's reply could not be used: it counts as wrong, and not as a refusal."""


class Reader(Protocol):
    """Answers questions from contexts."""

    @property
    def about(self) -> str:
        """What stands in reports, with the prompt's hash."""
        ...

    async def answer(self, asked: Asked, llm: LLM | None) -> Answer:
        """Answer one question.

        Args:
            asked: the question and its context.
            llm: the reader's model, where it has one.

        Raises:
            LLMError: the model cannot be had.
        """
        ...
