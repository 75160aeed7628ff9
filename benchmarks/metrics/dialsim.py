"""DialSim's accuracy: strict, as its simulator counts, and lenient, as its authors meant it.

In the official code the lenient rules are never reached for an answer without a letter, so `(a)` for `(A)`, an
option's text without its letter and `I don't know.` for `(E)` are all wrong there. Both numbers stand side by side.
The official judging of free answers by a language model is no part of this.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Literal

from .evidence import says
from .refusal import refuses

if TYPE_CHECKING:
    from collections.abc import Sequence

Letter = Literal["A", "B", "C", "D", "E"]
LETTERS: tuple[Letter, ...] = ("A", "B", "C", "D", "E")
UNKNOWN: Letter = "E"
"""The option that none of the others is right."""
_LETTER = re.compile(r"\(([A-Ea-e])\)")
_SETTLED = re.compile(r"\banswer is:? *\(([A-E])\)", re.IGNORECASE)
_EXPLANATION = re.compile(r"\[explanation\]", re.IGNORECASE)

Verdict = Literal["correct", "wrong", "ambiguous"]


def strict(answer: str, right: Letter) -> Verdict:
    """Judge a choice as the simulator does: `(A)` must stand in it, and no other letter in either case."""
    if f"({right})" not in answer:
        return "wrong"
    others = {letter.upper() for letter in _LETTER.findall(answer)} - {right}
    return "ambiguous" if others else "correct"


def lenient(answer: str, right: Letter, options: Sequence[str]) -> bool:
    """Say whether an answer means the right option."""
    return chosen(answer, options) == right


def chosen(answer: str, options: Sequence[str]) -> Letter | None:
    """Return the option that an answer means; None if it means none, or several.

    By its letter in either case; of several letters, by the one before an explanation, or by `the answer is (A)`;
    without a letter, by an option's text; without that, a refusal means that none of the options is right.

    Args:
        answer: what was said.
        options: the texts of (A) to (E).
    """
    before = _EXPLANATION.split(answer)[0]
    for found in (_LETTER.findall(answer), _LETTER.findall(before), _SETTLED.findall(answer)):
        letters = {letter.upper() for letter in found}
        if len(letters) == 1:
            return next(letter for letter in LETTERS if letter in letters)
    if _LETTER.search(answer):
        return None
    named = _named(answer, options)
    if named:
        return named[0] if len(named) == 1 else None
    return UNKNOWN if refuses(answer) else None


def strict_text(answer: str, right: str) -> bool:
    """Judge a free answer as the simulator does before it asks a model: the same text, or that with a full stop."""
    return answer in {right, f"{right}."}


def lenient_text(answer: str, right: str) -> bool:
    """Say whether a free answer has the right one's words in a row; where that is a refusal, whether it refuses."""
    return refuses(answer) if refuses(right) else says(answer, right) and not refuses(answer)


def _named(answer: str, options: Sequence[str]) -> list[Letter]:
    """Return the options whose text stands in an answer, but for those that are part of another's text."""
    there = {letter: text for letter, text in zip(LETTERS, options, strict=True) if says(answer, text)}
    return [
        letter
        for letter, text in there.items()
        if not any(other != letter and says(longer, text) for other, longer in there.items())
    ]
