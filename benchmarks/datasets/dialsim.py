"""DialSim (LongDialQA; Kim et al., arXiv 2406.13144): the official pickles, a zip of them, or their mirror in JSON.

A show is a list of scenes with a date; each scene has what was said and, for its moment, many questions that could be
asked. Which of them is asked is drawn (`dialsim_plan.py`). The data is television script and no part of this project.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from amem.errors import InputError

from .dialsim_files import SUFFIX, as_json, source
from .months import parse_english

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from datetime import datetime
    from pathlib import Path

    from .checking import Checked

AGENTS = {"friends": "Ross", "bigbang": "Sheldon", "theoffice": "Michael"}
"""Whom the system under test plays, by show."""
HARD = ("past", "cur", "fu", "past_past", "past_cur", "past_fu", "cur_past", "cur_cur", "cur_fu", "fu_past", "fu_cur",
        "fu_fu")  # fmt: skip
"""Kinds of questions from a graph of dated facts; where `fu` is in the name, it is not known yet."""
EASY = ("ans_w_time", "ans_wo_time", "before_event_unans", "dont_know_unans", "dont_know_unans_time")
"""Kinds of questions from fans' quizzes; where `unans` is in the name, there is no answer."""
DATED = ("ans_w_time", "dont_know_unans_time")
"""Those of the latter whose oracle names a date."""
UNKNOWN = "I don't know. (None of the above)"
"""The last option."""
OPTIONS = 5
_STAGE = ("Teleplay: ", "Story: ")
SHA256 = {
    "e7772260089ff1ecc7f46da29da33aa50c894526848d01fec8bf55b6cad6c10c": "1.1",
    "b32517d8e08221362dfe1e0c7349fa91ec8930691c53f87ef680acfc5f74596f": "1.0",
}
"""Of the official zips, as others have published them."""


class Utterance(NamedTuple):
    """One thing said, as the script has it."""

    said: str
    """`Speaker: text`; further lines of it follow."""

    @property
    def speaker(self) -> str:
        """Who said it."""
        return self.said.partition(":")[0]

    @property
    def text(self) -> str:
        """What was said."""
        return self.said.partition(":")[2].strip()

    @property
    def first_line(self) -> str:
        """The line that names the speaker."""
        return self.said.partition("\n")[0]


class Candidate(NamedTuple):
    """A question that could be asked in a scene."""

    place: int
    """Its place in its kind's list, or its number there."""
    wordings: Mapping[str, str]
    """By who asks; `default` is for anybody."""
    options: tuple[str, ...]
    answer: str
    dates: tuple[str, ...] = ()
    """Of the scenes that hold the answer, as far as the oracle knows; `fu` stands for one that is still to come."""
    evidence: tuple[str, ...] = ()
    """Ids of the turns that hold it; known of generated data only."""

    @property
    def default(self) -> str:
        """The first wording."""
        return next(iter(self.wordings.values()))

    @property
    def right(self) -> int | None:
        """The place of the option that is the answer; None where none is."""
        answer = self.answer.lower()
        return next((place for place, option in enumerate(self.options) if option.lower() == answer), None)


@dataclass(frozen=True, slots=True)
class Scene:
    """What was said at one time, and what could be asked then."""

    episode: str
    number: int
    """In its episode, as the file has it."""
    ordinal: int
    """In its show, from 1."""
    date: str
    at: datetime
    utterances: tuple[Utterance, ...]
    hard: Mapping[str, tuple[Candidate, ...]]
    easy: Mapping[str, tuple[Candidate, ...]]


@dataclass(frozen=True, slots=True)
class Show:
    """Scenes in their order."""

    name: str
    agent: str
    scenes: tuple[Scene, ...]
    sha256: str
    """Of its parts as JSON: the same for the pickles, the zip and the mirror."""
    synthetic: bool = False


@dataclass(frozen=True, slots=True)
class DialSim:
    """Shows from one place."""

    shows: tuple[Show, ...]
    warnings: tuple[str, ...] = ()

    @property
    def synthetic(self) -> bool:
        """Whether all of it was generated."""
        return all(show.synthetic for show in self.shows)


def load(path: Path, shows: Collection[str] = ()) -> DialSim:
    """Read shows from a folder or a zip of the official pickles, or from one JSON file.

    Args:
        path: where they are.
        shows: which; all that are there, where none is named.

    Raises:
        InputError: something cannot be read, or departs from the structure, with the place.
    """
    found = source(path, shows)
    read = tuple(_show(show, parts()) for show, parts in found.parts.items())
    if all(show.synthetic for show in read):
        return DialSim(read, (f"{path.name} is synthetic: generated texts in DialSim's format",))
    if found.archive in SHA256:
        return DialSim(read)
    of = f"its SHA-256 is {found.archive}" if found.archive else "only the official zips can be recognised"
    return DialSim(read, (f"whether {path.name} is the official data is not known: {of}",))


