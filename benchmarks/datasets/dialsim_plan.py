"""Questions drawn once and kept, so that every system is asked the same ones.

A file of JSON lines: the first says what was drawn from what, each of the others names a question by its place in the
data. None of the data's text is in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from pydantic import ValidationError

from amem.errors import InputError
from amem.filters import first_problem
from amem.values import Frozen

if TYPE_CHECKING:
    from pathlib import Path


class Planned(Frozen):
    """One question that is asked."""

    show: str
    index: int
    """Its place among the show's questions."""
    episode: str
    scene: int
    utterance: int
    """After which of the scene's utterances it is asked, from 0."""
    asker: str
    bucket: str
    place: int
    """Which candidate of that kind."""


class Header(Frozen):
    """What was drawn from what."""

    plan: Literal["dialsim"] = "dialsim"
    version: Literal[1] = 1
    seed: int
    ratio: float
    episodes: int | None
    shows: dict[str, str]
    """The SHA-256 of each show's data."""


class Plan(Header):
    """All questions, in the order in which they are asked."""

    questions: tuple[Planned, ...]


def write(plan: Plan, path: Path) -> None:
    """Write a plan."""
    lines = [Header(**plan.model_dump(exclude={"questions"})), *plan.questions]
    path.write_text("".join(f"{line.model_dump_json()}\n" for line in lines), encoding="utf-8")


def read(path: Path) -> Plan:
    """Read a plan.

    Raises:
        InputError: it cannot be read, or a line is none of a plan.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is no text: {error}") from error
    number = 1
    try:
        header = Header.model_validate_json(lines[0] if lines else "")
        questions = []
        for number, line in enumerate(lines[1:], start=2):  # noqa: B007 - the message below names it
            questions.append(Planned.model_validate_json(line))
    except ValidationError as error:
        raise InputError(f"{path}: line {number} is none of a DialSim plan: {first_problem(error)}") from error
    return Plan(**header.model_dump(), questions=tuple(questions))
