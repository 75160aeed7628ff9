"""All that is scored of one answer to one LoCoMo question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.values import Frozen

from . import official
from .overlap import Overlap, set_f1
from .refusal import refuses, trapped

if TYPE_CHECKING:
    from ..datasets.locomo import Question  # noqa: TID252 - in a wheel, this package has another name
    from .overlap import Scorer


class QuestionScores(Frozen):
    """The scores of one answer; of the texts, nothing."""

    conversation: str
    index: int
    category: int
    official: float
    """Not rounded; the official mean rounds each to three places (`official.mean`)."""
    overlap: Overlap | None
    """A-Mem's scores; None for an adversarial question, which has no right words to be compared with."""
    refused: bool
    trapped: bool | None
    """Of an adversarial question, whether its wrong answer was given; None for the others."""
    amem_c5_inverted: float | None
    """Of an adversarial question, what A-Mem reports for it: the F1 with the *wrong* answer, so that 1 is the worst.
    Never part of a mean with anything else."""

    @property
    def answerable(self) -> bool:
        """Whether the question has an answer."""
        return self.category != official.ADVERSARIAL


def score(conversation: str, question: Question, prediction: str, scorer: Scorer) -> QuestionScores:
    """Score an answer.

    Args:
        conversation: the id of the conversation asked about.
        question: what was asked.
        prediction: what was answered.
        scorer: of A-Mem's scores.
    """
    adversarial = question.category == official.ADVERSARIAL
    trap = question.adversarial_answer or ""
    return QuestionScores(
        conversation=conversation,
        index=question.index,
        category=question.category,
        official=official.score(question.category, prediction, question.answer),
        overlap=None if adversarial else scorer.score(prediction, question.answer or ""),
        refused=refuses(prediction),
        trapped=trapped(prediction, trap) if adversarial else None,
        amem_c5_inverted=set_f1(prediction, trap) if adversarial else None,
    )
