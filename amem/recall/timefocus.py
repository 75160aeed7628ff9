"""The time a question is about: `in May 2023`, `on 7 May`, `last week`, read without a model."""

from __future__ import annotations

import calendar
import math
import re
from datetime import MAXYEAR, MINYEAR, UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from amem.render import MONTHS

if TYPE_CHECKING:
    from collections.abc import Callable

    Reader = Callable[[dict[str, str], datetime], "Span | None"]


class Span(NamedTuple):
    """From `start` up to, not including, `end`; `yearly` where the question named no year."""

    start: datetime
    end: datetime
    yearly: bool = False

    def nearness(self, moment: datetime) -> float:
        """Return 1 within the span; around a single day, less the further off, and 0 beyond 45 days.

        What happened on a day is told in the days after it more often than before it: nearness falls with e^(-d/7)
        after the day and with e^(-d/2) before it.
        """
        start, end = self._in_year_of(moment)
        if start <= moment < end:
            return 1.0
        if end - start > timedelta(days=1):
            return 0.0
        days = (_midnight(moment) - start).days
        return 0.0 if abs(days) > 45 else math.exp(-days / 7 if days > 0 else days / 2)

    def _in_year_of(self, moment: datetime) -> tuple[datetime, datetime]:
        if not self.yearly:
            return self.start, self.end
        length = self.end - self.start
        years = (moment.year + step for step in (-1, 0, 1))
        starts = [_moved(self.start, year) for year in years if MINYEAR <= year < MAXYEAR]
        start = min(starts, key=lambda at: abs(at + length / 2 - moment))
        return start, start + length


def _moved(moment: datetime, year: int) -> datetime:
    """Return the same day of another year; 29 February becomes 28 February where there is none."""
    day = min(moment.day, calendar.monthrange(year, moment.month)[1])
    return moment.replace(year=year, day=day)


_MONTH = "|".join(f"{name}|{name[:3]}" for name in MONTHS)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_WEEKDAYS = tuple("monday tuesday wednesday thursday friday saturday sunday".split())  # noqa: SIM905 - words read better
_UNITS = {"day": 1, "week": 7, "fortnight": 14, "month": 30, "year": 365}
_NUMBERS = {name: i for i, name in enumerate("zero one two three four five six seven eight nine ten".split())}  # noqa: SIM905 - likewise
_NUMBERS |= {"a": 1, "an": 1, "couple of": 2}
_SEASONS = {"spring": (3, 3), "summer": (6, 3), "autumn": (9, 3), "fall": (9, 3), "winter": (12, 3)}


def time_focus(question: str, now: datetime) -> Span | None:
    """Return the span of time a question names, or None; the first of the most exact patterns wins.

    Args:
        question: in English words, or with ISO 8601 dates.
        now: what `last week` counts from, and what a month without a year precedes.
    """
    text = question.lower()
    for pattern, read in _PATTERNS:
        for match in re.finditer(pattern, text):
            span = _within_calendar(read, match.groupdict(), now)
            if span is not None:
                return span
    return None


def _within_calendar(read: Reader, parts: dict[str, str], now: datetime) -> Span | None:
    """Read a match; a time before the year 1 or after 9999 is none that a note could have."""
    try:
        return read(parts, now)
    except (OverflowError, ValueError):
        return None


def _day(parts: dict[str, str], now: datetime) -> Span | None:
    month, day = _month_number(parts["month"]), int(parts["day"])
    year = int(parts.get("year") or 0)
    span = _days(year or _year_before(now, month, day), month, day, 1)
    return span if year or span is None else span._replace(yearly=True)


def _days(year: int, month: int, day: int, count: int) -> Span | None:
    try:
        start = datetime(year, month, day, tzinfo=UTC)
    except ValueError:  # 31 February is no date
        return None
    return Span(start, start + timedelta(days=count))


def _month(parts: dict[str, str], now: datetime) -> Span | None:
    month = _month_number(parts["month"])
    year = int(parts.get("year") or 0)
    span = _months(year or _year_before(now, month, 1), month, 1)
    return span if year else span._replace(yearly=True)


