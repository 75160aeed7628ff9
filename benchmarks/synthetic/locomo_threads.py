"""What two people tell each other over time, and what can be asked of it: each thread about a thing of its own.

A thread's things have names that nothing else has, so its statements are all that is ever said of them, and its answers
follow from these statements alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from . import calendar, vocabulary
from .portraits import value_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date
    from random import Random

    from .names import Names
    from .portraits import Feature

SINGLE_HOP, MULTI_HOP, TEMPORAL, OPEN_DOMAIN, ADVERSARIAL = 4, 1, 2, 3, 5


class Statement(NamedTuple):
    """Something that is told once."""

    session: int
    speaker: int
    text: str
    caption: str | None = None


class Asked(NamedTuple):
    """A question about a thread."""

    question: str
    category: int
    answer: str
    """Of an adversarial question, the wrong one that it lays out."""
    evidence: tuple[int, ...]
    """Which of the thread's statements hold the answer, or the ground for the trap."""


class Thread(NamedTuple):
    """Statements that belong together, in the order in which they are told."""

    statements: tuple[Statement, ...]
    asked: tuple[Asked, ...]
    plain: bool = False
    """Whether its questions have no name that leads to the statement; there are few such, so they are asked first."""


class World(NamedTuple):
    """Who talks, when, and what names are left."""

    random: Random
    names: Names
    speakers: Sequence[str]
    days: Sequence[date]
    """Of the sessions."""
    sessions: Callable[[int], list[int]]
    """Returns so many sessions with room left, in order."""

    def somebody(self) -> tuple[int, str, str]:
        """Return a speaker: the place among the speakers, the name, and the other's name."""
        place = self.random.randrange(2)
        return place, self.speakers[place], self.speakers[1 - place]


def possession(world: World) -> Thread:
    """Somebody buys a thing from somebody; the price is never told, and the other never bought it."""
    place, owner, other = world.somebody()
    (session,) = world.sessions(1)
    thing, name, seller = world.random.choice(vocabulary.THINGS), world.names.new(), world.names.new()
    colour = world.random.choice(vocabulary.COLOURS)
    told = world.random.choice(vocabulary.BOUGHT).format(thing=thing, name=name, seller=seller, colour=colour)
    return Thread(
        (Statement(session, place, told),),
        (
            Asked(f"What colour is the {thing} {name} that {owner} bought?", SINGLE_HOP, colour, (0,)),
            Asked(f"From whom did {owner} buy the {thing} {name}?", SINGLE_HOP, seller, (0,)),
            Asked(f"From whom did {other} buy the {thing} {name}?", ADVERSARIAL, seller, (0,)),
            Asked(f"What did {owner} pay for the {thing} {name}?", ADVERSARIAL, "40 crowns", (0,)),
        ),
    )


def pictured(world: World) -> Thread:
    """A thing whose colour is seen in a picture only."""
    place, owner, other = world.somebody()
    (session,) = world.sessions(1)
    thing, name = world.random.choice(vocabulary.THINGS), world.names.new()
    colour = world.random.choice(vocabulary.COLOURS)
    told = f"Look, this is {name}, the {thing} I have been telling everybody about."
    return Thread(
        (Statement(session, place, told, f"a photo of a {colour} {thing}"),),
        (
            Asked(f"What colour is {owner}'s {thing} {name}?", SINGLE_HOP, colour, (0,)),
            Asked(f"What colour is {other}'s {thing} {name}?", ADVERSARIAL, colour, (0,)),
        ),
    )


def event(world: World) -> Thread:
    """Something that was done, told with a date or a relative one."""
    place, who, other = world.somebody()
    (session,) = world.sessions(1)
    deed, name = world.random.choice(vocabulary.DEEDS), world.names.new()
    when = calendar.past(world.random, world.days[session])
    told = world.random.choice(vocabulary.DID).format(did=deed.did, name=name, when=when.told)
    return Thread(
        (Statement(session, place, told),),
        (
            Asked(f"When did {who} {deed.do} {name}?", TEMPORAL, when.meant, (0,)),
            Asked(f"When did {other} {deed.do} {name}?", ADVERSARIAL, when.meant, (0,)),
        ),
    )


def intention(world: World) -> Thread:
    """Something that is going to be done."""
    place, who, other = world.somebody()
    (session,) = world.sessions(1)
    deed, name = world.random.choice(vocabulary.DEEDS), world.names.new()
    when = calendar.coming(world.random, world.days[session])
    told = world.random.choice(vocabulary.WILL_DO).format(do=deed.do, name=name, when=when.told)
    return Thread(
        (Statement(session, place, told),),
        (
            Asked(f"When did {who} plan to {deed.do} {name}?", TEMPORAL, when.meant, (0,)),
            Asked(f"When did {other} plan to {deed.do} {name}?", ADVERSARIAL, when.meant, (0,)),
        ),
    )


