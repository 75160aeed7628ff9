"""Scoring two wordings on the labelled set: what each makes of cases whose right answer is known.

A pair of turns is put to `link` and to `link_evolve`, an evolution to `evolve` and `link_evolve`, dates and facts to
`note`. Notes of a pair have no context, so that the verdict hangs on the prompt that is judged alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.model import Frozen, Usage
from amem.workbench.cases import Case
from amem.workbench.labelled import DateCase, EvolutionCase, Half, KnownTurn, Labelled, LinkCase, NoteCase, load
from amem.workbench.readings import read
from amem.workbench.scoring import (
    Estimate,
    balanced_accuracy,
    date_resolved,
    evolution_verdict,
    facts_kept,
    false_claims,
    wilson,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from pydantic import JsonValue

    from amem.workbench.labelled import Turn
    from amem.workbench.readings import Reading
    from amem.workbench.trials import Trial

_LOWER = frozenset(("wrong changes", "false claims"))
"""Measures of which less is better."""
_ROOM: dict[str, JsonValue] = {"max_tokens": 600}


class Score(Frozen):
    """One measure of one prompt in both wordings, over the labelled cases that both answered."""

    prompt: str
    measure: str
    a: Estimate
    b: Estimate
    lower: bool = False
    """The lower figure is the better one."""


class Verdict(Frozen):
    """How both wordings do on one half of the labelled set."""

    half: Half
    cases: int
    missing_a: int
    missing_b: int
    scores: tuple[Score, ...]
    a: Usage
    """What the answers of the first wording took, over the cases that both answered."""
    b: Usage


@dataclass(frozen=True)
class Put:
    """A labelled case, put to one prompt."""

    label: Labelled
    case: Case


def put(half: Half, prompts: Collection[str], folder: Path | None = None) -> list[Put]:
    """Put every labelled case of one half to each of these prompts that can answer it.

    Raises:
        InputError: the labelled set is missing or malformed.
    """
    kinds = (LinkCase, EvolutionCase, DateCase, NoteCase)
    labels = [label for kind in kinds for label in load(kind, half, folder)]
    return [
        Put(label, Case.given(prompt, variables).model_copy(update={"params": _ROOM}))
        for label in labels
        for prompt, variables in _asked(label)
        if prompt in prompts
    ]


def judge(half: Half, puts: Sequence[Put], a: Sequence[Trial], b: Sequence[Trial]) -> Verdict:
    """Score both wordings; a reply that cannot be used links nothing, changes nothing and tells nothing."""
    both = [trio for trio in zip(puts, a, b, strict=True) if not (trio[1].missing or trio[2].missing)]
    return Verdict(
        half=half,
        cases=len(puts),
        missing_a=sum(trial.missing for trial in a),
        missing_b=sum(trial.missing for trial in b),
        scores=tuple(_scores(both)),
        a=sum((one.usage for _, one, _ in both), Usage()),
        b=sum((two.usage for _, _, two in both), Usage()),
    )


def _scores(both: Sequence[tuple[Put, Trial, Trial]]) -> Iterator[Score]:
    groups: dict[tuple[str, type[Labelled]], list[tuple[Put, Trial, Trial]]] = {}
    for trio in both:
        groups.setdefault((trio[0].case.prompt, type(trio[0].label)), []).append(trio)
    for (prompt, _), group in groups.items():
        one = _measures([(put, trial) for put, trial, _ in group])
        two = _measures([(put, trial) for put, _, trial in group])
        for name in one:
            yield Score(prompt=prompt, measure=name, a=one[name], b=two[name], lower=name in _LOWER)


def _asked(label: Labelled) -> Iterator[tuple[str, dict[str, JsonValue]]]:
    """Yield the prompts that a case can be put to, with their variables."""
    if isinstance(label, LinkCase):
        older, newer = _known(label.older), _known(label.newer)
        yield "link", {"neighbours": [{"number": 0, **older}], "note": newer}
        yield "link_evolve", _window(older, [newer])
    elif isinstance(label, EvolutionCase):
        older, new = _known(label.older), [_known(turn) for turn in label.newer]
        if len(new) == 1:
            yield "evolve", {"neighbours": [{"number": 0, **older}], "note": new[0]}
        yield "link_evolve", _window(older, new)
    elif isinstance(label, DateCase):
        yield "note", {"earlier": [], "turns": [{"number": 0, **_turn(label.turn)}]}
    elif isinstance(label, NoteCase):
        earlier: list[JsonValue] = [_turn(turn) for turn in label.earlier]
        yield "note", {"earlier": earlier, "turns": [{"number": 0, **_turn(label.turn)}]}


def _window(older: dict[str, JsonValue], newer: Sequence[dict[str, JsonValue]]) -> dict[str, JsonValue]:
    notes: list[JsonValue] = [{"number": i, **note, "near": [0]} for i, note in enumerate(newer, 1)]
    return {"neighbours": [{"number": 0, **older}], "notes": notes}


def _turn(turn: Turn) -> dict[str, JsonValue]:
    return {"date": turn.date.isoformat(), "speaker": turn.speaker, "text": turn.text}


def _known(turn: Turn) -> dict[str, JsonValue]:
    if isinstance(turn, KnownTurn):
        about: dict[str, JsonValue] = {"keywords": [*turn.keywords], "tags": [*turn.tags]}
        return {**_turn(turn), "context": turn.context, **about}
    return {**_turn(turn), "context": "", "keywords": [], "tags": []}


def _measures(answered: Sequence[tuple[Put, Trial]]) -> dict[str, Estimate]:
    """Return the measures of one prompt and one kind of case, by name."""
    readings = [(put.label, read(trial.value, put.case.variables) if trial.usable else None) for put, trial in answered]
    label = readings[0][0]
    if isinstance(label, LinkCase):
        return _of_links([(found, got) for found, got in readings if isinstance(found, LinkCase)])
    if isinstance(label, EvolutionCase):
        return _of_evolutions([(found, got) for found, got in readings if isinstance(found, EvolutionCase)])
    told = [(found, got.fields.get("turn 0 context", "") if got else "") for found, got in readings]
    if isinstance(label, DateCase):
        right = [date_resolved(context, found) for found, context in told if isinstance(found, DateCase)]
        return {"dates resolved": wilson(sum(right), len(right))}
    return _of_notes([(found, context) for found, context in told if isinstance(found, NoteCase)])


def _of_links(readings: Sequence[tuple[LinkCase, Reading | None]]) -> dict[str, Estimate]:
    said = [got is not None and any(link.endswith("→ 0") for link in got.links) for _, got in readings]
    found = balanced_accuracy([label.related for label, _ in readings], said)
    return {
        "links, balanced accuracy": found.overall,
        "links, related pairs linked": found.related,
        "links, unrelated pairs left": found.unrelated,
    }


def _of_evolutions(readings: Sequence[tuple[EvolutionCase, Reading | None]]) -> dict[str, Estimate]:
    verdicts = [evolution_verdict(label, *_proposed(got)) for label, got in readings]
    due = [verdict for (label, _), verdict in zip(readings, verdicts, strict=True) if label.change]
    new = [held for verdict in due for held in verdict.new]
    kept = [held for verdict in due for held in verdict.kept]
    return {
        "wrong changes": wilson(sum(verdict.wrong for verdict in verdicts), len(verdicts)),
        "changes made where due": wilson(sum(not verdict.missed for verdict in due), len(due)),
        "new facts told": wilson(sum(new), len(new)),
        "old facts kept": wilson(sum(kept), len(kept)),
    }


def _proposed(got: Reading | None) -> tuple[str | None, tuple[str, ...]]:
    if got is None:
        return None, ()
    words = (*got.keywords.get("note 0", ()), *got.tags.get("note 0", ()))
    return got.fields.get("note 0 context"), words


def _of_notes(told: Sequence[tuple[NoteCase, str]]) -> dict[str, Estimate]:
    facts = [held for label, context in told for held in facts_kept(context, label.facts)]
    false = [bool(false_claims(context, label.must_not)) for label, context in told]
    return {
        "facts kept": wilson(sum(facts), len(facts)),
        "false claims": wilson(sum(false), len(false)),
    }