def _months(year: int, month: int, count: int) -> Span:
    start = datetime(year, month, 1, tzinfo=UTC)
    after = month - 1 + count
    return Span(start, datetime(year + after // 12, after % 12 + 1, 1, tzinfo=UTC))


def _season(parts: dict[str, str], now: datetime) -> Span:
    month, count = _SEASONS[parts["season"]]
    year = int(parts.get("year") or 0)
    span = _months(year or _year_before(now, month, 1), month, count)
    return span if year or "last" in parts["lead"] else span._replace(yearly=True)


def _year(parts: dict[str, str], now: datetime) -> Span:  # noqa: ARG001 - every reader has the same signature
    return _months(int(parts["year"]), 1, 12)


def _iso(parts: dict[str, str], now: datetime) -> Span | None:  # noqa: ARG001 - likewise
    month = int(parts["month"])
    if not 1 <= month <= 12:
        return None
    if not parts.get("day"):
        return _months(int(parts["year"]), month, 1)
    return _days(int(parts["year"]), month, int(parts["day"]), 1)


def _ago(parts: dict[str, str], now: datetime) -> Span:
    word, unit = parts["number"], _UNITS[parts["unit"]]
    count = int(word) if word.isdigit() else _NUMBERS[word]
    middle = _midnight(now) - timedelta(days=min(count, 4000) * unit)
    half = 0 if unit == 1 else unit // 2
    return Span(middle - timedelta(days=half), middle + timedelta(days=half + 1))


def _relative(parts: dict[str, str], now: datetime) -> Span:
    """Read `yesterday`, `today`, `last week`, `this month`, `last friday`."""
    today = _midnight(now)
    word = parts["word"]
    if word in {"yesterday", "today"}:
        start = today - timedelta(days=word == "yesterday")
        return Span(start, start + timedelta(days=1))
    back = parts["which"] == "last"
    if word in _WEEKDAYS:
        ago = (today.weekday() - _WEEKDAYS.index(word)) % 7 or 7
        return Span(today - timedelta(days=ago), today - timedelta(days=ago - 1))
    if word == "week":
        monday = today - timedelta(days=today.weekday() + 7 * back)
        return Span(monday, monday + timedelta(days=7))
    if word == "month":
        year, month = divmod(today.year * 12 + today.month - 1 - back, 12)
        return _months(year, month + 1, 1)
    return _months(today.year - back, 1, 12)


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def _month_number(name: str) -> int:
    return next(i for i, month in enumerate(MONTHS, start=1) if month.lower().startswith(name))


def _year_before(now: datetime, month: int, day: int) -> int:
    """Return the year of the last such month and day that has begun: people ask about the past."""
    last = calendar.monthrange(now.year, month)[1]
    return now.year if (month, min(day, last)) <= (now.month, now.day) else now.year - 1


_PATTERNS: tuple[tuple[str, Reader], ...] = (
    (r"\b(?P<year>(?:19|20)\d\d)-(?P<month>\d\d)-(?P<day>\d\d)\b", _iso),
    (rf"\b{_DAY}(?: of)? (?P<month>{_MONTH.lower()})\b,?(?: {_YEAR}\b)?", _day),
    (rf"\b(?P<month>{_MONTH.lower()})\.? {_DAY}\b(?:,? {_YEAR}\b)?", _day),
    (r"\b(?P<year>(?:19|20)\d\d)-(?P<month>\d\d)\b(?!-)", _iso),
    (rf"\b(?P<month>{_MONTH.lower()}),? {_YEAR}\b", _month),
    (rf"\b(?P<lead>)(?P<season>{'|'.join(_SEASONS)})(?: of)? {_YEAR}\b", _season),
    (rf"\b(?P<number>\d{{1,4}}|{'|'.join(_NUMBERS)}) (?P<unit>{'|'.join(_UNITS)})s? ago\b", _ago),
    (rf"\b(?P<which>last|this|past) (?P<word>week|month|year|{'|'.join(_WEEKDAYS)})\b", _relative),
    (r"\b(?P<which>)(?P<word>yesterday|today)\b", _relative),
    (rf"\b(?:in|during|since|before|after|until|of|last) (?P<month>{_MONTH.lower()})\b(?! \d)", _month),
    (rf"\b(?P<lead>in|during|last) (?:the )?(?P<season>{'|'.join(_SEASONS)})\b", _season),
    (rf"\b(?:in|during|since|before|after|until|of|year) {_YEAR}\b", _year),
)
