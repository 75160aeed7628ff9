"""Answerers who know nothing, or everything, and what each metric gives them on LoCoMo's official file.

They are the floors and ceilings of the metrics. A perfect answerer reaches .93 in the open-domain category, whose
answers the official code cuts at a semicolon, and METEOR .90, which gives one right word .5. One who always refuses
has .23 overall; one who falls into every trap has 1.00 by A-Mem's scores of the adversarial category.

The values were computed once with the published code itself. Ours must meet them to TOLERANCE, on the official file.
"""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

from ..metrics import official  # noqa: TID252 - in a wheel, this package has another name
from ..metrics.locomo import QuestionScores, score  # noqa: TID252 - likewise
from .checks import Check

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ..datasets.locomo import Conversation, Locomo, Question  # noqa: TID252 - likewise
    from ..metrics.overlap import Scorer  # noqa: TID252 - likewise

    Answerer = Callable[[Question], str]

TOLERANCE = 1e-4
REFUSAL = "Not mentioned in the conversation"


class Floor(NamedTuple):
    """What one answerer gets; None where no value was published."""

    official: tuple[float, ...]
    """Over all categories, over 1 to 4, and in each from 1 to 5."""
    refusals: int = 0
    """Answers that `refusal.py` takes for refusals."""
    amem_c5_inverted: float | None = None
    f1: float | None = None
    """A-Mem's, over the categories 1 to 4, as all that follows."""
    rouge2: float | None = None
    meteor: float | None = None
    meteor_nowordnet: float | None = None


PERFECT = Floor((0.9965, 0.9955, 1, 1, 0.9274, 1, 1), 446, 0.0297, 1.0, 0.8357, 0.9008, 0.9008)
FLOORS: dict[str, Floor] = {
    "gold, refuses the adversarial": PERFECT,
    "gold, falls into every trap": PERFECT._replace(
        official=(0.7729, 0.9955, 1, 1, 0.9274, 1, 0.0045), refusals=2, amem_c5_inverted=1.0
    ),
    "always refuses": Floor(
        (0.2330, 0.0108, 0.0046, 0.0137, 0.0229, 0.0104, 1), 1986, 0.0297, 0.0306, 0.0020, 0.0168, 0.0165
    ),
    "echoes the question": Floor(
        (0.0294, 0.0379, 0.0325, 0.0115, 0.0721, 0.0459, 0), 0, 0.0481, 0.0417, 0.0058, 0.0338, 0.0310
    ),
    "always says yes": Floor((0.0111, 0.0143, 0.0248, 0.0031, 0.1049, 0.0048, 0)),
}
_OFFICIAL = ("all", "1 to 4", "1", "2", "3", "4", "5")


def answerers() -> dict[str, Answerer]:
    """Return the answerers, by the names in FLOORS."""
    return {
        "gold, refuses the adversarial": lambda question: _known(question, REFUSAL),
        "gold, falls into every trap": lambda question: _known(question, question.adversarial_answer or ""),
        "always refuses": lambda _: REFUSAL,
        "echoes the question": lambda question: question.question,
        "always says yes": lambda _: "Yes",
    }


def floor_checks(data: Locomo, scorer: Scorer, moved: Callable[[int], None]) -> Iterator[Check]:
    """Score each answerer on all questions; yield what it gets beside what it should.

    Args:
        data: the official file.
        scorer: of A-Mem's scores.
        moved: told how many more questions were scored.
    """
    for name, answer in answerers().items():
        scores: list[QuestionScores] = []
        for conversation in data.conversations:
            scores += _scored(conversation, answer, scorer)
            moved(len(conversation.questions))
        yield from _official(name, scores)
        yield from _overlap(name, [one for one in scores if one.answerable])
        yield from _refusals(name, scores)
        inverted = [one.amem_c5_inverted for one in scores if one.amem_c5_inverted is not None]
        yield from _compared(f"{name}: amem_c5_inverted", FLOORS[name].amem_c5_inverted, inverted)


def _scored(conversation: Conversation, answer: Answerer, scorer: Scorer) -> list[QuestionScores]:
    return [score(conversation.id, question, answer(question), scorer) for question in conversation.questions]


def _official(name: str, scores: Sequence[QuestionScores]) -> Iterator[Check]:
    parts = [scores, [one for one in scores if one.answerable]]
    parts += [[one for one in scores if one.category == category] for category in range(1, 6)]
    for part, expected, some in zip(_OFFICIAL, FLOORS[name].official, parts, strict=True):
        found = official.mean(one.official for one in some)
        yield Check(f"{name}: official score, categories {part}", expected, found, TOLERANCE)


def _overlap(name: str, answerable: Sequence[QuestionScores]) -> Iterator[Check]:
    expected = FLOORS[name]
    for measure in ("f1", "rouge2", "meteor", "meteor_nowordnet"):
        values = [getattr(one.overlap, measure) for one in answerable]
        if None not in values:
            yield from _compared(f"{name}: A-Mem's {measure}", getattr(expected, measure), values)


def _refusals(name: str, scores: Sequence[QuestionScores]) -> Iterator[Check]:
    """Yield whether a refusal is taken for one, and no right answer, question or `Yes` is."""
    yield Check(f"{name}: refusals", FLOORS[name].refusals, sum(one.refused for one in scores))


def _compared(name: str, expected: float | None, values: Sequence[float]) -> Iterator[Check]:
    if expected is not None:
        yield Check(name, expected, fmean(values) if values else 0.0, TOLERANCE)


def _known(question: Question, adversarial: str) -> str:
    return adversarial if question.category == official.ADVERSARIAL else question.answer or ""
