"""What `last Friday` means on the day it is said: relative dates in ten languages, resolved without a model.

Only what can be read in one way is resolved: `next Friday`, said on a Tuesday, is left alone. The phrases stand in
`_data/relative_dates.toml`.
"""

from __future__ import annotations

import re
import tomllib
from datetime import date, timedelta
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from pydantic import Field

from amem.values import Frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST = 4
"""Dates that are read of one text: a diary names dozens."""

_DASH = " \u2013 "
_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("zh", re.compile("[\u4e00-\u9fff]")),
    ("ar", re.compile("[\u0600-\u06ff]")),
    ("ru", re.compile("[\u0400-\u04ff]")),
)
_UNSPACED = frozenset({"ja", "ko", "zh"})
"""Languages whose words are not parted from what stands around them."""
_WORD = re.compile(r"[^\W\d_]+")
_CLAUSE = re.compile(r"[,:()\u2014\uff0c\u3001\u060c]|\s-\s|\s\u2013\s")
_SENTENCE = re.compile(r"[.!?;\u3002\uff01\uff1f\u061f]+(?:\s|$)|\n|[\u3002\uff01\uff1f]")
_OFFSET = re.compile(r"(?P<sign>[+\-?]?)(?P<count>\d*)(?P<unit>[dwmyeE])")


class Meant(NamedTuple):
    """A phrase of a text, and the time it means in ISO 8601: a day, two days for a span, a month or a year."""

    phrase: str
    date: str


class _Weekdays(Frozen):
    names: str
    last: str = ""
    next: str = ""
    coming: str = ""
    back: str = ""
    ahead: str = ""
    before: str = ""
    after: str = ""
    bare: str = ""


class _Language(Frozen):
    words: str
    numbers: str
    past: str
    future: str
    said: dict[str, str] = Field(min_length=1)
    weekdays: _Weekdays


class _Tense(NamedTuple):
    """Whether verbs tell of what was (-1) or is to come (1); 0 where there is none, or both."""

    clause: int
    nearest: int
    """Of the clause, or of its sentence where the clause does not tell."""


class _Phrase(NamedTuple):
    pattern: re.Pattern[str]
    read: Callable[[re.Match[str], date, _Tense], str | None]
    """Takes the match, the day it was said, and what the verbs around it say."""


def meant_dates(text: str, day: date) -> list[Meant]:
    """Return the relative dates that a text names, in order, as far as they can be read in one way."""
    language = _language_of(text)
    if language is None:
        return []
    found: list[tuple[int, int, Meant]] = []
    for start, end, match, phrase in _longest(language, text):
        when = _within_calendar(phrase, match, day, _tense(language, text, start, end))
        if when is not None:
            found.append((start, end, Meant(text[start:end].strip(), when)))
    return [meant for _, _, meant in sorted(found)][:MOST]


def _longest(language: str, text: str) -> Iterator[tuple[int, int, re.Match[str], _Phrase]]:
    """Yield what matches, the longest first, no two of them overlapping."""
    matches = [(match, phrase) for phrase in _phrases(language) for match in phrase.pattern.finditer(text)]
    taken: list[tuple[int, int]] = []
    for match, phrase in sorted(matches, key=lambda found: found[0].start() - found[0].end()):
        start, end = match.span()
        if start < end and all(end <= a or b <= start for a, b in taken):
            taken.append((start, end))
            yield start, end, match, phrase


def _within_calendar(phrase: _Phrase, match: re.Match[str], day: date, tense: _Tense) -> str | None:
    try:
        return phrase.read(match, day, tense)
    except (OverflowError, ValueError):  # before the year 1, or after 9999
        return None


@cache
def _languages() -> dict[str, _Language]:
    text = (files("amem") / "_data" / "relative_dates.toml").read_text("utf-8")
    return {name: _Language.model_validate(table) for name, table in tomllib.loads(text).items()}


def _language_of(text: str) -> str | None:
    """Return the language that a text is in by its script, or by the small words in it; None where it has none."""
    letters = sum(map(str.isalpha, text))
    for language, script in _SCRIPTS:
        if len(script.findall(text)) * 3 > letters:
            return language
    words = {word.casefold() for word in _WORD.findall(text)}
    counts = {name: len(words.intersection(table.words.split())) for name, table in _languages().items() if table.words}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] else None


def _tense(language: str, text: str, start: int, end: int) -> _Tense:
    sentence, offset = _around(_SENTENCE, text, start, end)
    clause, _ = _around(_CLAUSE, sentence, start - offset, end - offset)
    of_clause = _verbs(language, clause)
    return _Tense(of_clause, of_clause or _verbs(language, sentence))


def _around(border: re.Pattern[str], text: str, start: int, end: int) -> tuple[str, int]:
    """Return the part of a text between two borders that holds a stretch of it, and where that part begins."""
    begins = max((found.end() for found in border.finditer(text, 0, start)), default=0)
    after = border.search(text, end)
    return text[begins : after.start() if after else len(text)], begins


