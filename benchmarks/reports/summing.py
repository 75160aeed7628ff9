"""From finished runs to the numbers of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.errors import InputError

from ..judge.judging import kappa  # noqa: TID252 - in a wheel, this package has another name
from ..metrics.refusal import refusals  # noqa: TID252 - likewise
from ..recall.options import TUNING  # noqa: TID252 - likewise
from ..runs.records import unit  # noqa: TID252 - likewise
from ..statistics.bootstrap import estimate  # noqa: TID252 - likewise
from ..statistics.comparison import compare  # noqa: TID252 - likewise
from ..statistics.items import Item, summarise  # noqa: TID252 - likewise
from .about import about, described
from .costing import cost_of, held, latency_of
from .gathering import alike, parties, unfinished
from .lateness import lateness_of
from .limits import limits
from .measures import MAIN, MEASURES, REFERENCES
from .types import Judged, Reference, Report, Row

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..runs.judging import Ruled, Tested  # noqa: TID252 - likewise
    from ..runs.records import Scored  # noqa: TID252 - likewise
    from ..statistics.bootstrap import Estimate  # noqa: TID252 - likewise
    from ..statistics.comparison import Comparison  # noqa: TID252 - likewise
    from ..statistics.items import Summary  # noqa: TID252 - likewise
    from .gathering import Party, Run

COMPARED = ("official", "strict", "right_words", "judge_strict", "judge_lenient", "evidence_shown")
"""Measures in which ours is compared with the others."""


def report(runs: Sequence[Run], *, ours: str | None = None, force: bool = False) -> Report:
    """Sum runs up.

    Args:
        runs: of the same data, reader, prompt, budget and measures.
        ours: the system that is compared with the others; default: the last amem, or else the last one.
        force: put unlike runs together; the report says first in what they differ.

    Raises:
        InputError: the runs are not alike, or there is no such system.
    """
    differences = alike(runs, force=force)
    found = parties(runs)
    judged = {party.label: _with_rulings(party) for party in found}
    chosen = _ours(found, ours)
    rows = tuple(_row(party, judged[party.label]) for party in found)
    main = MAIN[runs[0].manifest.data_format]
    whole = Report(
        about=about(runs, found),
        main=main,
        rows=rows,
        references=_references([one for scores in judged.values() for one in scores]),
        ours=chosen.label,
        comparisons=_comparisons(chosen, found, judged),
        judges=tuple(one for run in runs for one in _judges(run)),
        differences=tuple(differences),
        unfinished=tuple(line for run in runs for line in unfinished(run)),
        limits=(),
    )
    return whole.model_copy(update={"limits": tuple(limits(whole, found))})


def _ours(found: Sequence[Party], name: str | None) -> Party:
    if name is None:
        return next((party for party in reversed(found) if party.entry.kind == "amem"), found[-1])
    for party in found:
        if party.label == name:
            return party
    raise InputError(f"there is no system {name!r}; there are {', '.join(party.label for party in found)}")


def _row(party: Party, scores: Sequence[Scored]) -> Row:
    manifest = party.run.manifest
    holds = held(party)
    unanswerable = any(not one.answerable for one in scores)
    spent = cost_of(party)
    return Row(
        system=party.label,
        about=described(party.entry),
        run=manifest.config_hash,
        asked=manifest.questions,
        answered=len(scores),
        failed=sum(one.failed for one in scores),
        measures={
            measure.key: summarise(items, _disputed(scores), unanswerable=measure.unanswerable)
            for measure in MEASURES
            if (items := items_of(scores, measure.key))
        },
        untuned=_untuned(party, scores),
        refusals=refusals((one.answerable, one.refused) for one in scores) if unanswerable else None,
        inverted=_estimate(scores, lambda one: one.values.get("amem_c5_inverted")),
        trapped=_estimate(scores, lambda one: one.values.get("trapped")),
        context_tokens=_estimate(scores, lambda one: float(one.tokens)),
        cost=spent,
        search=latency_of(party, "search"),
        answer=latency_of(party, "answer"),
        late=lateness_of(party, spent.write),
        turns=sum(one.turns for one in holds),
        notes=sum(one.notes for one in holds),
        pending=sum(one.pending for one in holds),
        links=sum(one.links for one in holds),
    )


def _untuned(party: Party, scores: Sequence[Scored]) -> Summary | None:
    """Return the first measure over the conversations that amem's recall was not tuned on, where it was on others."""
    manifest = party.run.manifest
    rest = [one for one in scores if one.conversation not in TUNING]
    if manifest.data_name != "locomo" or len(rest) in {0, len(scores)}:
        return None
    return summarise(items_of(rest, MAIN[manifest.data_format]), _disputed(rest))


