"""LoCoMo's official scores, the same as those of `task_eval/evaluation.py` in snap-research/locomo.

The reference of an adversarial question is not looked at: an answer is right there if it says that nothing was said.
"""

from __future__ import annotations

import re
import string
from collections import Counter
from typing import TYPE_CHECKING

from .libraries import Stemmer

if TYPE_CHECKING:
    from collections.abc import Iterable

REFUSALS = ("no information available", "not mentioned")
"""What the official code takes for a refusal, in any case; `refusal.py` knows more."""
MULTI_HOP, OPEN_DOMAIN, ADVERSARIAL = 1, 3, 5
_ARTICLES = re.compile(r"\b(?:a|an|the|and)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalise(text: str) -> str:
    """Return a text in lower case, without ASCII punctuation, articles and `and`; `a,b` becomes one word."""
    return " ".join(_ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split())


def stems(text: str) -> list[str]:
    """Return the stemmed words of a text."""
    return [Stemmer.stem(word) for word in normalise(text).split()]


def exact_match(prediction: str, answer: str) -> bool:
    """Say whether two texts have the same words, in whatever order and number; unstemmed."""
    return set(normalise(prediction).split()) == set(normalise(answer).split())


def f1(prediction: str, answer: str) -> float:
    """Return the F1 of the stems two texts share, each as often as both have it."""
    said, wanted = stems(prediction), stems(answer)
    same = sum((Counter(said) & Counter(wanted)).values())
    return 2 * same / (len(said) + len(wanted)) if same else 0.0


def multi_f1(prediction: str, answer: str) -> float:
    """Return the mean over the parts of an answer, cut at commas, of the best F1 that any part of a prediction has."""
    said = [part.strip() for part in prediction.split(",")]
    wanted = [part.strip() for part in answer.split(",")]
    return sum(max(f1(part, one) for part in said) for one in wanted) / len(wanted)


def score(category: int, prediction: str, answer: str | None) -> float:
    """Return the official score of an answer to a question of a category.

    Args:
        category: LoCoMo's number.
        prediction: the answer given.
        answer: the right answer; of an open-domain question only what stands before the first semicolon counts, of an
            adversarial one nothing.
    """
    if category == ADVERSARIAL:
        return float(any(refusal in prediction.lower() for refusal in REFUSALS))
    wanted = str(answer)
    if category == MULTI_HOP:
        return multi_f1(prediction, wanted)
    return f1(prediction, wanted.partition(";")[0].strip() if category == OPEN_DOMAIN else wanted)


def mean(scores: Iterable[float]) -> float:
    """Return the official mean, which rounds each score to three places first; of nothing, 0."""
    rounded = [round(one, 3) for one in scores]
    return sum(rounded) / len(rounded) if rounded else 0.0
