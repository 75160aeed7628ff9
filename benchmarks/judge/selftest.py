"""Is the judge worth believing? It marks answers whose worth is known: the key itself, another question's key, a dodge.

The audit dial481/locomo-audit found that a lenient judge passes most answers that are wrong and on the topic. So the
score of a judge stands beside these three shares.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, NamedTuple

from amem.values import Frozen

from .judging import share_correct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .judging import Judge, Manner, Ruling

GOLD_PASSES, SHUFFLED_PASSES = 0.99, 0.01
VAGUE = "They talked about that, and it meant a lot to them."


class Known(NamedTuple):
    """A question with its right answer."""

    question: str
    key: str


class JudgeReport(Frozen):
    """How a judge marks answers whose worth is known."""

    manner: str
    prompt: str
    model: str
    cases: int
    gold: float
    """Share of right answers it passes: should be GOLD_PASSES at least."""
    shuffled: float
    """Share of other questions' right answers it passes: should be SHUFFLED_PASSES at most."""
    vague: float
    """Share of answers that say nothing it passes; reported, not judged."""
    unreadable: int
    """Replies of all three kinds that could not be read."""

    @property
    def sound(self) -> bool:
        """Whether the judge passes what is right and fails what is wrong."""
        return self.gold >= GOLD_PASSES and self.shuffled <= SHUFFLED_PASSES


async def judge_selftest(judge: Judge, manner: Manner, cases: Sequence[Known], *, seed: int = 0) -> JudgeReport:
    """Let a judge mark each question's own key, another's, and a dodge.

    Args:
        judge: who is to be tested.
        manner: in which manner.
        cases: questions with their keys; at least two with different keys.
        seed: of the shuffling.

    Raises:
        ValueError: all keys are the same.
        LLMError: a call failed.
    """
    kinds: list[list[Ruling]] = [[], [], []]
    for case, other in zip(cases, shuffled([case.key for case in cases], seed), strict=True):
        for kind, answer in zip(kinds, (case.key, other, VAGUE), strict=True):
            kind.append(await judge.rule(manner, case.question, case.key, answer))
    gold, wrong, vague = (share_correct(kind) or 0.0 for kind in kinds)
    first = kinds[0][0]
    return JudgeReport(
        manner=manner,
        prompt=first.prompt,
        model=first.model,
        cases=len(cases),
        gold=gold,
        shuffled=wrong,
        vague=vague,
        unreadable=sum(one.verdict == "unreadable" for kind in kinds for one in kind),
    )


def shuffled(keys: Sequence[str], seed: int) -> list[str]:
    """Return for each key another one, drawn from those that differ from it in more than case; the same every time.

    Raises:
        ValueError: there is no other.
    """
    if len({key.casefold() for key in keys}) < 2:
        raise ValueError("a judge is tested with wrong answers, and all the keys are the same")
    draws = random.Random(seed)  # noqa: S311 - no secret, and it has to be repeatable
    return [draws.choice([other for other in keys if other.casefold() != key.casefold()]) for key in keys]
