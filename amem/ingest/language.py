"""A check that derived text keeps the script of its source, made by code because models forget the rule."""

from __future__ import annotations

from collections import Counter

_RANGES = (
    ("latin", 0x0041, 0x024F),
    ("greek", 0x0370, 0x03FF),
    ("cyrillic", 0x0400, 0x052F),
    ("hebrew", 0x0590, 0x05FF),
    ("arabic", 0x0600, 0x077F),
    ("devanagari", 0x0900, 0x097F),
    ("thai", 0x0E00, 0x0E7F),
    ("hangul", 0x1100, 0x11FF),
    ("kana", 0x3040, 0x30FF),
    ("han", 0x3400, 0x9FFF),
    ("hangul", 0xAC00, 0xD7AF),
)
_DOMINANT = 0.6  # below this share a text is mixed, and nothing is demanded of what is derived from it
_KEPT = 0.2  # names and code may stand in other scripts, so a fifth is enough
_MIN_LETTERS = 8  # shorter texts are names and codes as often as sentences


def _scripts(text: str) -> Counter[str]:
    if text.isascii():
        return Counter(latin=sum(map(str.isalpha, text)))
    found: Counter[str] = Counter()
    for char in text:
        if char.isalpha():
            code = ord(char)
            found[next((name for name, low, high in _RANGES if low <= code <= high), "other")] += 1
    if found["kana"]:  # Japanese is written in both; Chinese in one
        found["kana"] += found.pop("han", 0)
    return found


def keeps_script(source: str, derived: str) -> bool:
    """Whether `derived` is written in the script that dominates `source`.

    Text in a script shared by many languages (French, English) cannot be told apart this way; the prompts ask for it.
    """
    of_source, of_derived = _scripts(source), _scripts(derived)
    letters, total = of_source.total(), of_derived.total()
    if letters < _MIN_LETTERS or total < _MIN_LETTERS:
        return True
    script, count = of_source.most_common(1)[0]
    return count < _DOMINANT * letters or of_derived[script] >= _KEPT * total
