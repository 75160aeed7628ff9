"""Does an answer say that nothing is known, and was that right? Missed traps and needless refusals, counted apart."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from amem.values import Frozen

from .evidence import says

if TYPE_CHECKING:
    from collections.abc import Iterable

_PHRASES = (
    r"no (?:\w+ )?(?:information|mention|record|answer|evidence)\b",
    r"no one (?:said|mentioned)",
    r"not (?:been )?(?:\w+ )?(?:mentioned|specified|stated|provided|given|discussed|available|known|said|sure)\b",
    r"not enough (?:\w+ )?(?:information|context|detail)",
    r"insufficient (?:\w+ )?(?:information|context|detail)",
    r"(?:do|does|did)(?:n.?t| not) (?:\w+ )?(?:know|mention|specify|state|say|provide|tell|contain)",
    r"(?:do|does|did)(?:n.?t| not) have (?:\w+ ){0,2}(?:information|context|data|records?)",
    r"(?:is|was)(?:n.?t| not) (?:\w+ )?clear",
    r"(?:can|could)(?:n.?t| ?not) (?:\w+ )?(?:answer|say|tell|determine|find|be (?:answered|determined|found))",
    r"unable to (?:answer|say|tell|determine|find)",
    r"none of the (?:above|options)",
    r"unanswerable",
    r"never (?:\w+ )?(?:mentioned|said|stated|discussed)",
)
_REFUSAL = re.compile("|".join(rf"\b{phrase}" for phrase in _PHRASES), re.IGNORECASE)
_WHOLE = re.compile(r"\W*(?:unknown|unclear|none|n/a|no answer)\W*", re.IGNORECASE)


def refuses(answer: str) -> bool:
    """Say whether an answer states that the answer is not known.

    A fixed list of phrases, of wider reach than LoCoMo's official two; an empty answer is none, for it states nothing.
    """
    return bool(_REFUSAL.search(answer) or _WHOLE.fullmatch(answer))


def trapped(answer: str, trap: str) -> bool:
    """Say whether an answer gives the wrong answer that an adversarial question lays out, and does not refuse."""
    return says(answer, trap) and not refuses(answer)


class Refusals(Frozen):
    """The confusion matrix of refusing."""

    rightly_refused: int
    """Questions without an answer, refused."""
    wrongly_answered: int
    """Questions without an answer, answered all the same."""
    wrongly_refused: int
    """Questions with an answer, refused."""
    answered: int
    """Questions with an answer, answered, rightly or not."""

    @property
    def precision(self) -> float | None:
        """How many refusals were right; None where nothing was refused."""
        return _share(self.rightly_refused, self.wrongly_refused)

    @property
    def recall(self) -> float | None:
        """How many questions without an answer were refused; None where there are none."""
        return _share(self.rightly_refused, self.wrongly_answered)

    @property
    def false_refusals(self) -> float | None:
        """How many questions with an answer were refused; None where there are none."""
        return _share(self.wrongly_refused, self.answered)


def refusals(answers: Iterable[tuple[bool, bool]]) -> Refusals:
    """Count refusals, given for each question whether it has an answer and whether it was refused."""
    pairs = list(answers)
    return Refusals(
        rightly_refused=pairs.count((False, True)),
        wrongly_answered=pairs.count((False, False)),
        wrongly_refused=pairs.count((True, True)),
        answered=pairs.count((True, False)),
    )


def _share(part: int, rest: int) -> float | None:
    return part / (part + rest) if part + rest else None
