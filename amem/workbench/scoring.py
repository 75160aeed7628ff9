"""What a version's answers are worth on the labelled set; pure functions, no model and no files.

Wordings are looked for without regard to case, width and the form of apostrophes. A wording is a whole word or several;
`operat*` also finds `operation`, `*حسام*` finds a name with what Arabic joins to it. In Chinese, Japanese and Korean,
which do not part words or join particles to them, a wording is found anywhere.
"""

from __future__ import annotations

import math
import random
import re
import unicodedata
from statistics import fmean
from typing import TYPE_CHECKING

from amem.values import Frozen
from amem.workbench.dating import names_date

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from amem.workbench.labelled import DateCase, EvolutionCase, Fact

_Z = 1.959963984540054  # 95 % of a normal distribution
_RESAMPLES = 2_000
_SEED = 20231
_APOSTROPHES = str.maketrans("\u2018\u2019\u02bc\u0060", "''''")
_JOINED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Of scripts that do not part their words, or join particles to them."""


class Estimate(Frozen):
    """A figure with its 95 % interval."""

    value: float
    low: float
    high: float
    count: int
    """Of how many cases."""


class BalancedAccuracy(Frozen):
    """The mean of two shares, so that saying always yes, or always no, is worth one half."""

    overall: Estimate
    related: Estimate
    """Of the related pairs, those that were linked."""
    unrelated: Estimate
    """Of the unrelated pairs, those that were not."""


class EvolutionVerdict(Frozen):
    """What one answer to an evolution case did."""

    changed: bool
    wrong: bool
    """It changed what may not change, or left out of the new context what has to stay."""
    missed: bool
    """It changed nothing where something had to change."""
    new: tuple[bool, ...]
    """For each new fact of the case, whether the context holds it."""
    kept: tuple[bool, ...]
    """For each fact that has to stay, whether the context holds it."""


def wilson(hits: int, count: int) -> Estimate:
    """Return a share with Wilson's interval; of nothing, nothing is known."""
    if count == 0:
        return Estimate(value=0.0, low=0.0, high=1.0, count=0)
    share, z = hits / count, _Z
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    reach = z * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count)) / (1 + z * z / count)
    low, high = max(0.0, middle - reach), min(1.0, middle + reach)  # rounding may put an end beyond a share of 0 or 1
    return Estimate(value=share, low=min(low, share), high=max(high, share), count=count)


def mean(values: Sequence[float]) -> Estimate:
    """Return a mean with a bootstrap interval over the cases, the same at every call; of nothing, nothing is known."""
    if not values:
        return Estimate(value=0.0, low=0.0, high=1.0, count=0)
    draws = random.Random(_SEED)  # noqa: S311 - no secret, and it has to be repeatable
    means = sorted(fmean(draws.choices(values, k=len(values))) for _ in range(_RESAMPLES))
    low, high = means[int(0.025 * _RESAMPLES)], means[int(0.975 * _RESAMPLES)]
    return Estimate(value=fmean(values), low=low, high=high, count=len(values))


def balanced_accuracy(truth: Sequence[bool], said: Sequence[bool]) -> BalancedAccuracy:
    """Compare what was said of each pair with what is true of it.

    The interval of the mean is put together from Wilson's intervals of both shares, as Newcombe (1998) does it.
    """
    pairs = list(zip(truth, said, strict=True))
    related = wilson(sum(true and told for true, told in pairs), sum(truth))
    unrelated = wilson(sum(not true and not told for true, told in pairs), len(pairs) - related.count)
    value = (related.value + unrelated.value) / 2
    down = math.hypot(related.value - related.low, unrelated.value - unrelated.low) / 2
    up = math.hypot(related.high - related.value, unrelated.high - unrelated.value) / 2
    overall = Estimate(value=value, low=max(0.0, value - down), high=min(1.0, value + up), count=len(pairs))
    return BalancedAccuracy(overall=overall, related=related, unrelated=unrelated)


def best_threshold(truth: Sequence[bool], scores: Sequence[float]) -> float:
    """Return the best balanced accuracy that any threshold on the scores reaches, in either direction.

    It is chosen with the answers at hand, so that no honest use of the scores alone does better on these pairs.
    """
    cuts = [*sorted(set(scores)), math.inf]
    reached = [balanced_accuracy(truth, [score >= cut for score in scores]).overall.value for cut in cuts]
    return max(*reached, 1 - min(reached))


def stands_in(text: str, wording: str) -> bool:
    """Whether a wording stands in a text; see this module's first lines."""
    told, bare = _plain(text), _plain(wording)
    inner = bare.strip("*")
    open_start = bare.startswith("*") or not _in_word(inner[:1])
    open_end = bare.endswith("*") or not _in_word(inner[-1:])
    start = told.find(inner) if inner else -1
    while start >= 0:
        before, after = told[max(start - 1, 0) : start], told[start + len(inner) : start + len(inner) + 1]
        if (open_start or not _in_word(before)) and (open_end or not _in_word(after)):
            return True
        start = told.find(inner, start + 1)
    return False


def facts_kept(text: str, facts: Iterable[Fact]) -> tuple[bool, ...]:
    """Say for each fact whether one of its wordings stands in the text."""
    return tuple(any(stands_in(text, wording) for wording in fact) for fact in facts)


def false_claims(text: str, must_not: Iterable[str]) -> tuple[str, ...]:
    """Return those of the forbidden wordings that stand in the text."""
    return tuple(wording for wording in must_not if stands_in(text, wording))


def evolution_verdict(case: EvolutionCase, context: str | None, added: Collection[str] = ()) -> EvolutionVerdict:
    """Judge what was proposed for the older note.

    Args:
        case: the older note, and what had to become of it.
        context: the proposed context; None or empty where none was proposed.
        added: proposed keywords and tags; those that the note carries already change nothing.
    """
    known = {_plain(word) for word in (*case.older.keywords, *case.older.tags)}
    rewritten = bool(context) and _plain(context or "") != _plain(case.older.context)
    changed = rewritten or any(_plain(word) not in known for word in added)
    told = context if rewritten and context else case.older.context
    kept = facts_kept(told, case.kept_facts)
    return EvolutionVerdict(
        changed=changed,
        wrong=changed if not case.change else rewritten and not all(kept),
        missed=case.change and not changed,
        new=facts_kept(told, case.new_facts),
        kept=kept,
    )


def date_resolved(text: str, case: DateCase) -> bool:
    """Whether the date that the case's turn means stands in a text made of it; `dating` says what is recognised."""
    return any(names_date(text, expected, case.granularity, case.language) for expected in case.expected)


def evidence_recall(evidence: Collection[str], found: Collection[str]) -> float | None:
    """Return the share of a question's evidence that was found; None where it has none."""
    wanted = set(evidence)
    return len(wanted.intersection(found)) / len(wanted) if wanted else None


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.translate(_APOSTROPHES).split())


def _in_word(char: str) -> bool:
    """Whether a character is a letter or digit of a script that parts its words."""
    return char.isalnum() and _JOINED.match(char) is None
