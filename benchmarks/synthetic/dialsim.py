"""A synthetic data set in DialSim's format."""

from __future__ import annotations

from collections import defaultdict
from datetime import date, timedelta
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from ..datasets.dialsim import DATED, EASY, HARD, UNKNOWN  # noqa: TID252 - in a wheel, this package has another name
from . import calendar, dialsim_easy, dialsim_facts, dialsim_hard
from .dialsim_moment import Moment
from .names import Names
from .size import WINDOW_WORDS
from .small_talk import remark, small_talk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from .dialsim_facts import Fact
    from .dialsim_moment import Candidate
    from .size import Shape

_CHARACTERS = 6
"""The agent and five others, of whom each tells something."""
_UTTERANCES = (9, 13)
"""In a scene, without the facts that it tells."""
_WORDS = 255
"""In a scene, on average."""
_EPISODE = (6, 10)
"""Scenes."""
_SEASON = 20
_KINDS = {"hard": 7, "easy": 4}
"""Of how many kinds questions stand ready in a scene."""
_TRIES = 25

Kinds = dict[str, "Callable[[Moment], Candidate | None]"]


class Show(NamedTuple):
    """The parts of one show, as the official files have them, and what is known of it besides."""

    name: str
    dialsim: dict[str, Any]
    oracle_tkg: dict[str, Any]
    oracle_fan: dict[str, Any]
    about: dict[str, Any]


def generate(shape: Shape) -> list[Show]:
    """Return so many shows.

    Args:
        shape: how much of it; the same shape gives the same content, on every machine.
    """
    shape = shape.checked()
    return [_Script(shape, number).show() for number in range(1, shape.conversations + 1)]


