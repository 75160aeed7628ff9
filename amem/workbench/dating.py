"""Whether a text names a date: the dates that stand in it, in figures or with the names of months.

Read are ISO 8601 (`2024-05-08`, `2024-W19`, `2024-05`), `8 May 2023`, `May 8th`, `8. Mai`, `8 de mayo de 2023`,
`2024年5月8日`, `8.5.2024`, ranges of days such as `4-5 May`, and a month or a year alone. Months are known by name in
English and in the language that the text is said to be in. `5/8/2024` is read as day/month, except in English, where
nobody can tell: there only `13/5` and `5/13` are read.
"""

from __future__ import annotations

import re
import unicodedata
from datetime import date
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from amem.workbench.labelled import Granularity

    Parts = Mapping[str, str | None]
    Reader = Callable[[Parts], list["Mention"]]

_MONTHS = {
    "en": "January|Jan February|Feb March|Mar April|Apr May June|Jun July|Jul August|Aug September|Sept|Sep October|Oct"
    " November|Nov December|Dec",
    "de": "januar|jänner februar märz april mai juni juli august september oktober november dezember",
    "fr": "janvier février|fevrier mars avril mai juin juillet août|aout septembre octobre novembre décembre|decembre",
    "es": "enero febrero marzo abril mayo junio julio agosto septiembre|setiembre octubre noviembre diciembre",
    "pl": "styczeń|stycznia|styczniu luty|lutego|lutym marzec|marca|marcu kwiecień|kwietnia|kwietniu maj|maja|maju"
    " czerwiec|czerwca|czerwcu lipiec|lipca|lipcu sierpień|sierpnia|sierpniu wrzesień|września|wrześniu"
    " październik|października|październiku listopad|listopada|listopadzie grudzień|grudnia|grudniu",
    "ru": "январь|января|январе февраль|февраля|феврале март|марта|марте апрель|апреля|апреле май|мая|мае"
    " июнь|июня|июне июль|июля|июле август|августа|августе сентябрь|сентября|сентябре октябрь|октября|октябре"
    " ноябрь|ноября|ноябре декабрь|декабря|декабре",
    "ar": "يناير|كانون_الثاني فبراير|شباط مارس|آذار أبريل|ابريل|إبريل|نيسان مايو|أيار يونيو|حزيران يوليو|تموز"
    " أغسطس|آب سبتمبر|أيلول أكتوبر|تشرين_الأول نوفمبر|تشرين_الثاني ديسمبر|كانون_الأول",
}
"""Twelve a language. English names count with their capital only, for `may` and `march` are other words too."""

_HAN = {char: number for number, char in enumerate("一二三四五六七八九", 1)}
_HAN_NUMBER = re.compile("(?:([一二三四五六七八九])?(十)([一二三四五六七八九])?|([一二三四五六七八九]))(?=[月日号])")
_YEAR = r"(?P<year>(?:19|20)\d\d)(?!\d)"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th|er|º|\.)?(?!\d)"
_FROM = r"(?:(?P<first>\d{1,2})(?:st|nd|rd|th|\.)?\s*(?:[-\u2013\u2014/,&]|to|and|und|bis|et|au|y|al|i|do|и|по)\s*)?"


