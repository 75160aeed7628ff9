"""The labelled set: cases with known answers, written for this project, on which versions of the prompts are scored.

One half is there to develop on, the other for reporting only. `_data/labelled/README.md` says how they were written.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self, TypeVar

from pydantic import Field, ValidationError, model_validator

from amem.errors import InputError
from amem.values import Frozen, Moment, Words

Half = Literal["develop", "report"]
Granularity = Literal["day", "week", "month", "year"]
Text = Annotated[Words, Field(min_length=1)]
Fact = Annotated[tuple[Text, ...], Field(min_length=1)]
"""One thing to be told, as the wordings that tell it; `scoring.stands_in` says how they are looked for."""

_NUMBER = re.compile(r"([a-z]+)-(\d{3})")
_ISO = {
    "day": re.compile(r"\d{4}-\d\d-\d\d"),
    "week": re.compile(r"\d{4}-W\d\d"),
    "month": re.compile(r"\d{4}-(?:0[1-9]|1[0-2])"),
    "year": re.compile(r"\d{4}"),
}


class Turn(Frozen):
    """What somebody said on some day."""

    speaker: Text
    date: date
    text: Text


class KnownTurn(Turn):
    """A turn with what a note already says about it."""

    context: Text
    keywords: tuple[Text, ...]
    tags: tuple[Text, ...]


class Spoken(Frozen):
    """One turn of the conversation that the questions are about."""

    id: Text
    session: Text
    speaker: Text
    at: Moment
    text: Text


class Labelled(Frozen):
    """What every case has."""

    file: ClassVar[str]
    """Name of its file, without `.jsonl`; its ids begin with it too."""
    id: Text
    half: Half
    """`develop` where the id is odd, `report` where it is even."""
    language: Text
    """ISO 639-1, of the newest turn."""

    @model_validator(mode="after")
    def _id_decides_the_half(self) -> Self:
        number = _NUMBER.fullmatch(self.id)
        if number is None or number[1] != self.file:
            raise ValueError(f"{self.id} should be `{self.file}-` and three digits")
        if self.half != ("develop" if int(number[2]) % 2 else "report"):
            raise ValueError(f"{self.id} stands in the wrong half: odd ids develop, even ids report")
        return self


class LinkCase(Labelled):
    """Two turns: do they tell of the same plan, object, event or trouble?"""

    file = "link"
    sort: Text
    label: Literal["related", "unrelated"]
    older: Turn
    newer: Turn
    why: Text

    @property
    def related(self) -> bool:
        """Whether the two are to be linked."""
        return self.label == "related"

    @model_validator(mode="after")
    def _older_is_older(self) -> Self:
        if self.older.date > self.newer.date:
            raise ValueError(f"{self.id}: the older turn is of a later date than the newer one")
        return self


class EvolutionCase(Labelled):
    """An older note and what was said later: what has to become of the note's context."""

    file = "evolution"
    sort: Text
    change: bool
    """False where nothing about the older note may change."""
    older: KnownTurn
    newer: Annotated[tuple[KnownTurn, ...], Field(min_length=1)]
    because: tuple[int, ...]
    """Places in `newer`, from 0, of those that cause the change."""
    new_facts: tuple[Fact, ...]
    """What the new context must hold by what was said later."""
    kept_facts: tuple[Fact, ...]
    """What it must still hold of the older note."""
    why: Text

    @model_validator(mode="after")
    def _changes_have_facts(self) -> Self:
        if self.change != bool(self.because and self.new_facts and self.kept_facts):
            raise ValueError(f"{self.id}: a change has causes, new facts and kept facts, and no change has none")
        if not set(self.because) <= set(range(len(self.newer))):
            raise ValueError(f"{self.id}: `because` names a turn that is not among the newer ones")
        return self


class DateCase(Labelled):
    """A turn that names a time relative to its own date."""

    file = "date"
    sort: Text
    turn: Turn
    phrase: Text
    """The words in the turn that name the time."""
    expected: Annotated[tuple[Text, ...], Field(min_length=1)]
    """ISO 8601, of the case's granularity; any of them is right (a weekend has two days)."""
    granularity: Granularity

    @model_validator(mode="after")
    def _dates_are_of_the_granularity(self) -> Self:
        if self.phrase not in self.turn.text:
            raise ValueError(f"{self.id}: {self.phrase!r} is not in the turn")
        for expected in self.expected:
            if not _ISO[self.granularity].fullmatch(expected):
                raise ValueError(f"{self.id}: {expected!r} is no {self.granularity} in ISO 8601")
            if self.granularity in {"day", "week"}:
                date.fromisoformat(expected)
        return self


