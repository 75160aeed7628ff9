"""A scene of a generated show as those who ask see it: what was told before it, and what is still to be told.

Nothing is asked that the scene itself tells, since nobody knows whether it was told before the question or after it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from . import calendar

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date
    from random import Random

    from .dialsim_facts import Fact, Person, Thing, World


class Candidate(NamedTuple):
    """A question, with its answer and where that is told."""

    question: str
    answer: str | None
    """None where nobody has told it so far."""
    others: tuple[str, ...]
    """Four wrong options where there is no answer, at least three where there is one."""
    evidence: tuple[Fact, ...] = ()
    later: int = 0
    """How many of the facts that are asked about are still to come."""


class Moment(NamedTuple):
    """A scene in which something is asked, and all that is told in the show."""

    scene: int
    days: Sequence[date]
    world: World
    random: Random

    def known(self, facts: Sequence[Fact]) -> tuple[Fact, ...]:
        """Return what earlier scenes told."""
        return tuple(fact for fact in facts if fact.scene < self.scene)

    def coming(self, facts: Sequence[Fact]) -> tuple[Fact, ...]:
        """Return what later scenes will tell."""
        return tuple(fact for fact in facts if fact.scene > self.scene)

    @property
    def present(self) -> str:
        """The scene's own month; DialSim skips questions that name it."""
        return calendar.month_of(self.days[self.scene])

    def month(self, fact: Fact) -> str:
        """Return the month in which something was told."""
        return calendar.month_of(self.days[fact.scene])

    def person(self) -> Person | None:
        """Return somebody of whom this scene says nothing."""
        found = self.random.choice(self.world.persons)
        return None if self.scene in found.scenes else found

    def thing(self, *, known: bool) -> Thing | None:
        """Return something that was spoken of before, or will be."""
        found = self.random.choice(self.world.things)
        return found if found.fact.scene != self.scene and (found.fact.scene < self.scene) == known else None

    def places(self, *answers: str) -> tuple[str, ...]:
        """Return places of work that are none of some answers."""
        drawn = [fact.value for person in self.random.choices(self.world.persons, k=12) for fact in person.jobs]
        return tuple(dict.fromkeys(place for place in drawn if place not in answers))[:4]

    def streets(self, *answers: str) -> tuple[str, ...]:
        """Return streets that are none of some answers."""
        drawn = [fact.value for person in self.random.choices(self.world.persons, k=12) for fact in person.streets]
        return tuple(dict.fromkeys(street for street in drawn if street not in answers))[:4]
