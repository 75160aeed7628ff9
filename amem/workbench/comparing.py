"""Comparing two wordings of a prompt, case by case: what each makes of the same question, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from amem.llm.recording_file import key_of
from amem.model import Usage
from amem.values import Frozen
from amem.workbench.judging import Verdict
from amem.workbench.outcomes import outcome
from amem.workbench.readings import Reading, read
from amem.workbench.remembering import Evidence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.workbench.cases import Case
    from amem.workbench.trials import Trial


class Measured(Frozen):
    """One side of one case."""

    usable: bool
    missing: bool = False
    """There is no reply to judge."""
    problem: str = ""
    reading: Reading = Reading()
    usage: Usage = Usage()


class Compared(Frozen):
    """One case in both wordings. Where a side is missing or unusable, nothing is counted as changed."""

    prompt: str
    case: str
    name: str
    a: Measured
    b: Measured
    same_request: bool
    """Both wordings ask the same, to the byte."""
    fields: int = 0
    """Fields in either reply."""
    changed: tuple[str, ...] = ()
    """Names of fields whose values differ, or that only one reply has."""
    keyword_overlap: float | None = None
    """Jaccard, averaged over the items that have keywords in either; None where there are none."""
    tag_overlap: float | None = None
    links_gained: tuple[str, ...] = ()
    links_lost: tuple[str, ...] = ()
    evolutions_gained: tuple[str, ...] = ()
    evolutions_lost: tuple[str, ...] = ()

    @property
    def answered(self) -> bool:
        """Whether both sides have a reply, usable or not."""
        return not (self.a.missing or self.b.missing)


class Side(Frozen):
    """One wording over all cases that both answered."""

    usable: int = 0
    links: int = 0
    evolutions: int = 0
    invented: int = 0
    repeated: int = 0
    texts: int = 0
    kept: int = 0
    """Texts in the script of their source, of `texts`."""
    length: int = 0
    usage: Usage = Usage()


class Totals(Frozen):
    """The sum over cases; what two replies are needed for is summed over the cases that both answered."""

    prompt: str | None
    """None for all prompts together."""
    cases: int
    answered: int
    """Cases that both sides answered."""
    missing_a: int
    missing_b: int
    a: Side
    b: Side
    fields: int
    changed: int
    keyword_overlap: float | None
    tag_overlap: float | None
    links_gained: int
    links_lost: int
    evolutions_gained: int
    evolutions_lost: int


class Report(Frozen):
    """What `amem prompts compare --json` prints."""

    a: str
    b: str
    model: str
    """Whose replies they are; empty where nothing is recorded."""
    cases: tuple[Compared, ...]
    by_prompt: tuple[Totals, ...]
    total: Totals
    labelled: Verdict | None = None
    """How both do on the labelled set, where that was asked for."""
    evidence: Evidence | None = None
    """What the notes that both build are worth to a search, where that was asked for."""


@dataclass(frozen=True)
class Pair:
    """A case and its trial in both wordings."""

    case: Case
    a: Trial
    b: Trial


def report(
    pairs: Sequence[Pair],
    a: str,
    b: str,
    model: str,
    *,
    labelled: Verdict | None = None,
    evidence: Evidence | None = None,
) -> Report:
    """Compare every pair, and sum up."""
    cases = tuple(compared(pair) for pair in pairs)
    prompts = dict.fromkeys(case.prompt for case in cases)
    by_prompt = tuple(_totals(name, [case for case in cases if case.prompt == name]) for name in prompts)
    return Report(
        a=a,
        b=b,
        model=model,
        cases=cases,
        by_prompt=by_prompt,
        total=_totals(None, cases),
        labelled=labelled,
        evidence=evidence,
    )


def compared(pair: Pair) -> Compared:
    """Compare what one case came to in both wordings."""
    case = pair.case
    a, b = measured(pair.a, case), measured(pair.b, case)
    about = {"prompt": case.prompt, "case": case.id, "name": case.name, "same_request": _same(pair)}
    if not (a.usable and b.usable):
        return Compared(a=a, b=b, **about)
    one, two = a.reading, b.reading
    names = list(dict.fromkeys([*one.fields, *two.fields]))
    return Compared(
        a=a,
        b=b,
        **about,
        fields=len(names),
        changed=tuple(name for name in names if one.fields.get(name) != two.fields.get(name)),
        keyword_overlap=overlap(one.keywords, two.keywords),
        tag_overlap=overlap(one.tags, two.tags),
        links_gained=_only(two.links, one.links),
        links_lost=_only(one.links, two.links),
        evolutions_gained=_only(two.evolutions, one.evolutions),
        evolutions_lost=_only(one.evolutions, two.evolutions),
    )


def measured(trial: Trial, case: Case) -> Measured:
    """Read one trial; links and changes that a reply only gives grounds for are those that code makes of it."""
    reading = read(trial.value, case.variables) if trial.usable else Reading()
    stored = outcome(trial, case.variables)
    reading = reading.model_copy(
        update={"links": reading.links or stored.linked, "evolutions": reading.evolutions or stored.changed}
    )
    return Measured(
        usable=trial.usable, missing=trial.missing, problem=trial.problem, reading=reading, usage=trial.usage
    )


def overlap(one: Mapping[str, Sequence[str]], two: Mapping[str, Sequence[str]]) -> float | None:
    """Return the mean Jaccard index over the items that have words in either."""
    found = []
    for item in dict.fromkeys([*one, *two]):
        a, b = set(one.get(item, ())), set(two.get(item, ()))
        if a | b:
            found.append(len(a & b) / len(a | b))
    return _mean(found)


def _same(pair: Pair) -> bool:
    """Whether both wordings ask the same, by all that decides what a model answers."""
    one, two = pair.a.request, pair.b.request
    return one is not None and two is not None and key_of(one) == key_of(two)


def _only(these: Sequence[str], those: Sequence[str]) -> tuple[str, ...]:
    return tuple(item for item in these if item not in those)


def _totals(prompt: str | None, cases: Sequence[Compared]) -> Totals:
    both = [case for case in cases if case.answered]
    return Totals(
        prompt=prompt,
        cases=len(cases),
        answered=len(both),
        missing_a=sum(case.a.missing for case in cases),
        missing_b=sum(case.b.missing for case in cases),
        a=_side([case.a for case in both]),
        b=_side([case.b for case in both]),
        fields=sum(case.fields for case in both),
        changed=sum(len(case.changed) for case in both),
        keyword_overlap=_mean([case.keyword_overlap for case in both]),
        tag_overlap=_mean([case.tag_overlap for case in both]),
        links_gained=sum(len(case.links_gained) for case in both),
        links_lost=sum(len(case.links_lost) for case in both),
        evolutions_gained=sum(len(case.evolutions_gained) for case in both),
        evolutions_lost=sum(len(case.evolutions_lost) for case in both),
    )


def _side(sides: Sequence[Measured]) -> Side:
    readings = [side.reading for side in sides]
    texts = sum(reading.texts for reading in readings)
    return Side(
        usable=sum(side.usable for side in sides),
        links=sum(len(reading.links) for reading in readings),
        evolutions=sum(len(reading.evolutions) for reading in readings),
        invented=sum(len(reading.invented) for reading in readings),
        repeated=sum(len(reading.repeated) for reading in readings),
        texts=texts,
        kept=texts - sum(len(reading.foreign) for reading in readings),
        length=sum(reading.length for reading in readings),
        usage=sum((side.usage for side in sides), Usage()),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