class NoteCase(Labelled):
    """A turn, what was said just before, and what a good context of it tells."""

    file = "note"
    sort: Text
    earlier: tuple[Turn, ...]
    turn: Turn
    facts: Annotated[tuple[Fact, ...], Field(min_length=1)]
    must_not: tuple[Text, ...]
    """Wordings that would be a false claim."""
    why: Text


class QuestionCase(Labelled):
    """A question about the conversation, and the turns that answer it."""

    file = "question"
    sort: Literal["single", "multi-hop", "temporal", "absent"]
    question: Text
    evidence: tuple[Text, ...]
    """Ids of turns; empty where the conversation does not say."""
    answer: Text
    facts: tuple[Fact, ...]
    """What a right answer holds; empty where the conversation does not say."""

    @model_validator(mode="after")
    def _only_the_absent_have_no_evidence(self) -> Self:
        if (self.sort == "absent") == bool(self.evidence):
            raise ValueError(f"{self.id}: {self.sort} and {len(self.evidence)} evidence turns do not go together")
        if bool(self.facts) != bool(self.evidence):
            raise ValueError(f"{self.id}: an answer that can be given has facts, and no other has")
        return self


KINDS: tuple[type[Labelled], ...] = (LinkCase, EvolutionCase, DateCase, NoteCase, QuestionCase)

C = TypeVar("C", bound=Labelled)
F = TypeVar("F", bound=Frozen)


def load(kind: type[C], half: Half | None = None, folder: Path | None = None) -> tuple[C, ...]:
    """Return the cases of a kind in the order of their ids: `load(LinkCase, "develop")`.

    Args:
        kind: one of KINDS.
        half: None returns both.
        folder: where to read instead of the shipped set.

    Raises:
        InputError: the file is missing, or one of its lines is no such case.
    """
    return tuple(case for case in _read(kind, kind.file, folder) if half is None or case.half == half)


def load_conversation(folder: Path | None = None) -> tuple[Spoken, ...]:
    """Return the conversation of the questions, in order.

    Raises:
        InputError: the file is missing, or one of its lines is no turn.
    """
    return _read(Spoken, "conversation", folder)


def check(folder: Path | None = None) -> None:
    """Check what no case can say by itself: ids, evidence, and that no text stands in both halves.

    Raises:
        InputError: names everything that is wrong.
    """
    kinds = {kind: load(kind, None, folder) for kind in KINDS}
    spoken = [turn.id for turn in load_conversation(folder)]
    problems = [f"conversation: {name} stands {n} times" for name, n in Counter(spoken).items() if n > 1]
    for kind, cases in kinds.items():
        problems += _misnumbered(kind, cases) + _in_both_halves(cases)
    for question in load(QuestionCase, None, folder):
        problems += [f"{question.id}: there is no {name}" for name in question.evidence if name not in spoken]
    if problems:
        raise InputError("the labelled set is not as it should be:\n" + "\n".join(problems))


def _misnumbered(kind: type[Labelled], cases: tuple[Labelled, ...]) -> list[str]:
    ids = [case.id for case in cases]
    wanted = [f"{kind.file}-{number:03d}" for number in range(1, len(ids) + 1)]
    wrong = [f"{found} stands where {due} should" for found, due in zip(ids, wanted, strict=True) if found != due]
    return [f"{kind.file}: {wrong[0]}; ids count up from 001"] if wrong else []


def _in_both_halves(cases: tuple[Labelled, ...]) -> list[str]:
    """Name the texts, and for questions the evidence, by which one half would give away the other."""
    halves: dict[str, set[Half]] = {}
    for case in cases:
        for text in _texts(case):
            halves.setdefault(text, set()).add(case.half)
    return [f"in both halves: {text!r}" for text, found in halves.items() if len(found) > 1]


def _texts(case: Labelled) -> set[str]:
    if isinstance(case, LinkCase):
        return {case.older.text, case.newer.text}
    if isinstance(case, EvolutionCase):
        return {case.older.text, *(turn.text for turn in case.newer)}
    if isinstance(case, QuestionCase):
        return {case.question, *case.evidence}
    if isinstance(case, NoteCase):
        return {case.turn.text, *(turn.text for turn in case.earlier)}
    return {case.turn.text} if isinstance(case, DateCase) else set()


def _read(model: type[F], name: str, folder: Path | None) -> tuple[F, ...]:
    path = (folder or Path(str(files("amem") / "_data" / "labelled"))) / f"{name}.jsonl"
    try:
        lines = path.read_text("utf-8").removesuffix("\n").split("\n")
    except OSError as error:
        raise InputError(f"cannot read {path.name} of the labelled set in {path.parent}: {error.strerror}") from error
    return tuple(_parsed(model, path, number, line) for number, line in enumerate(lines, 1))


def _parsed(model: type[F], path: Path, number: int, line: str) -> F:
    try:
        return model.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the line"
        raise InputError(f"{path.name}, line {number}: {place}: {first['msg']}") from error
