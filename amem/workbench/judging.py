"""Scoring two wordings on the labelled set: what each makes of cases whose right answer is known.

What is scored is what the pipeline would store, by its own parsers and rules: `putting` says what is asked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.model import Usage
from amem.values import Frozen
from amem.workbench.labelled import DateCase, EvolutionCase, Half, Labelled, LinkCase, NoteCase, QuestionCase
from amem.workbench.outcomes import Outcome, outcome
from amem.workbench.scoring import (
    Estimate,
    balanced_accuracy,
    date_resolved,
    evolution_verdict,
    facts_kept,
    false_claims,
    stands_in,
    wilson,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from amem.workbench.putting import Put
    from amem.workbench.trials import Trial

    Judged = tuple[Labelled, Outcome]

_LOWER = frozenset(("wrong changes", "false claims"))
"""Measures of which less is better."""
_DECLINED = "not mentioned"


class Score(Frozen):
    """One measure of one prompt in both wordings, over the labelled cases that both answered."""

    prompt: str
    measure: str
    a: Estimate
    b: Estimate
    lower: bool = False
    """The lower figure is the better one."""


class Spent(Frozen):
    """What the answers of one prompt took in both wordings, over the labelled cases that both answered."""

    prompt: str
    cases: int
    a: Usage
    b: Usage


class Verdict(Frozen):
    """How both wordings do on one half of the labelled set."""

    half: Half
    cases: int
    missing_a: int
    missing_b: int
    scores: tuple[Score, ...]
    spent: tuple[Spent, ...]


def judge(half: Half, puts: Sequence[Put], a: Sequence[Trial], b: Sequence[Trial]) -> Verdict:
    """Score both wordings; a reply that cannot be used links nothing, changes nothing and tells nothing."""
    both = [trio for trio in zip(puts, a, b, strict=True) if not (trio[1].missing or trio[2].missing)]
    return Verdict(
        half=half,
        cases=len(puts),
        missing_a=sum(trial.missing for trial in a),
        missing_b=sum(trial.missing for trial in b),
        scores=tuple(_scores(both)),
        spent=tuple(_spent(both)),
    )


def _spent(both: Sequence[tuple[Put, Trial, Trial]]) -> Iterator[Spent]:
    for prompt in dict.fromkeys(put.case.prompt for put, _, _ in both):
        usages = [(one.usage, two.usage) for put, one, two in both if put.case.prompt == prompt]
        one, two = (sum(side, Usage()) for side in zip(*usages, strict=True))
        yield Spent(prompt=prompt, cases=len(usages), a=one, b=two)


def _scores(both: Sequence[tuple[Put, Trial, Trial]]) -> Iterator[Score]:
    groups: dict[tuple[str, type[Labelled]], list[tuple[Put, Trial, Trial]]] = {}
    for trio in both:
        groups.setdefault((trio[0].case.prompt, type(trio[0].label)), []).append(trio)
    for (prompt, _), group in groups.items():
        one = _measures([(put, trial) for put, trial, _ in group])
        two = _measures([(put, trial) for put, _, trial in group])
        for name in one:
            yield Score(prompt=prompt, measure=name, a=one[name], b=two[name], lower=name in _LOWER)


def _measures(answered: Sequence[tuple[Put, Trial]]) -> dict[str, Estimate]:
    """Return the measures of one prompt and one kind of case, by name."""
    judged = [(put.label, outcome(trial, put.case.variables)) for put, trial in answered]
    label = judged[0][0]
    if isinstance(label, LinkCase):
        return _of_links([(found, got) for found, got in judged if isinstance(found, LinkCase)])
    if isinstance(label, EvolutionCase):
        return _of_evolutions([(found, got) for found, got in judged if isinstance(found, EvolutionCase)])
    if isinstance(label, QuestionCase):
        return _of_questions([(found, got.answer) for found, got in judged if isinstance(found, QuestionCase)])
    told = [(found, got.contexts.get("0", "")) for found, got in judged]
    if isinstance(label, DateCase):
        right = [date_resolved(context, found) for found, context in told if isinstance(found, DateCase)]
        return {"dates resolved": wilson(sum(right), len(right))}
    return _of_notes([(found, context) for found, context in told if isinstance(found, NoteCase)])


def _of_links(judged: Sequence[tuple[LinkCase, Outcome]]) -> dict[str, Estimate]:
    said = [any(link.target == "0" for link in got.links) for _, got in judged]
    found = balanced_accuracy([label.related for label, _ in judged], said)
    return {
        "links, balanced accuracy": found.overall,
        "links, related pairs linked": found.related,
        "links, unrelated pairs left": found.unrelated,
    }


def _of_evolutions(judged: Sequence[tuple[EvolutionCase, Outcome]]) -> dict[str, Estimate]:
    verdicts = [evolution_verdict(label, *_proposed(got)) for label, got in judged]
    due = [verdict for (label, _), verdict in zip(judged, verdicts, strict=True) if label.change]
    new = [held for verdict in due for held in verdict.new]
    kept = [held for verdict in due for held in verdict.kept]
    return {
        "wrong changes": wilson(sum(verdict.wrong for verdict in verdicts), len(verdicts)),
        "changes made where due": wilson(sum(not verdict.missed for verdict in due), len(due)),
        "new facts told": wilson(sum(new), len(new)),
        "old facts kept": wilson(sum(kept), len(kept)),
    }


def _proposed(got: Outcome) -> tuple[str | None, tuple[str, ...]]:
    """Return the context and the words that the older note would be given."""
    for change in got.changes:
        if change.note_id == "0":
            return change.context or None, (*change.keywords, *change.tags)
    return None, ()


def _of_questions(answers: Sequence[tuple[QuestionCase, str]]) -> dict[str, Estimate]:
    right = [all(facts_kept(answer, label.facts)) for label, answer in answers if label.facts]
    declined = [stands_in(answer, _DECLINED) for label, answer in answers if not label.facts]
    return {
        "answers right": wilson(sum(right), len(right)),
        "absent answers declined": wilson(sum(declined), len(declined)),
    }


def _of_notes(told: Sequence[tuple[NoteCase, str]]) -> dict[str, Estimate]:
    facts = [held for label, context in told for held in facts_kept(context, label.facts)]
    false = [bool(false_claims(context, label.must_not)) for label, context in told]
    return {
        "facts kept": wilson(sum(facts), len(facts)),
        "false claims": wilson(sum(false), len(false)),
    }