def _show(name: str, parts: Mapping[str, Checked]) -> Show:
    about = parts.get("about")
    agent = about["agent"].text() if about else AGENTS.get(name)
    if agent is None:
        raise InputError(f"the show {name!r} is none of {', '.join(AGENTS)}; `{name}_about.json` must name its agent")
    oracles = Oracles(parts)
    scenes = tuple(
        _scene(episode, number, ordinal, scene, oracles)
        for ordinal, (episode, number, scene) in enumerate(_in_order(parts[SUFFIX]), start=1)
    )
    digest = hashlib.sha256(as_json(parts, name).encode()).hexdigest()
    return Show(name, agent, scenes, digest, synthetic=about is not None and about["synthetic"].truth())


def _in_order(data: Checked) -> Iterator[tuple[str, int, Checked]]:
    for episode in data.names():
        for number, scene in data[episode].numbered():
            yield episode, number, scene


class Oracles:
    """Where answers stand, by question: dates in the official files, turns in generated ones."""

    def __init__(self, parts: Mapping[str, Checked]) -> None:
        about = parts.get("about")
        self._dates = [parts[part] for part in ("oracle_tkg", "oracle_fan") if part in parts]
        self._turns = [found] if about and (found := about.get("evidence")) else []

    def dates(self, episode: str, scene: int, bucket: str, place: int, wording: str) -> tuple[str, ...]:
        """Return the dates for one question; none where the files have none."""
        return _looked_up(self._dates, (episode, scene, bucket), place, wording)

    def turns(self, episode: str, scene: int, bucket: str, place: int, wording: str) -> tuple[str, ...]:
        """Return the turns for one question; none where they are not known."""
        return _looked_up(self._turns, (episode, scene, bucket), place, wording)


def _looked_up(oracles: list[Checked], keys: tuple[str | int, ...], place: int, wording: str) -> tuple[str, ...]:
    """Return what the oracles say of a question, found by its place in a list, its number, or its wording."""
    for oracle in oracles:
        found: Checked | None = oracle
        for key in keys:
            found = found.entry(key) if found else None
        entry = found and (found.entry(place) or found.entry(wording))
        if entry:
            return tuple(date.text() for date in entry.items())
    return ()


def _scene(episode: str, number: int, ordinal: int, scene: Checked, oracles: Oracles) -> Scene:
    at = parse_english(scene["date"].text())
    if at is None:
        raise scene["date"].wrong("a date such as `September 22, 1994`")

    def candidate(bucket: str, place: int, asked: Checked) -> Candidate:
        found = _candidate(place, asked)
        where = (episode, number, bucket, place, found.default)
        return found._replace(dates=_used(bucket, oracles.dates(*where)), evidence=oracles.turns(*where))

    hard, easy = scene["hard_q"], scene["easy_q"]
    return Scene(
        episode, number, ordinal, scene["date"].text(), at, _utterances(scene["script"]),
        {name: tuple(candidate(name, place, one) for place, one in enumerate(hard[name].items()))
         for name in hard.names()},
        {name: tuple(candidate(name, place, one) for place, one in easy[name].numbered()) for name in easy.names()},
    )  # fmt: skip


def _used(bucket: str, dates: tuple[str, ...]) -> tuple[str, ...]:
    """Return which of the oracle's dates the simulator looks at."""
    return dates[:1] if bucket in DATED else () if bucket in EASY else dates


def _candidate(place: int, asked: Checked) -> Candidate:
    wordings = asked["questions"]
    options = tuple(option.text() for option in asked["options"].items())
    if len(options) != OPTIONS:
        raise asked["options"].wrong(f"{OPTIONS} options")
    texts = {asker: wordings[asker].text() for asker in wordings.names()}
    if not texts:
        raise wordings.wrong("a wording")
    return Candidate(place, texts, options, asked["answer"].text())


def _utterances(script: Checked) -> tuple[Utterance, ...]:
    """Cut a script as the simulator does: a line without a colon goes on with the one before."""
    found: list[str] = []
    for line in script.text().split("\n"):
        if not line.strip() or any(word in line for word in _STAGE):
            continue
        if ":" in line:
            found.append(line.strip())
        elif found:
            found[-1] += f"\n{line.strip()}"
        else:
            raise script.wrong("a first line such as `Monica: text`")
    return tuple(map(Utterance, found))