def work(world: World) -> Thread:
    """Somebody's relative changes places of work, once or twice; what was told last holds."""
    place, who, other = world.somebody()
    sessions = world.sessions(world.random.randint(2, 3))
    relation, person = world.random.choice(vocabulary.RELATIONS), world.names.new()
    places = [f"the {world.random.choice(vocabulary.PLACES)} {world.names.new()}" for _ in sessions]
    wordings = [vocabulary.STARTED_WORK, *[vocabulary.CHANGED_WORK] * (len(places) - 1)]
    told = [
        Statement(session, place, world.random.choice(wording).format(relation=relation, person=person, place=where))
        for session, where, wording in zip(sessions, places, wordings, strict=True)
    ]
    last = len(places) - 1
    return Thread(
        tuple(told),
        (
            Asked(f"Where does {who}'s {relation} {person} work now?", SINGLE_HOP, places[-1], (last,)),
            Asked(
                f"Where did {who}'s {relation} {person} work right before {places[-1]}?",
                MULTI_HOP, places[-2], (last - 1, last),
            ),
            Asked(f"Where does {other}'s {relation} {person} work now?", ADVERSARIAL, places[-1], (last,)),
        ),
    )  # fmt: skip


def correction(world: World) -> Thread:
    """Somebody tells a price, and later that it was wrong."""
    place, _, _ = world.somebody()
    first, second = world.sessions(2)
    show, name = world.random.choice(vocabulary.SHOWS), world.names.new()
    wrong, right = world.random.sample(range(11, 99), 2)
    told = world.random.choice(vocabulary.PRICED).format(show=show, name=name, price=wrong)
    corrected = world.random.choice(vocabulary.CORRECTED).format(show=show, name=name, price=right, wrong=wrong)
    return Thread(
        (Statement(first, place, told), Statement(second, place, corrected)),
        (Asked(f"How many crowns does a ticket for the {show} {name} cost?", SINGLE_HOP, str(right), (1,)),),
    )


def contradiction(world: World) -> Thread:
    """Each of the two says something else, and neither takes it back."""
    place, who, other = world.somebody()
    first, second = world.sessions(2)
    club, name = world.random.choice(vocabulary.CLUBS), world.names.new()
    one, another = world.random.sample(calendar.WEEKDAYS, 2)
    told = world.random.choice(vocabulary.MEETS).format(club=club, name=name, day=one)
    denied = world.random.choice(vocabulary.MEETS).format(club=club, name=name, day=another)
    question = f"On which day does the {club} {name} meet, according to {{}}?"
    return Thread(
        (Statement(first, place, told), Statement(second, 1 - place, denied)),
        (
            Asked(question.format(who), SINGLE_HOP, one, (0,)),
            Asked(question.format(other), SINGLE_HOP, another, (1,)),
        ),
    )


def tour(world: World) -> Thread:
    """Something that happens in three places, each told apart from the others."""
    place, who, other = world.somebody()
    sessions = world.sessions(3)
    band = world.names.new()
    towns = [world.names.new() for _ in sessions]
    told = [
        Statement(session, place, world.random.choice(vocabulary.PLAYED).format(band=band, town=town))
        for session, town in zip(sessions, towns, strict=True)
    ]
    every = ", ".join(towns)
    return Thread(
        tuple(told),
        (
            Asked(f"In which towns did {who}'s band {band} play?", MULTI_HOP, every, (0, 1, 2)),
            Asked(f"In which towns did {other}'s band {band} play?", ADVERSARIAL, every, (0, 1, 2)),
        ),
    )


def move(world: World) -> Thread:
    """A relative's shop, and where it is: two statements that share the shop only."""
    place, who, other = world.somebody()
    first, second = world.sessions(2)
    relation, shop = world.random.choice(vocabulary.RELATIONS), world.random.choice(vocabulary.PLACES)
    person, name, street = (world.names.new() for _ in range(3))
    runs = world.random.choice(vocabulary.RUNS).format(relation=relation, person=person, shop=shop, name=name)
    lies = world.random.choice(vocabulary.LIES).format(shop=shop, name=name, street=street)
    return Thread(
        (Statement(first, place, runs), Statement(second, world.random.randrange(2), lies)),
        (
            Asked(
                f"In which street is the {shop} that {who}'s {relation} {person} runs?",
                MULTI_HOP, f"{street} Street", (0, 1),
            ),
            Asked(
                f"In which street is the {shop} that {other}'s {relation} {person} runs?",
                ADVERSARIAL, f"{street} Street", (0, 1),
            ),
        ),
    )  # fmt: skip


def portrait(world: World, feature: Feature) -> Thread:
    """Something about a speaker, asked for in other words; the other speaker says nothing of the kind."""
    place, who, other = world.somebody()
    (session,) = world.sessions(1)
    value = value_of(feature, world.random, world.names)
    return Thread(
        (Statement(session, place, feature.told.format(value=value)),),
        (
            Asked(feature.asked.format(who=who), SINGLE_HOP, value, (0,)),
            Asked(feature.asked.format(who=other), ADVERSARIAL, value, (0,)),
        ),
        plain=True,
    )


def trait(world: World) -> Thread:
    """Something that is known of a relative, from which something else can be concluded."""
    place, who, _ = world.somebody()
    (session,) = world.sessions(1)
    relation, person = world.random.choice(vocabulary.RELATIONS), world.names.new()
    known = world.random.choice(vocabulary.TRAITS)
    told = f"My {relation} {person} {known.told}"
    question = f"Would {who}'s {relation} {person} {known.asked}"
    return Thread(
        (Statement(session, place, told),),
        (Asked(question, OPEN_DOMAIN, f"{known.answer}; {person} {known.told.rstrip('.')}", (0,)),),
    )


KINDS: dict[Callable[[World], Thread], int] = {
    possession: 4, pictured: 1, event: 4, intention: 2, work: 4, correction: 2, contradiction: 2, tour: 2, move: 2,
    trait: 2,
}  # fmt: skip
"""How often each is drawn, against the others."""