def items_of(scores: Sequence[Scored], key: str) -> list[Item]:
    """Return the questions' values in one measure; those it is undefined for are left out."""
    return [
        Item(one.conversation, one.index, one.category, one.values[key], one.answerable)
        for one in scores
        if key in one.values
    ]


def _disputed(scores: Sequence[Scored]) -> set[tuple[str, int]]:
    return {(one.conversation, one.index) for one in scores if one.disputed}


def _estimate(scores: Sequence[Scored], value: Callable[[Scored], float | None]) -> Estimate | None:
    pairs = [(found, one.conversation) for one in scores if (found := value(one)) is not None]
    return estimate([found for found, _ in pairs], [conversation for _, conversation in pairs])


def _references(every: Sequence[Scored]) -> tuple[Reference, ...]:
    """Return what needs no memory, over each question that any system has answered."""
    scores = list({(one.conversation, one.index): one for one in every}.values())
    return tuple(
        Reference(name=name, measure=measure, summary=summarise(items, _disputed(scores)))
        for key, (measure, name) in REFERENCES.items()
        if (items := items_of(scores, key))
    )


def _comparisons(
    chosen: Party, found: Sequence[Party], judged: dict[str, list[Scored]]
) -> dict[str, tuple[Comparison, ...]]:
    """Compare ours with each other system on the questions that it answered; systems that lack some are left out."""
    compared = {}
    for key in COMPARED:
        ours = items_of(judged[chosen.label], key)
        asked = {item.key for item in ours}
        others = {party.label: items_of(judged[party.label], key) for party in found if party is not chosen}
        whole = {name: items for name, items in others.items() if {item.key for item in items} == asked}
        if ours and whole:
            compared[key] = tuple(compare(ours, whole))
    return compared


def _with_rulings(party: Party) -> list[Scored]:
    """Return a system's scores with the judge's verdicts among the values."""
    verdicts: dict[str, dict[str, float]] = {}
    for one in party.run.rulings.rulings:
        if one.system == party.entry.label:
            values = verdicts.setdefault(unit(one.system, one.question), {})
            values[f"judge_{one.ruling.manner}"] = float(one.ruling.verdict == "correct")
    return [
        one.model_copy(update={"values": one.values | verdicts[one.unit]}) if one.unit in verdicts else one
        for one in party.scores
    ]


def _judges(run: Run) -> list[Judged]:
    rulings, tested = run.rulings
    by_manner: dict[str, list[Ruled]] = {}
    for one in rulings:
        by_manner.setdefault(one.ruling.manner, []).append(one)
    return [_judged(manner, some, by_manner, tested) for manner, some in sorted(by_manner.items())]


def _judged(manner: str, some: Sequence[Ruled], all_: dict[str, list[Ruled]], tested: Sequence[Tested]) -> Judged:
    test = next((one.report for one in tested if one.report.manner == manner), None)
    mine = {(one.system, one.question): one.ruling for one in some}
    theirs = {(one.system, one.question): one.ruling for name, rest in all_.items() if name != manner for one in rest}
    both = sorted(mine.keys() & theirs.keys())
    return Judged(
        manner=manner,
        model=some[0].ruling.model,
        prompt=some[0].ruling.prompt,
        gold=test.gold if test else None,
        shuffled=test.shuffled if test else None,
        vague=test.vague if test else None,
        unreadable=sum(one.ruling.verdict == "unreadable" for one in some),
        kappa=kappa([mine[key] for key in both], [theirs[key] for key in both]),
    )