class Mention(NamedTuple):
    """A date as far as a text gives it."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    week: int | None = None


def names_date(text: str, expected: str, granularity: Granularity, language: str = "en") -> bool:
    """Whether `expected` stands in the text.

    A day or a month may lack its year, but must not have another one. A week is named by its number or by any of its
    days. A month that has a day, or a year that has a month, is another, more exact claim and doesn't count.

    Args:
        text: what was made of a turn.
        expected: ISO 8601, of the granularity: `2024-05-08`, `2024-W19`, `2024-05`, `2024`.
        granularity: how exact the date is.
        language: ISO 639-1, whose names of months are read beside the English ones.
    """
    return any(_is(mention, expected, granularity) for mention in mentions(text, language))


def mentions(text: str, language: str = "en") -> list[Mention]:
    """Return the dates in a text; each stretch of it is read once, by the most exact pattern that fits."""
    plain = "".join(_figure(char) for char in unicodedata.normalize("NFKC", text))
    rest = _HAN_NUMBER.sub(_in_figures, plain)
    found: list[Mention] = []
    for pattern, read in _patterns(language):
        for match in pattern.finditer(rest):
            found += read(match.groupdict())
        rest = pattern.sub(" ~ ", rest)
    return found


def _is(mention: Mention, expected: str, granularity: Granularity) -> bool:
    if granularity == "day":
        return _fits(mention, date.fromisoformat(expected))
    if granularity == "week":
        year, week, _ = date.fromisoformat(expected).isocalendar()
        days = (date.fromisocalendar(year, week, day) for day in range(1, 8))
        return mention == Mention(year, week=week) or any(_fits(mention, day) for day in days)
    if granularity == "month":
        year, month = map(int, expected.split("-"))
        return mention in {Mention(year, month), Mention(None, month)}
    return mention == Mention(int(expected))


def _fits(mention: Mention, day: date) -> bool:
    return (mention.month, mention.day) == (day.month, day.day) and mention.year in {None, day.year}


def _figure(char: str) -> str:
    """Write the digits of every script in ours."""
    return str(unicodedata.decimal(char)) if char.isdecimal() else char


def _in_figures(match: re.Match[str]) -> str:
    tens, ten, ones, single = match.groups()
    return str(10 * _HAN.get(tens, 1) + _HAN.get(ones, 0) if ten else _HAN[single])


@cache
def _patterns(language: str) -> tuple[tuple[re.Pattern[str], Reader], ...]:
    """Return what dates look like, the most exact first, and how each is read."""
    month = rf"(?<![^\W\d_])[وبل]{{0,2}}(?P<name>{_alternatives(language)})(?![^\W\d_])\.?"
    of_year = rf"(?:,?\s*(?:de\s+|del\s+)?{_YEAR})?"
    shapes: list[tuple[str, Reader]] = [
        (rf"(?<!\d){_YEAR}-?W(?P<week>\d\d)(?:-\d)?", _read),
        (rf"(?<!\d){_YEAR}(?P<mark>[-/.])(?P<month>\d\d?)(?P=mark)(?P<day>\d\d?)(?!\d)", _read),
        (rf"(?:{_YEAR}\s*[年년]\s*)?(?P<month>\d\d?)\s*[月월]\s*(?P<day>\d\d?)\s*[日号일]", _read),
        (rf"(?:{_YEAR}\s*[年년]\s*)?(?P<month>\d\d?)\s*[月월]", _read),
        (rf"(?<!\d){_FROM}{_DAY}\s*(?:of\s+|de\s+)?{month}{of_year}", _read),
        (rf"{month}\s*{_FROM}{_DAY}{of_year}", _read),
        (rf"(?<!\d)(?P<day>\d\d?)\.\s?(?P<month>\d\d?)\.(?:\s?{_YEAR})?(?!\d)", _read),
        (rf"(?<!\d)(?P<day>\d\d?)/(?P<month>\d\d?)(?:/{_YEAR})?(?!\d)", _read_either if language == "en" else _read),
        (rf"(?<!\d){_YEAR}-(?P<month>\d\d)(?![\d-])", _read),
        (rf"{month}{of_year}", _read),
        (rf"(?<!\d){_YEAR}", _read),
    ]
    return tuple((re.compile(shape), read) for shape, read in shapes)


def _read(parts: Parts) -> list[Mention]:
    """Read one date, or both ends of a range of days."""
    year, week, month = (int(found) if (found := parts.get(key)) else None for key in ("year", "week", "month"))
    name = parts.get("name")
    days: list[int | None] = [int(found) for key in ("first", "day") if (found := parts.get(key))]
    return [Mention(year, _numbers()[name.casefold()] if name else month, day, week) for day in days or [None]]


def _read_either(parts: Parts) -> list[Mention]:
    """Read `13/5` and `5/13`; which of two small numbers is the month, English does not say."""
    small, large = sorted((parts["day"] or "", parts["month"] or ""), key=int)
    return _read({**parts, "day": large, "month": small}) if int(small) <= 12 < int(large) else []


def _alternatives(language: str) -> str:
    english, own = _MONTHS["en"], _MONTHS.get(language, "")
    return "|".join([*_forms(english), *(f"(?i:{form})" for form in _forms(own) if language != "en")])


def _forms(months: str) -> Iterator[str]:
    for forms in months.split():
        yield from forms.replace("_", " ").split("|")


@cache
def _numbers() -> dict[str, int]:
    """Return the number of each month by its name in lower case; no name means two months in two languages."""
    return {
        form.casefold(): number
        for months in _MONTHS.values()
        for number, forms in enumerate(months.split(), 1)
        for form in _forms(forms)
    }
