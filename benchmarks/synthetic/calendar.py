"""Dates as the data sets write them, and dates as people tell them."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

from ..datasets.months import MONTHS  # noqa: TID252 - in a wheel, this package has another name

if TYPE_CHECKING:
    from datetime import date
    from random import Random

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_NUMBERS = ("two", "three", "four", "five", "six", "seven")


class When(NamedTuple):
    """A time as it is told, and as an answer names it."""

    told: str
    meant: str


def day_first(day: date) -> str:
    """Write `7 May 2023`, as LoCoMo's answers do."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def month_first(day: date) -> str:
    """Write `May 7, 2023`, as DialSim does."""
    return f"{MONTHS[day.month - 1]} {day.day}, {day.year}"


def month_of(day: date) -> str:
    """Write `May 2023`."""
    return f"{MONTHS[day.month - 1]} {day.year}"


def past(random: Random, today: date) -> When:
    """Return a time before today, in one of the ways in which people tell it."""
    return random.choice(_PAST)(random, today)


def coming(random: Random, today: date) -> When:
    """Return a time after today."""
    first = (today.replace(day=1) + timedelta(days=31)).replace(day=1)
    choices = (
        When("tomorrow", day_first(today + timedelta(days=1))),
        When("next month", month_of(first)),
        When(f"on {day_first(today + timedelta(days=16))}", day_first(today + timedelta(days=16))),
    )
    return random.choice(choices)


def _yesterday(_: Random, today: date) -> When:
    return When("yesterday", day_first(today - timedelta(days=1)))


def _days_ago(random: Random, today: date) -> When:
    days = random.randint(2, 6)
    return When(f"{_NUMBERS[days - 2]} days ago", day_first(today - timedelta(days=days)))


def _last_week(_: Random, today: date) -> When:
    return When("last week", f"The week before {day_first(today)}")


def _weekday(random: Random, today: date) -> When:
    day = WEEKDAYS[(today.weekday() + random.randint(1, 6)) % 7]
    return When(f"last {day}", f"The {day} before {day_first(today)}")


def _last_month(_: Random, today: date) -> When:
    return When("last month", month_of(today.replace(day=1) - timedelta(days=1)))


def _years_ago(random: Random, today: date) -> When:
    years = random.randint(2, 7)
    return When(f"{_NUMBERS[years - 2]} years ago", str(today.year - years))


def _stated(random: Random, today: date) -> When:
    day = today - timedelta(days=random.randint(7, 60))
    return When(f"on {day_first(day)}", day_first(day))


_PAST = (_yesterday, _days_ago, _last_week, _weekday, _last_month, _years_ago, _stated)
