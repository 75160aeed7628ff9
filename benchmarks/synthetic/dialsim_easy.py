"""Questions in the kinds of DialSim's fan quizzes: single facts, with a date or without, and what was never told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import calendar, vocabulary
from .dialsim_moment import Candidate

if TYPE_CHECKING:
    from collections.abc import Callable

    from .dialsim_facts import Thing
    from .dialsim_moment import Moment


def _with_time(moment: Moment) -> Candidate | None:
    thing = moment.thing(known=True)
    if thing is None:
        return None
    asked = f"On {calendar.month_first(moment.days[thing.fact.scene])}, {thing.owner} spoke of"
    asked += f" the {thing.thing} called {thing.name}. What colour is it?"
    return Candidate(asked, thing.fact.value, _colours(moment, thing.fact.value), (thing.fact,))


def _without_time(moment: Moment) -> Candidate | None:
    return moment.random.choice((_owner, _claim, _feature))(moment)


def _owner(moment: Moment) -> Candidate | None:
    thing = moment.thing(known=True)
    if thing is None:
        return None
    others = tuple(one for one in moment.world.characters if one != thing.owner)
    asked = f"Whose is the {thing.fact.value} {thing.thing} called {thing.name}?"
    return Candidate(asked, thing.owner, others[:4], (thing.fact,))


def _claim(moment: Moment) -> Candidate | None:
    claims = moment.random.choice(moment.world.claims)
    if moment.scene <= max(fact.scene for fact in claims.facts):
        return None
    fact, other = moment.random.sample(claims.facts, 2)
    rest = [day for day in calendar.WEEKDAYS if day not in (fact.value, other.value)]
    asked = f"On which day does the {claims.club} meet, according to {fact.speaker}?"
    return Candidate(asked, fact.value, (other.value, *moment.random.sample(rest, 3)), (fact,))


def _feature(moment: Moment) -> Candidate | None:
    trait = moment.random.choice(moment.world.traits)
    if trait.fact.scene >= moment.scene or not trait.feature.values:
        return None
    others = tuple(value for value in trait.feature.values if value != trait.fact.value)
    return Candidate(trait.feature.asked.format(who=trait.fact.speaker), trait.fact.value, others, (trait.fact,))


def _before(moment: Moment) -> Candidate | None:
    thing = moment.thing(known=False)
    if thing is None:
        return None
    asked = f"What colour is the {thing.thing} called {thing.name} that {thing.owner} owns?"
    return Candidate(asked, None, (thing.fact.value, *_colours(moment, thing.fact.value))[:4])


def _never_told(moment: Moment) -> Candidate | None:
    """Ask for a price, or for what was said of somebody else."""
    return moment.random.choice((_price, _swapped, _feature_swapped))(moment)


def _price(moment: Moment) -> Candidate | None:
    thing = moment.thing(known=True)
    if thing is None:
        return None
    asked = f"What did {thing.owner} pay for the {thing.thing} called {thing.name}?"
    return Candidate(asked, None, tuple(moment.random.sample(vocabulary.PRICES, 4)))


def _swapped(moment: Moment) -> Candidate | None:
    thing = moment.thing(known=True)
    if thing is None:
        return None
    other = _somebody_else(moment, thing)
    asked = f"What colour is the {thing.thing} called {thing.name} that {other} owns?"
    return Candidate(asked, None, (thing.fact.value, *_colours(moment, thing.fact.value))[:4])


def _feature_swapped(moment: Moment) -> Candidate | None:
    trait = moment.random.choice(moment.world.traits)
    if trait.fact.scene >= moment.scene or not trait.feature.values:
        return None
    others = (trait.fact.value, *(value for value in trait.feature.values if value != trait.fact.value))[:4]
    return Candidate(trait.feature.asked.format(who=moment.random.choice(trait.others)), None, others)


def _never_told_then(moment: Moment) -> Candidate | None:
    """Ask what somebody else said on that day."""
    thing = moment.thing(known=True)
    if thing is None:
        return None
    other = _somebody_else(moment, thing)
    asked = f"On {calendar.month_first(moment.days[thing.fact.scene])}, {other} spoke of"
    asked += f" the {thing.thing} called {thing.name}. What colour is it?"
    others = (thing.fact.value, *_colours(moment, thing.fact.value))[:4]
    return Candidate(asked, None, others, (thing.fact,))


def _somebody_else(moment: Moment, thing: Thing) -> str:
    return moment.random.choice([one for one in moment.world.characters if one != thing.owner])


def _colours(moment: Moment, right: str) -> tuple[str, ...]:
    return tuple(moment.random.sample([colour for colour in vocabulary.COLOURS if colour != right], 4))


EASY: dict[str, Callable[[Moment], Candidate | None]] = {
    "ans_w_time": _with_time, "ans_wo_time": _without_time, "before_event_unans": _before,
    "dont_know_unans": _never_told, "dont_know_unans_time": _never_told_then,
}  # fmt: skip
"""By kind."""