def _verbs(language: str, text: str) -> int:
    table = _languages()[language]
    past, future = (bool(verbs and _bounded(verbs, language).search(text)) for verbs in (table.past, table.future))
    return future - past


@cache
def _bounded(pattern: str, language: str) -> re.Pattern[str]:
    if language in _UNSPACED:
        return re.compile(f"(?:{pattern})")
    start = r"(?<!\w)[وفبل]?" if language == "ar" else r"(?<!\w)"  # Arabic joins its prepositions
    return re.compile(rf"{start}(?:{pattern})(?!\w)", re.IGNORECASE)


@cache
def _phrases(language: str) -> tuple[_Phrase, ...]:
    table = _languages()[language]
    numbers = {word: count for count, words in enumerate(table.numbers.split(), 1) for word in words.split("|")}
    number = rf"(\d{{1,3}}|{'|'.join(sorted(map(re.escape, numbers), key=len, reverse=True))})"
    phrases = [
        _Phrase(_bounded(phrase.replace("{n}", number), language), _reader(offset, numbers))
        for phrase, offset in table.said.items()
    ]
    for weekday, name in enumerate(table.weekdays.names.split()):
        for kind, read in _WEEKDAYS.items():
            phrase = str(getattr(table.weekdays, kind))
            if phrase:
                phrases.append(_Phrase(_bounded(phrase.replace("{d}", name), language), _of_weekday(read, weekday)))
    return tuple(phrases)


def _reader(offset: str, numbers: dict[str, int]) -> Callable[[re.Match[str], date, _Tense], str | None]:
    parts = _OFFSET.fullmatch(offset)
    assert parts is not None, offset
    sign, count, unit = parts["sign"], parts["count"], parts["unit"]

    def read(match: re.Match[str], day: date, tense: _Tense) -> str | None:
        if sign == "?":
            return _weekend(day, -1 if tense.nearest < 0 and day.weekday() < 5 else 0) if tense.nearest else None
        if not count and sign == "+" and tense.clause < 0:
            return None  # "I read it in two days" is how long it took
        said = next((group for group in match.groups() if group), "").casefold()
        number = int(count) if count else int(said) if said.isdecimal() else numbers[said]
        return _shifted(day, unit, -number if sign == "-" else number)

    return read


def _shifted(day: date, unit: str, number: int) -> str | None:
    if unit == "d":
        return (day + timedelta(days=number)).isoformat()
    if unit == "w":
        monday = day - timedelta(days=day.weekday() - 7 * number)
        return _span(monday, monday + timedelta(days=6))
    if unit == "m":
        year, month = divmod(day.year * 12 + day.month - 1 + number, 12)
        return f"{date(year, month + 1, 1):%Y-%m}"
    if unit == "y":
        return f"{date(day.year + number, 1, 1):%Y}"
    if unit == "e" and number > 0 and day.weekday() < 5:
        return None  # the coming weekend, or the one after it
    return _weekend(day, number)


def _weekend(day: date, number: int) -> str:
    saturday = day - timedelta(days=day.weekday() - 5 - 7 * number)
    return _span(saturday, saturday + timedelta(days=1))


def _span(first: date, last: date) -> str:
    return f"{first.isoformat()}{_DASH}{last.isoformat()}"


def _of_weekday(
    read: Callable[[date, int, int], date | None], weekday: int
) -> Callable[[re.Match[str], date, _Tense], str | None]:
    def when(_: re.Match[str], day: date, tense: _Tense) -> str | None:
        found = read(day, weekday, tense.nearest)
        return None if found is None else found.isoformat()

    return when


def _recent(day: date, weekday: int, _: int = 0) -> date:
    return day - timedelta(days=(day.weekday() - weekday) % 7 or 7)


def _coming(day: date, weekday: int, _: int = 0) -> date:
    return day + timedelta(days=(weekday - day.weekday()) % 7 or 7)


def _of_last_week(day: date, weekday: int, _: int = 0) -> date:
    return day - timedelta(days=day.weekday() + 7 - weekday)


def _of_next_week(day: date, weekday: int, _: int = 0) -> date:
    return day + timedelta(days=7 - day.weekday() + weekday)


def _back(day: date, weekday: int, _: int = 0) -> date | None:
    return None if day.weekday() == weekday else _recent(day, weekday)  # today, or a week ago


def _last(day: date, weekday: int, _: int = 0) -> date | None:
    recent = _recent(day, weekday)
    return recent if recent == _of_last_week(day, weekday) else None


def _next(day: date, weekday: int, _: int = 0) -> date | None:
    coming = _coming(day, weekday)
    return coming if coming == _of_next_week(day, weekday) else None


def _bare(day: date, weekday: int, tense: int) -> date | None:
    return None if tense == 0 else _recent(day, weekday) if tense < 0 else _coming(day, weekday)


_WEEKDAYS: dict[str, Callable[[date, int, int], date | None]] = {
    "last": _last,
    "next": _next,
    "coming": _coming,
    "back": _back,
    "ahead": _coming,
    "before": _of_last_week,
    "after": _of_next_week,
    "bare": _bare,
}
