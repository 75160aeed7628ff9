"""Fences: the tags a prompt puts around text from outside, and what keeps that text from closing them."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

FENCES = frozenset(("memory", "note", "question", "turn"))
"""Tags that are escaped in every template; those a template closes itself are added to them."""

_BRACKETS = re.compile("[<\uff1c\ufe64\u2039\u2329\u3008\u27e8\u27ea\u300a\u276c\u276e\u2770\u02c2\u1438\u226e\u2a79]")
"""The less-than sign and what is easily read as one."""
_SLASHES = "/\\\uff0f\u2044\u2215\u29f8\u2571"
_SILENT = frozenset("\u115f\u1160\u2065\u3164\uffa0")
"""Letters and unassigned code points that are shown as nothing at all, besides the categories below."""
_SILENT_CATEGORIES = frozenset(("Cc", "Cf", "Me", "Mn"))
_TWINS = str.maketrans(
    "\u0430\u0432\u0435\u043a\u043c\u043d\u043e\u0440\u0441\u0442\u0443\u0445\u0455\u0456\u0458\u0501\u051b\u04bb"
    "\u0578\u057d\u03b1\u03b5\u03b9\u03ba\u03bd\u03bf\u03c1\u03c4\u03c5\u0131",
    "abekmhopctyxsijdqhnuaeikvoptui",
)
"""Cyrillic, Armenian and Greek letters that look like Latin ones."""
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
    """Read the tag name after a bracket as a reader would: without what is invisible, width, case or alphabet."""
    name = ""
    for position in range(start, len(text)):
        char = text[position]
        if not name and (char.isspace() or char in _SLASHES):
            continue
        if not char.isspace() and (char in _SILENT or unicodedata.category(char) in _SILENT_CATEGORIES):
            continue
        plain = unicodedata.normalize("NFKC", char).casefold().translate(_TWINS)
        if not (plain.isalnum() or plain == "_") or len(name) >= limit:
            break
        name += plain
    return name


def attribute(value: str | None) -> str | None:
    """Return text that may stand between the quotes of a tag's attribute: on one line, without such quotes."""
    return None if value is None else " ".join(value.replace('"', "'").split())
