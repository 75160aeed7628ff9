"""Fences: the tags a prompt puts around text from outside, and what keeps that text from closing them."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

FENCES = frozenset(("memory", "note", "question", "turn"))
"""Tags that are escaped in every template; those a template closes itself are added to them."""

_BRACKETS = re.compile("[<\uff1c\ufe64\u2039\u3008\u27e8\u02c2\u1438]")
"""The less-than sign and what is easily read as one."""
_SLASHES = "/\\\uff0f\u2044\u2215\u29f8"
_CLOSING_TAG = re.compile(r"</\s*([A-Za-z]\w*)")


def fences_of(body: str) -> frozenset[str]:
    """Return the tags that are fences in a template: the common ones and all that it closes itself."""
    return FENCES | {tag.casefold() for tag in _CLOSING_TAG.findall(body)}


def fenced(value: object, fences: Collection[str] = FENCES) -> str:
    """Escape the `<` of fence tags, however it is disguised; leave all other text byte for byte."""
    text = str(value)  # raises for an undefined variable, naming it
    if not isinstance(value, (str, int, float)):
        raise TypeError(f"fenced takes text or a number, not {type(value).__name__}; join lists first")
    longest = max(map(len, fences), default=0)

    def escape(bracket: re.Match[str]) -> str:
        named = _tag_name(text, bracket.end(), longest + 1) in fences
        return "&lt;" if named else bracket.group()

    return _BRACKETS.sub(escape, text)


def _tag_name(text: str, start: int, limit: int) -> str:
    """Read the tag name after a bracket as a reader would: without what is invisible, width or case."""
    name = ""
    for position in range(start, len(text)):
        char = text[position]
        if not name and (char.isspace() or char in _SLASHES):
            continue
        if not char.isascii() and unicodedata.category(char) in {"Cf", "Mn"}:
            continue
        plain = unicodedata.normalize("NFKC", char).casefold()
        if not (plain.isalnum() or plain == "_") or len(name) >= limit:
            break
        name += plain
    return name
