"""Judge: a language model marks the answers, in two manners, and is judged itself by answers whose worth is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from amem.errors import InputError
from amem.llm.metering import Meter

from ..judge.judging import Judge, Manner, Ruling  # noqa: TID252 - in a wheel, this package has another name
from ..judge.selftest import JudgeReport, Known, judge_selftest  # noqa: TID252 - likewise
from .calls import Calls
from .folder import RULINGS, existing
from .journal import Journal, Record, alone
from .material import material, model_of
from .records import unit
from .work import Step

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ..datasets.conversation import Question  # noqa: TID252 - likewise
    from .calls import Client
    from .config import Model
    from .folder import Folder
    from .material import Material
    from .work import Progress

UNKNOWN = "This was not said; nothing is known about it."
"""The key of a question that has no answer, for the judge."""
TESTED = "judge_selftest.jsonl"


class Ruled(Record):
    """What the judge made of one answer; `unit` is the system, the question and the manner."""

    system: str
    question: str
    ruling: Ruling
    """With the judge's words, which may quote the data: they stay in the run's folder."""


class Tested(Record):
    """What the judge made of answers whose worth is known."""

    report: JudgeReport


class Rulings(NamedTuple):
    """All that was ruled of a run."""

    rulings: list[Ruled]
    tested: list[Tested]


async def judge(
    path: Path, model: Model, manners: Sequence[Manner], *, cases: int, progress: Progress | None = None
) -> Rulings:
    """Let a model mark what it has not marked yet.

    Args:
        path: the run's folder.
        model: the judge.
        manners: how it is to mark.
        cases: how many questions it is tested with itself; 0 tests it with none.
        progress: told each step.

    Raises:
        InputError: there is no run in the folder.
        LLMError: the judge cannot be had; what was ruled is kept.
    """
    existing(path)  # before a lock is laid where no run is
    with alone(path):
        folder, manifest = existing(path)
        found, calls, live = material(manifest.config), Calls(path), model_of(model)
        others = sorted({one.ruling.model for one in read_rulings(path).rulings} - {model.name})
        if others:
            raise InputError(f"{path} was judged by {others[0]} already. Nothing was asked; take {RULINGS} away first.")
        court = _Court(found, folder, calls, calls.client(live))
        try:
            for manner in manners:
                await court.test(manner, cases)
                await court.rule(manner, progress)
        finally:
            await live.aclose()
        return read_rulings(path)


def read_rulings(path: Path) -> Rulings:
    """Return what was ruled in a folder; nothing where no judge was asked."""
    return Rulings(Journal(path / RULINGS, Ruled).records(), Journal(path / TESTED, Tested).records())


class _Court:
    """One sitting of the judge."""

    def __init__(self, found: Material, folder: Folder, calls: Calls, client: Client) -> None:
        self._found = found
        self._folder = folder
        self._calls = calls
        self._client = client
        self._judge = Judge(client, Meter())
        self._ruled = Journal(folder.path / RULINGS, Ruled)

    async def test(self, manner: Manner, cases: int) -> None:
        """Test the judge with questions of the data, once for each manner and model."""
        tested = Journal(self._folder.path / TESTED, Tested)
        name = f"{manner} {self._client.model}"
        known = _cases([question for _, question in self._found.questions()], cases)
        if name not in tested and len(known) > 1:
            self._client.scope = f"judge-test {name}"
            tested.append(Tested(unit=name, report=await judge_selftest(self._judge, manner, known)))

    async def rule(self, manner: Manner, progress: Progress | None) -> None:
        """Mark every answer that is there."""
        systems = [entry.label for entry in self._found.config.systems]
        work = [(system, question) for system in systems for _, question in self._found.questions()]
        for place, (system, question) in enumerate(work, start=1):
            await self._one(manner, system, question)
            if progress is not None:
                progress(Step(what=f"{system}: {manner}", done=place, total=len(work), usage=self._calls.total))

    async def _one(self, manner: Manner, system: str, question: Question) -> None:
        name = f"{unit(system, question.key)} {manner}"
        answered = self._folder.answers.get(unit(system, question.key))
        if answered is None or name in self._ruled:
            return
        self._client.scope = f"judge {name}"
        key = question.gold if question.answerable and question.gold else UNKNOWN
        said = answered.answer or "(no answer)"
        ruling = await self._judge.rule(manner, question.shown, key, said)
        self._ruled.append(Ruled(unit=name, system=system, question=question.key, ruling=ruling))


def _cases(questions: Sequence[Question], count: int) -> list[Known]:
    """Return evenly spaced questions that have an answer, the same every time."""
    known = [Known(question.shown, question.gold) for question in questions if question.answerable and question.gold]
    step = max(1, len(known) // count) if count else len(known) + 1
    return known[::step][:count]
