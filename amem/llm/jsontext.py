"""Finding the JSON in what a model said: around reasoning, fences and prose, and through the usual damage."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_REASONING = r"think(?:ing)?|thoughts?|reasoning"
_MARK = re.compile(rf"<(?P<end>/?)(?:{_REASONING})\b[^<>]*>|[{{\[]", re.IGNORECASE)
_END = re.compile(rf"</(?:{_REASONING})\s*>", re.IGNORECASE)
_OPEN = re.compile(rf"<(?:{_REASONING})\b[^<>]*>", re.IGNORECASE)
_FENCE = re.compile(r"^\s*(?:```|~~~)[\w+-]*\s*$", re.MULTILINE)
_SURROGATE = re.compile("[\ud800-\udfff]")
_CLOSERS = {"{": "}", "[": "]"}
_IN_EARNEST = re.compile(r"[{\[]\s*[\"'“{\[]")
_FALSE_STARTS = 8
"""Brackets in prose that lead nowhere; with more of them the search would cost quadratic time."""


@dataclass(frozen=True)
class Piece:
    """A stretch of text that begins and ends like a JSON object or list."""

    text: str
    thought: bool = False
    """Whether it stands in a block of reasoning that never closed."""

    @property
    def is_object(self) -> bool:
        """Whether it begins like an object."""
        return self.text.startswith("{")


@dataclass(frozen=True)
class Found:
    """What a text holds besides prose."""

    pieces: tuple[Piece, ...]
    cut: bool = False
    """Whether it ends inside an object or a list."""


def strip_reasoning(text: str) -> str:
    """Remove reasoning: closed blocks, all before a stray end tag, all after a start tag that has no end."""
    parts, at = [], 0
    while (start := _OPEN.search(text, at)) is not None:
        parts.append(text[at : start.start()])
        end = _END.search(text, start.end())
        if end is None:
            at = len(text)
            break
        at = end.end()
    parts.append(text[at:])
    rest = "".join(parts)
    return _END.split(rest)[-1].strip()


def is_blank(text: str) -> bool:
    """Say whether nothing is left once reasoning and code fences are taken away."""
    return not _FENCE.sub("", strip_reasoning(text)).strip()


def only(piece: Piece, text: str) -> bool:
    """Say whether the piece is the whole text, but for reasoning and code fences."""
    return _FENCE.sub("", strip_reasoning(text)).strip() == piece.text


def find(text: str) -> Found:
    """Find the outermost objects and lists, leaving out those in closed reasoning.

    Tags inside a JSON string are text. Of reasoning that never closed the pieces are kept and marked: the
    answer is often the last of them. A bracket that opens in earnest and never closes ends the search, lest a
    part of a truncated answer be taken for the whole.
    """
    pieces: list[Piece] = []
    thought, at, misses = False, 0, 0
    while misses < _FALSE_STARTS and (mark := _MARK.search(text, at)) is not None:
        at = mark.end()
        if mark["end"] is None:
            end = _close(text, mark.start())
            if end is not None:
                pieces.append(Piece(text[mark.start() : end], thought))
                at = end
            elif _IN_EARNEST.match(text, mark.start()):
                return Found(tuple(pieces), cut=True)
            else:
                misses += 1
        elif mark["end"] == "/":
            pieces.clear()  # the start tag was part of the prompt; all so far was reasoning
            thought = False
        elif not thought:
            closing = _END.search(text, at)
            thought = closing is None
            at = closing.end() if closing else at
    return Found(tuple(pieces))


def _close(text: str, start: int) -> int | None:
    """Return where the bracket at `start` closes, or None; an odd quote does not hide a final bracket."""
    stack: list[str] = []
    quoted = False
    for at, char in _structure(text, start):
        if char == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif char in _CLOSERS:
            stack.append(_CLOSERS[char])
        elif char == stack[-1]:
            stack.pop()
            if not stack:
                return at + 1
    body = text.rstrip("`~ \n\r\t")
    return len(body) if quoted and body.endswith(stack[0]) else None


_STRUCTURE = re.compile(r'\\.|["{}\[\]]', re.DOTALL)


def _structure(text: str, start: int) -> Iterator[tuple[int, str]]:
    for match in _STRUCTURE.finditer(text, start):
        if not match[0].startswith("\\"):
            yield match.start(), match[0]


def strict(text: str) -> Any:
    """Read JSON as it stands (raw line breaks in strings are let through).

    Raises:
        ValueError: it is not JSON.
    """
    try:
        return _sound(json.loads(text, strict=False))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def repaired(piece: Piece) -> Any:
    """Read JSON with trailing commas, wrong or missing quotes, and the like.

    Raises:
        ValueError: it cannot be read as the object or list it begins like.
    """
    import json_repair

    try:
        value = _sound(json_repair.loads(piece.text, skip_json_loads=True))
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(value, dict if piece.is_object else list) or not value:
        raise ValueError("nothing to be read")
    return value


def _sound(value: Any) -> Any:
    """Join surrogate pairs and replace lone surrogates, which no database or file can hold."""
    if isinstance(value, str):
        if _SURROGATE.search(value) is None:
            return value
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_sound(item) for item in value]
    if isinstance(value, dict):
        return {_sound(key): _sound(item) for key, item in value.items()}
    return value


def repeats(text: str) -> bool:
    """Say whether a text ends in the same words over and over; numbers that count up do not hide it."""
    tail = re.sub(r"\d+", "0", text.rstrip())[-2400:]
    for period in range(1, 201):
        length = max(8 * period, 160)
        if len(tail) < length:
            continue
        end = tail[-length:]
        if end[period:] == end[:-period]:
            return True
    return False
