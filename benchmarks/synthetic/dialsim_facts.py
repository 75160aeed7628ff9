"""What the characters of a generated show tell each other: each fact in one scene, about things of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from . import calendar, vocabulary
from .portraits import PORTRAIT, Feature, value_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from random import Random

    from .names import Names


class Fact(NamedTuple):
    """Something that one character tells in one scene."""

    scene: int
    """Its place in the show, from 0."""
    speaker: str
    text: str
    value: str
    """What a question about it would ask for."""


class Person(NamedTuple):
    """A relative of a character, whose work and home change over time."""

    who: str
    """`Ana's cousin Ilse`, as others speak of the person."""
    jobs: tuple[Fact, ...]
    """In order; the last one told holds."""
    homes: tuple[Fact, ...]
    streets: tuple[Fact, ...]
    """Where the places of work are, one for each job."""

    @property
    def scenes(self) -> set[int]:
        """Where something is told of the person."""
        return {fact.scene for fact in (*self.jobs, *self.homes, *self.streets)}


class Thing(NamedTuple):
    """Something that a character owns."""

    owner: str
    thing: str
    name: str
    fact: Fact
    """Its value is the colour."""


class Claims(NamedTuple):
    """What two characters say of the same club, each something else."""

    club: str
    facts: tuple[Fact, Fact]


class Trait(NamedTuple):
    """What a character says of themselves once; some others never say anything of the kind."""

    feature: Feature
    fact: Fact
    others: tuple[str, ...]


class World(NamedTuple):
    """All that is told in a show."""

    characters: tuple[str, ...]
    """Who tells something."""
    persons: tuple[Person, ...]
    things: tuple[Thing, ...]
    claims: tuple[Claims, ...]
    traits: tuple[Trait, ...]

    def facts(self) -> Iterator[Fact]:
        """Yield every fact once."""
        for person in self.persons:
            yield from (*person.jobs, *person.homes, *person.streets)
        for thing in self.things:
            yield thing.fact
        for claims in self.claims:
            yield from claims.facts
        for trait in self.traits:
            yield trait.fact


def world(random: Random, names: Names, characters: Sequence[str], scenes: int) -> World:
    """Return what is told in so many scenes.

    Args:
        random: of the show.
        names: that are still free.
        characters: who may tell something.
        scenes: how many there are; at least four.
    """
    return World(
        characters=tuple(characters),
        persons=tuple(_person(random, names, characters, scenes) for _ in range(max(4, scenes // 3))),
        things=tuple(_thing(random, names, characters, scenes) for _ in range(max(4, scenes // 2))),
        claims=tuple(_claims(random, names, characters, scenes) for _ in range(max(2, scenes // 8))),
        traits=tuple(_trait(random, names, characters, scenes, feature) for feature in PORTRAIT),
    )


def _person(random: Random, names: Names, characters: Sequence[str], scenes: int) -> Person:
    teller, relation, person = random.choice(characters), random.choice(vocabulary.RELATIONS), names.new()
    jobs: list[Fact] = []
    streets: list[Fact] = []
    for scene in _scenes(random, scenes, random.randint(1, 3)):
        shop, name, street = random.choice(vocabulary.PLACES), names.new(), f"{names.new()} Street"
        told = random.choice(vocabulary.CHANGED_WORK if jobs else vocabulary.STARTED_WORK)
        text = told.format(relation=relation, person=person, place=f"the {shop} {name}")
        jobs.append(Fact(scene, teller, text, f"the {shop} {name}"))
        where = f"The {shop} {name} is in {street}, I walked past it."
        streets.append(Fact(random.randrange(scenes), random.choice(characters), where, street))
    homes = []
    for scene in _scenes(random, scenes, random.randint(1, 2)):
        town = names.new()
        text = random.choice(vocabulary.MOVED_HOME).format(relation=relation, person=person, town=town)
        homes.append(Fact(scene, teller, text, town))
    return Person(f"{teller}'s {relation} {person}", tuple(jobs), tuple(homes), tuple(streets))


def _scenes(random: Random, scenes: int, count: int) -> list[int]:
    return sorted(random.sample(range(scenes), min(count, scenes)))


def _thing(random: Random, names: Names, characters: Sequence[str], scenes: int) -> Thing:
    owner, thing, name = random.choice(characters), random.choice(vocabulary.THINGS), names.new()
    colour = random.choice(vocabulary.COLOURS)
    text = random.choice(vocabulary.SPOKEN_OF).format(thing=thing, name=name, colour=colour)
    return Thing(owner, thing, name, Fact(random.randrange(scenes), owner, text, colour))


def _claims(random: Random, names: Names, characters: Sequence[str], scenes: int) -> Claims:
    club, name = random.choice(vocabulary.CLUBS), names.new()
    tellers, days = random.sample(characters, 2), random.sample(calendar.WEEKDAYS, 2)
    first, second = (
        Fact(scene, teller, random.choice(vocabulary.MEETS).format(club=club, name=name, day=day), day)
        for scene, teller, day in zip(_scenes(random, scenes, 2), tellers, days, strict=True)
    )
    return Claims(f"{club} {name}", (first, second))


def _trait(random: Random, names: Names, characters: Sequence[str], scenes: int, feature: Feature) -> Trait:
    teller, *others = random.sample(characters, len(characters))
    value = value_of(feature, random, names)
    return Trait(
        feature, Fact(random.randrange(scenes), teller, feature.told.format(value=value), value), tuple(others)
    )
