"""Readings: what one reply proposes, and signals of its quality that need no second model.

Replies are read by the names of their keys, not by their type, so that a version whose reply has another model can be
compared with one before it.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from pydantic import JsonValue

from amem.ingest.language import keeps_script
from amem.values import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

NEW = "new note"
"""What the one new note of `link` and `evolve` is called; it has no number."""

_SHOWN_IN = {
    "turn": ("turns",),
    "neighbour": ("neighbours",),
    "source": ("notes",),
    "targets": ("neighbours", "notes"),
    "target": ("neighbours", "notes"),
    "because": ("notes",),
    "order": ("notes",),
    "open": ("tags",),
    "memories": ("context",),
}
"""The variables that show the numbers which each key of a reply may name."""
_PROSE = frozenset(("context", "reason", "relation", "questions", "text", "newer", "then", "answer"))
"""Keys whose text is to be in the language of its source."""
_WORDS = ("keywords", "tags")

_LINE = re.compile(r"^\[(\d+)\] ", re.MULTILINE)
"""How a line of a context begins."""

Item = dict[str, JsonValue]


class Reading(Frozen):
    """What one reply proposes."""

    fields: dict[str, str] = {}
    """Every value as text, under a name that does not hang on the order of the list it stands in."""
    keywords: dict[str, tuple[str, ...]] = {}
    """Case-folded, by the item they are given to."""
    tags: dict[str, tuple[str, ...]] = {}
    links: tuple[str, ...] = ()
    evolutions: tuple[str, ...] = ()
    """The older notes that are changed."""
    invented: tuple[str, ...] = ()
    """Numbers that the request never showed."""
    repeated: tuple[str, ...] = ()
    """Keywords and tags that stand twice in one list."""
    foreign: tuple[str, ...] = ()
    """Names of texts that are not in the script of their source."""
    texts: int = 0
    """Texts that have a source to compare them with."""
    length: int = 0
    """Characters of all values that are text."""


def read(value: JsonValue, variables: Mapping[str, JsonValue]) -> Reading:
    """Read a usable reply to a prompt that was rendered with `variables`."""
    items = list(_items(value))
    sources = _sources(variables)
    prose = [
        (f"{label} {key}", text, sources.get(about, ""))
        for label, about, item in items
        for key, text in _texts(item)
        if key in _PROSE
    ]
    judged = [(name, text, source) for name, text, source in prose if text and source]
    return Reading(
        fields=dict(_fields(items)),
        keywords=_words(items, "keywords"),
        tags=_words(items, "tags"),
        links=tuple(sorted({label for label, _, item in items for label in _links(item)})),
        evolutions=tuple(sorted({label for label, _, item in items if _changes(item)})),
        invented=tuple(_invented(items, variables)),
        repeated=tuple(_repeated(items)),
        foreign=tuple(name for name, text, source in judged if not keeps_script(source, text)),
        texts=len(judged),
        length=sum(len(text) for _, _, item in items for _, text in _texts(item)),
    )


def _items(value: JsonValue) -> Iterator[tuple[str, str, Item]]:
    """Yield the parts of a reply: a label, the note that the part tells of, and its values."""
    if not isinstance(value, dict):
        yield "reply", NEW, {"text": value}
        return
    seen: Counter[str] = Counter()
    own: Item = {}
    for name, part in value.items():
        if name in {"notes", "links", "changes"} and isinstance(part, list):
            for item in part:
                if isinstance(item, dict):
                    label, about = _label(name, item)
                    seen[label] += 1
                    yield (label if seen[label] == 1 else f"{label} ({seen[label]})"), about, item
        else:
            own[name] = part
    if own:
        yield NEW, NEW, own


def _label(kind: str, item: Item) -> tuple[str, str]:
    if kind == "notes":
        return f"turn {item.get('turn')}", str(item.get("turn"))
    if kind == "changes":
        return f"note {item.get('neighbour')}", str(item.get("neighbour"))
    about = str(item["source"]) if "source" in item else NEW
    if "target" in item:
        return f"link {about} → {item['target']}", about
    return f"link of {about}" if "source" in item else f"link to {item.get('neighbour')}", about


def _links(item: Item) -> Iterator[str]:
    if "relation" not in item:
        return
    if "targets" in item:
        for target in _numbers(item["targets"]):
            yield f"{item.get('source')} → {target}"
    else:
        yield f"new → {item.get('neighbour')}"


def _changes(item: Item) -> bool:
    return "neighbour" in item and "relation" not in item and any(item.get(k) for k in ("context", *_WORDS))


def _fields(items: Sequence[tuple[str, str, Item]]) -> Iterator[tuple[str, str]]:
    for label, _, item in items:
        for key, value in item.items():
            if key not in {"turn", "neighbour", "source", "target"}:  # they are the label
                yield f"{label} {key}", ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _words(items: Sequence[tuple[str, str, Item]], key: str) -> dict[str, tuple[str, ...]]:
    return {
        label: tuple(sorted({str(word).casefold() for word in words}))
        for label, _, item in items
        if isinstance(words := item.get(key), list)
    }


def _repeated(items: Sequence[tuple[str, str, Item]]) -> Iterator[str]:
    for label, _, item in items:
        for key in _WORDS:
            words = item.get(key)
            counts = Counter(str(word).casefold() for word in words) if isinstance(words, list) else Counter()
            yield from (f"{label} {key}: {word}" for word, count in counts.items() if count > 1)


def _invented(items: Sequence[tuple[str, str, Item]], variables: Mapping[str, JsonValue]) -> Iterator[str]:
    for label, _, item in items:
        for key, lists in _SHOWN_IN.items():
            known = {number for name in lists for number in _shown(variables.get(name))}
            for number in _numbers(item.get(key)):
                if number not in known:
                    yield f"{label} {key}: {number}"


def _numbers(value: JsonValue) -> list[int]:
    values = value if isinstance(value, list) else [value]
    return [number for number in values if isinstance(number, int) and not isinstance(number, bool)]


def _shown(items: JsonValue) -> Iterator[int]:
    if isinstance(items, str):
        yield from map(int, _LINE.findall(items))
        return
    for item in items if isinstance(items, list) else []:
        if isinstance(item, dict) and isinstance(number := item.get("number"), int):
            yield number


def _sources(variables: Mapping[str, JsonValue]) -> dict[str, str]:
    """Return the text behind each number, and of the one thing without a number that the request is about."""
    found: dict[str, str] = {}
    for value in variables.values():
        for item in value if isinstance(value, list) else []:
            if isinstance(item, dict) and "number" in item:
                found[str(item["number"])] = str(item.get("text") or "")
    note, question = variables.get("note"), variables.get("question")
    found[NEW] = str(note.get("text") or "") if isinstance(note, dict) else str(question or "")
    return found


def _texts(item: Item) -> Iterator[tuple[str, str]]:
    for key, value in item.items():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str):
                yield key, text
