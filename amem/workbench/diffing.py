"""Differences between two texts: as a unified diff for terminals, and as rows side by side for pages."""

from __future__ import annotations

import difflib
import json
import re
from typing import TYPE_CHECKING, Literal

from amem.values import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pydantic import JsonValue

    from amem.llm.protocol import Request

_WORD = re.compile(r"\s+|\w+|[^\w\s]")
_MOST_PAIRS = 4_000_000
"""Of words in two lines, above which their difference is not looked for word by word: it would take seconds."""


class Piece(Frozen):
    """A stretch of one line."""

    text: str
    changed: bool = False


class Row(Frozen):
    """A line of the old text beside its line of the new one; None where there is none."""

    kind: Literal["same", "changed", "removed", "added", "gap"]
    old: tuple[Piece, ...] | None = None
    new: tuple[Piece, ...] | None = None
    hidden: int = 0
    """Lines that a gap stands for."""


def messages_text(request: Request) -> str:
    """Return all messages as one text, each under its role."""
    return "\n".join(f"[{message.role}]\n{message.content}" for message in request.messages)


def value_text(value: JsonValue) -> str:
    """Return a reply as text whose lines can be compared."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)


def unified(old: str, new: str, names: tuple[str, str], context: int = 3) -> list[str]:
    """Return the lines of a unified diff; none where the texts are equal."""
    return list(difflib.unified_diff(_lines(old), _lines(new), *names, lineterm="", n=context))


def side_by_side(old: str, new: str, context: int | None = 3) -> list[Row]:
    """Return rows of both texts; equal lines further than `context` from a difference are folded to a gap."""
    rows: list[Row] = []
    old_lines, new_lines = _lines(old), _lines(new)
    matcher = difflib.SequenceMatcher(None, old_lines, new_lines, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            rows += [Row(kind="same", old=_plain(line), new=_plain(line)) for line in old_lines[a:b]]
        else:
            rows += _changed(old_lines[a:b], new_lines[c:d])
    return rows if context is None else list(_folded(rows, context))


def _lines(text: str) -> list[str]:
    """Split at line feeds alone: other separators are part of a text, as in recordings."""
    return text.split("\n") if text else []


def _plain(line: str) -> tuple[Piece, ...]:
    return (Piece(text=line),)


def _changed(old: Sequence[str], new: Sequence[str]) -> Iterator[Row]:
    both = min(len(old), len(new))
    for one, two in zip(old[:both], new[:both], strict=True):
        left, right = _words(one, two)
        yield Row(kind="changed", old=left, new=right)
    yield from (Row(kind="removed", old=_plain(line)) for line in old[both:])
    yield from (Row(kind="added", new=_plain(line)) for line in new[both:])


def _words(old: str, new: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Mark the words in which two lines differ."""
    a, b = _WORD.findall(old), _WORD.findall(new)
    if len(a) * len(b) > _MOST_PAIRS:
        return _plain(old), _plain(new)
    left: list[Piece] = []
    right: list[Piece] = []
    for tag, i, j, k, m in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        changed = tag != "equal"
        if j > i:
            left.append(Piece(text="".join(a[i:j]), changed=changed))
        if m > k:
            right.append(Piece(text="".join(b[k:m]), changed=changed))
    return tuple(left), tuple(right)


def _folded(rows: Sequence[Row], context: int) -> Iterator[Row]:
    """Replace equal rows that are further than `context` from a difference."""
    near = {i + off for i, row in enumerate(rows) if row.kind != "same" for off in range(-context, context + 1)}
    hidden = 0
    for i, row in enumerate(rows):
        if i not in near:
            hidden += 1
            continue
        if hidden:
            yield Row(kind="gap", hidden=hidden)
            hidden = 0
        yield row
    if hidden:
        yield Row(kind="gap", hidden=hidden)
