"""Which questions DialSim asks: its simulator's choice, step by step, with a seed.

The simulator draws at most one question a scene and never sets a seed. Here `random.Random(seed)` is asked in the same
order as the simulator asks Python's own generator, so that a seed names one of the draws it could have made; only the
speakers are sorted first, whose order there depends on the hash seed. Each show is drawn for itself, as it is run.
"""

from __future__ import annotations

from itertools import count
from random import Random
from typing import TYPE_CHECKING

from .dialsim_plan import Plan, Planned

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from .dialsim import Candidate, DialSim, Scene, Show

RATIO = 0.7
"""How often a scene's question comes from the graph of facts, where both kinds could be asked."""
DRAWS = 20
NEAR = 3
"""How many utterances away the asker may have spoken."""
_UNKNOWN_SHARE = {"fu": 0.215, "unans": 0.27}
"""Kinds with this in their name are to be drawn less often than that; the others are repeated until they are."""


def draw(data: DialSim, seed: int, *, ratio: float = RATIO, episodes: int | None = None) -> Plan:
    """Draw the questions of all shows.

    Args:
        data: the shows.
        seed: of the draw.
        ratio: how often the graph of facts is asked about.
        episodes: how many episodes of each show are played; all, where not given.
    """
    drawn = tuple(
        question
        for show in data.shows
        for question in _drawn(show, Random(seed), ratio, episodes)  # noqa: S311 - no secret
    )
    shows = {show.name: show.sha256 for show in data.shows}
    return Plan(seed=seed, ratio=ratio, episodes=episodes, shows=shows, questions=drawn)


def _drawn(show: Show, random: Random, ratio: float, episodes: int | None) -> Iterator[Planned]:
    index = count()
    played = list(dict.fromkeys(scene.episode for scene in show.scenes))[:episodes]
    dates: set[str] = set()
    for scene in show.scenes:
        if scene.episode not in played:
            continue
        dates.add(scene.date)
        bucket, draws = _questions(scene, random, ratio)
        moment = _moment(show.agent, scene, random)
        if moment is None:
            continue
        utterance, asker = moment
        found = _first(draws, asker, dates)
        if found is not None:
            yield Planned(
                show=show.name, index=next(index), episode=scene.episode, scene=scene.number, utterance=utterance,
                asker=asker, bucket=bucket, place=found.place,
            )  # fmt: skip


def _questions(scene: Scene, random: Random, ratio: float) -> tuple[str, list[Candidate]]:
    """Return a kind of question, and draws from it; the simulator draws twice in vain first."""
    hard, easy = _filled(scene.hard), _filled(scene.easy)
    for kinds in (hard, easy):
        if kinds:
            random.choice(kinds[random.choice(list(kinds))])
    wanted = random.random()
    if not hard and not easy:
        return "", []
    if hard and (not easy or wanted < ratio):
        bucket = _bucket(list(hard), "fu", random)
        return bucket, [one for one in _draws(hard[bucket], random) if not _names_the_present(one, scene)]
    bucket = _bucket(list(easy), "unans", random)
    return bucket, _draws(easy[bucket], random)


def _filled(kinds: Mapping[str, Sequence[Candidate]]) -> dict[str, Sequence[Candidate]]:
    return {name: found for name, found in kinds.items() if found}


def _draws(candidates: Sequence[Candidate], random: Random) -> list[Candidate]:
    return [random.choice(candidates) for _ in range(DRAWS)]


def _bucket(kinds: list[str], unknown: str, random: Random) -> str:
    """Return a kind, those without an answer less often than the rest."""
    rare = sum(unknown in kind for kind in kinds)
    others = [kind for kind in kinds if unknown not in kind]
    random.shuffle(others)
    place = 0
    while others and rare / len(kinds) >= _UNKNOWN_SHARE[unknown]:
        kinds.append(others[place % len(others)])
        place += 1
    return random.choice(kinds)


def _names_the_present(candidate: Candidate, scene: Scene) -> bool:
    """Say whether a question names the scene's own month or year, as the simulator looks for it."""
    month, _, year = scene.date.replace(",", "").split()
    return f"n {year}" in candidate.default or f"{month} {year}" in candidate.default


def _moment(agent: str, scene: Scene, random: Random) -> tuple[int, str] | None:
    """Return after which utterance somebody asks, and who; None where the agent or everybody else is silent."""
    lines = [one.first_line for one in scene.utterances if f"{agent}:" in one.first_line]
    if not lines:
        random.choice(scene.utterances or [None])  # the simulator draws an asker all the same
        return None
    line = random.choice(lines[1:] or lines)
    place = next(place for place, one in enumerate(scene.utterances) if line in one.said)
    near = scene.utterances[max(0, place - NEAR) : place + NEAR]
    askers = sorted({one.speaker for one in near if not _excluded(one.speaker, agent)})
    if not askers:
        return None
    asker = random.choice(askers)
    told = line.lower()
    return next(place for place, one in enumerate(scene.utterances) if told in one.said.lower()), asker


def _excluded(speaker: str, agent: str) -> bool:
    return agent.lower() in speaker.lower() or speaker.lower() == "all"


def _first(draws: Sequence[Candidate], asker: str, dates: set[str]) -> Candidate | None:
    """Return the first draw that is worded for the asker and whose answer's dates have come.

    Where its answer is none of its options, nothing is asked.
    """
    for one in draws:
        if (asker in one.wordings or "default" in one.wordings) and _has_come(one, dates):
            return one if one.right is not None else None
    return None


def _has_come(candidate: Candidate, dates: set[str]) -> bool:
    return all("fu" in date or date in dates for date in candidate.dates)