class _Script:
    """One show while it is made."""

    def __init__(self, shape: Shape, number: int) -> None:
        self._shape, self._number = shape, number
        self._random = Random(f"dialsim {shape.seed} {number}")  # noqa: S311 - no secret; a text seeds alike everywhere
        names = Names(self._random)
        self._agent, *self._others = [names.new() for _ in range(_CHARACTERS)]
        scenes = max(4, round(shape.size * WINDOW_WORDS / _WORDS))
        self._days = _days(self._random, scenes)
        self._episodes = _episodes(self._random, scenes)
        self._world = dialsim_facts.world(self._random, names, self._others, scenes)
        self._told: dict[Fact, str] = {}
        self._scripts = self._written()
        self._asked = self._moments()

    def show(self) -> Show:
        """Return the show's parts."""
        parts: tuple[dict[str, Any], ...] = ({}, {}, {}, {})
        for scene, (episode, number) in enumerate(self._episodes):
            for part, content in zip(parts, self._scene(scene), strict=True):
                part.setdefault(episode, {})[number] = content
        said, tkg, fan, evidence = parts
        about = {
            "synthetic": True,
            "note": self._shape.about("DialSim", self._number),
            "agent": self._agent,
            "evidence": evidence,
        }
        return Show(f"synthetic{self._number}", said, tkg, fan, about)

    def _written(self) -> list[str]:
        """Write all scenes, and keep where each fact is told."""
        told: dict[int, list[Fact]] = defaultdict(list)
        for fact in self._world.facts():
            told[fact.scene].append(fact)
        return [self._script(scene, told[scene]) for scene in range(len(self._days))]

    def _script(self, scene: int, facts: Sequence[Fact]) -> str:
        said: list[Fact | None] = [*facts, *[None] * self._random.randint(*_UTTERANCES)]
        self._random.shuffle(said)
        free = [place for place, fact in enumerate(said) if fact is None]
        agent = set(self._random.sample(free, max(3, len(free) // 3)))
        lines = []
        for place, fact in enumerate(said):
            if fact is None:
                speaker = self._agent if place in agent else self._random.choice(self._others)
                lines.append(f"{speaker}: {small_talk(self._random)}")
                continue
            self._told[fact] = f"{scene + 1}:{place + 1}"
            around = [fact.text, *([remark(self._random)] if self._random.random() < 0.5 else [])]
            self._random.shuffle(around)
            lines.append(f"{fact.speaker}: {' '.join(around)}")
        return "\n".join([*lines, ""])

    def _moments(self) -> set[int]:
        """Return the scenes in which something can be asked."""
        scenes = range(len(self._days))
        return set(self._random.sample(scenes, min(self._shape.questions or len(scenes), len(scenes))))

    def _scene(self, scene: int) -> tuple[dict[str, Any], ...]:
        """Return a scene's content, and for its questions both oracles and the turns of the evidence."""
        hard = self._questions(scene, HARD, dialsim_hard.HARD, _KINDS["hard"])
        any_hard = any(hard.values())  # with easy ones alone, the official simulator stops with an error
        easy = self._questions(scene, EASY, dialsim_easy.EASY, _KINDS["easy"] if any_hard else 0)
        content = {
            "date": calendar.month_first(self._days[scene]),
            "script": self._scripts[scene],
            "hard_q": {kind: [self._form(one) for one in found] for kind, found in hard.items()},
            "easy_q": {kind: _numbered(map(self._form, found)) for kind, found in easy.items()},
        }
        tkg = {kind: [self._dates(one) for one in found] for kind, found in hard.items()}
        fan = {kind: _numbered(map(self._dates, found)) if kind in DATED else {} for kind, found in easy.items()}
        evidence = {kind: [self._turns(one) for one in found] for kind, found in hard.items()}
        return content, tkg, fan, evidence | {kind: _numbered(map(self._turns, found)) for kind, found in easy.items()}

    def _questions(self, scene: int, kinds: Sequence[str], ask: Kinds, count: int) -> dict[str, list[Candidate]]:
        """Return what can be asked, of some kinds, one question each."""
        found: dict[str, list[Candidate]] = {kind: [] for kind in kinds}
        if scene not in self._asked:
            return found
        moment = Moment(scene, self._days, self._world, self._random)
        for kind in self._random.sample(kinds, count):
            one = _tried(ask[kind], moment)
            if one is not None:
                found[kind].append(one)
        return found

    def _form(self, candidate: Candidate) -> dict[str, Any]:
        options = list(candidate.others[: 4 if candidate.answer is None else 3])
        options += [candidate.answer] if candidate.answer is not None else []
        self._random.shuffle(options)
        wordings = {"default": candidate.question}
        if self._random.random() < 0.1:
            asker = self._random.choice(self._others)
            wordings[asker] = f"{self._agent}, tell me: {candidate.question}"
        return {"questions": wordings, "options": [*options, UNKNOWN], "answer": candidate.answer or UNKNOWN}

    def _dates(self, candidate: Candidate) -> list[str]:
        known = [calendar.month_first(self._days[fact.scene]) for fact in candidate.evidence]
        return [*known, *["fu"] * candidate.later]

    def _turns(self, candidate: Candidate) -> list[str]:
        return [self._told[fact] for fact in candidate.evidence]


def _tried(ask: Callable[[Moment], Candidate | None], moment: Moment) -> Candidate | None:
    """Return a question with options enough; None where none comes up."""
    for _ in range(_TRIES):
        found = ask(moment)
        if found is not None and len(found.others) >= (4 if found.answer is None else 3):
            return found
    return None


def _numbered(values: Iterable[Any]) -> dict[int, Any]:
    return dict(enumerate(values, start=1))


def _days(random: Random, scenes: int) -> list[date]:
    """Return the days of the scenes, some of them the same as the one before."""
    day, days = date(2001, 1, 8), []
    for _ in range(scenes):
        if random.random() > 0.2:
            day += timedelta(days=random.randint(1, 5))
        days.append(day)
    return days


def _episodes(random: Random, scenes: int) -> list[tuple[str, int]]:
    """Return each scene's episode, and its number there."""
    found: list[tuple[str, int]] = []
    episode = 0
    while len(found) < scenes:
        name = f"S{episode // _SEASON + 1:02}E{episode % _SEASON + 1:02} synthetic.txt"
        found += [(name, number) for number in range(1, random.randint(*_EPISODE) + 1)]
        episode += 1
    return found[:scenes]
