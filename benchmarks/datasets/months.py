"""Dates in English words, read and written whatever the locale."""

from __future__ import annotations

import re
from datetime import UTC, datetime

MONTHS = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
          "December")  # fmt: skip
_NUMBERS = {name.lower(): number for number, name in enumerate(MONTHS, start=1)}
_ENGLISH = re.compile(r"([a-z]+) (\d{1,2}), (\d{4})", re.IGNORECASE)
_LOCOMO = re.compile(r"(\d{1,2}):(\d{2}) ([ap]m) on (\d{1,2}) ([a-z]+), (\d{4})", re.IGNORECASE)


def parse_english(text: str) -> datetime | None:
    """Read `September 22, 1994`, DialSim's dates; None where it is no such date."""
    found = _ENGLISH.fullmatch(text.strip())
    return _moment(found[3], found[1], found[2]) if found else None


def parse_locomo(text: str) -> datetime | None:
    """Read `1:56 pm on 8 May, 2023`, LoCoMo's dates; None where it is no such date."""
    found = _LOCOMO.fullmatch(text.strip())
    if found is None or not 1 <= int(found[1]) <= 12:
        return None
    hour = int(found[1]) % 12 + (12 if found[3].lower() == "pm" else 0)
    return _moment(found[6], found[5], found[4], hour, int(found[2]))


def _moment(year: str, month: str, day: str, hour: int = 0, minute: int = 0) -> datetime | None:
    try:
        return datetime(int(year), _NUMBERS[month.lower()], int(day), hour, minute, tzinfo=UTC)
    except (KeyError, ValueError):
        return None
