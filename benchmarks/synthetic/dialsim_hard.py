"""Questions about dated facts, in the kinds of DialSim's graph: two of past, present and future are combined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import calendar
from .dialsim_moment import Candidate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .dialsim_facts import Fact
    from .dialsim_moment import Moment


def _past(moment: Moment) -> Candidate | None:
    person = moment.person()
    jobs = moment.known(person.jobs) if person else ()
    if person is None or len(jobs) < 2:
        return None
    job = moment.random.choice(jobs[:-1])
    months = [moment.month(one) for one in person.jobs]
    if months.count(moment.month(job)) > 1 or moment.month(job) == moment.present:
        return None
    asked = f"Where did {person.who} work, by what was told in {moment.month(job)}?"
    return Candidate(asked, job.value, _with(moment, jobs, job), (job,))


def _cur(moment: Moment) -> Candidate | None:
    person = moment.person()
    jobs = moment.known(person.jobs) if person else ()
    if person is None or not jobs:
        return None
    return Candidate(f"Where does {person.who} work now?", jobs[-1].value, _with(moment, jobs, jobs[-1]), jobs[-1:])


def _fu(moment: Moment) -> Candidate | None:
    person = moment.person()
    if person is None or moment.known((*person.jobs, *person.homes)):
        return None
    others = (person.jobs[0].value, *moment.places(person.jobs[0].value))[:4]
    return Candidate(f"Where does {person.who} work?", None, others, later=1)


def _past_past(moment: Moment) -> Candidate | None:
    one, other = moment.person(), moment.person()
    moves = moment.known(other.homes) if other else ()
    if one is None or other is None or one.who == other.who or not moves:
        return None
    move = moment.random.choice(moves)
    jobs = moment.known(one.jobs)
    before = [job for job in jobs if job.scene < move.scene]
    if not before or any(job.scene == move.scene for job in jobs):
        return None
    asked = f"Where did {one.who} work when {other.who} moved to {move.value}?"
    return Candidate(asked, before[-1].value, _with(moment, jobs, before[-1]), (before[-1], move))


def _past_cur(moment: Moment) -> Candidate | None:
    person = moment.person()
    jobs = moment.known(person.jobs) if person else ()
    if len(jobs) < 2:
        return None
    first = moment.random.choice(jobs[:-1])
    asked = f"Where does the person work now who once worked at {first.value}?"
    return Candidate(asked, jobs[-1].value, _with(moment, jobs, jobs[-1]), (first, jobs[-1]))


def _cur_past(moment: Moment) -> Candidate | None:
    person = moment.person()
    jobs = moment.known(person.jobs) if person else ()
    if len(jobs) < 2:
        return None
    asked = f"Where did the person who works at {jobs[-1].value} now work right before?"
    return Candidate(asked, jobs[-2].value, _with(moment, jobs[:-1], jobs[-2]), (jobs[-1], jobs[-2]))


def _cur_cur(moment: Moment) -> Candidate | None:
    person = moment.person()
    jobs = moment.known(person.jobs) if person else ()
    if person is None or not jobs:
        return None
    street = person.streets[len(jobs) - 1]
    if street.scene >= moment.scene:
        return None
    asked = f"In which street is the place where {person.who} works now?"
    return Candidate(asked, street.value, moment.streets(street.value), (jobs[-1], street))


def _past_fu(moment: Moment) -> Candidate | None:
    person = moment.person()
    jobs = moment.known(person.jobs) if person else ()
    later = moment.coming(person.jobs) if person else ()
    if person is None or not jobs or not later:
        return None
    asked = f"Where did {person.who} go to work after {jobs[-1].value}?"
    return Candidate(asked, None, (later[0].value, *moment.places(later[0].value, jobs[-1].value))[:4], jobs[-1:], 1)


def _cur_fu(moment: Moment) -> Candidate | None:
    person = moment.person()
    jobs = moment.known(person.jobs) if person else ()
    later = moment.coming(person.homes) if person else ()
    if person is None or not jobs or not later:
        return None
    homes = moment.random.choices(moment.world.persons, k=12)
    towns = tuple(dict.fromkeys([later[0].value, *(one.homes[-1].value for one in homes if one.who != person.who)]))
    asked = f"To which town will the person move who works at {jobs[-1].value} now?"
    return Candidate(asked, None, towns[:4], jobs[-1:], 1)


def _fu_past(moment: Moment) -> Candidate | None:
    person, earlier = moment.person(), moment.random.randrange(moment.scene) if moment.scene else None
    if person is None or earlier is None or moment.known((*person.jobs, *person.homes)):
        return None
    month = calendar.month_of(moment.days[earlier])
    if month == moment.present:
        return None
    asked = f"Where did {person.who} work in {month}?"
    return Candidate(asked, None, (person.jobs[0].value, *moment.places(person.jobs[0].value))[:4], later=1)


def _fu_cur(moment: Moment) -> Candidate | None:
    person = moment.person()
    if person is None or moment.known((person.jobs[-1], person.streets[-1])):
        return None
    street = person.streets[-1].value
    asked = f"In which street is {person.jobs[-1].value} now?"
    return Candidate(asked, None, (street, *moment.streets(street))[:4], later=1)


def _fu_fu(moment: Moment) -> Candidate | None:
    one, other = moment.person(), moment.person()
    if one is None or other is None or one.who == other.who or moment.known((*one.jobs, *other.homes)):
        return None
    asked = f"Where did {one.who} work when {other.who} moved to {other.homes[-1].value}?"
    return Candidate(asked, None, (one.jobs[0].value, *moment.places(one.jobs[0].value))[:4], later=2)


def _with(moment: Moment, jobs: Sequence[Fact], right: Fact) -> tuple[str, ...]:
    """Return wrong places of work, those of the same person first."""
    own = [job.value for job in jobs if job is not right]
    return tuple(dict.fromkeys([*own, *moment.places(right.value)]))[:4]


HARD: dict[str, Callable[[Moment], Candidate | None]] = {
    "past": _past, "cur": _cur, "fu": _fu, "past_past": _past_past, "past_cur": _past_cur, "past_fu": _past_fu,
    "cur_past": _cur_past, "cur_cur": _cur_cur, "cur_fu": _cur_fu, "fu_past": _fu_past, "fu_cur": _fu_cur,
    "fu_fu": _fu_fu,
}  # fmt: skip
"""By kind."""
