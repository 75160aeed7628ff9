"""Reading a vault of basic-memory: Markdown files with front matter, observations and relations.

A file is a note, byte for byte but for its front matter. Its observations are kept in the metadata as well, its
relations become links.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from amem.importing.foreign import ForeignLink, Reader, moment, texts
from amem.importing.pages import Page, as_json, pages

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from amem.importing.foreign import Found

SYSTEM = "basic-memory"
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_MARKS = ("- ", "* ", "+ ")
_LINK = re.compile(r"\[\[([^\[\]]+)\]\]")
_OBSERVATION = re.compile(r"^\[(?P<category>[^\[\]()]{2,}|[\w])\]\s+(?P<text>\S.*)$")
_DONE = frozenset("xX")
_TAG = re.compile(r"(?<!\S)#([\w/-]+)")
_TIME = re.compile(r"^[\d:.,\s-]+$")
_DATES = ("created", "created_at", "date")
INLINE = "links_to"
"""The relation of a link that stands in running text, as basic-memory calls it."""


def read(folder: Path) -> Found:
    """Read all Markdown files of a folder, and of those in it; hidden ones are left out.

    Raises:
        InputError: it is no folder, or holds no Markdown file.
    """
    reader = Reader(SYSTEM)
    found = pages(folder, reader, _Page)
    known = _known(found)
    for page in found:
        page.take(reader, known)
    return reader.found()


class _Page(Page):
    """One file of such a vault."""

    @property
    def names(self) -> tuple[str, ...]:
        """All that it is called; an earlier name counts for more than a later one of another page."""
        link = self.front.get("permalink")
        return self.key[:-3], link if isinstance(link, str) else self.title, self.title, self.stem

    @property
    def title(self) -> str:
        """What relations call it."""
        title = self.front.get("title")
        return title.strip() if isinstance(title, str) and title.strip() else self.stem

    def take(self, reader: Reader, known: Mapping[str, str]) -> None:
        """Hand the page over, with what it says of others."""
        if self.problem is not None:
            reader.skip(self.key, self.problem)
            return
        items = list(_items(self.body))
        observations = [found for item in items if (found := _observation(item)) is not None]
        tags = [*_front_tags(self.front), *(tag for found in observations for tag in found["tags"])]
        when = next((at for name in _DATES if (at := moment(as_json(self.front.get(name)))) is not None), None)
        about = {**{str(name): as_json(value) for name, value in self.front.items()}, "title": self.title}
        if observations:
            about["observations"] = observations
        fields = {
            "content": self.body,
            "occurred_at": when or moment(self.changed_at),
            "metadata": {SYSTEM: about},
        }
        reader.take(self.key, fields, tags=tuple(dict.fromkeys(tags)), links=tuple(_links(self.body, items, known)))


def _known(found: list[_Page]) -> dict[str, str]:
    """Return the key of each page by all that it is called; the first page of a name has it."""
    known: dict[str, str] = {}
    for names in zip(*(page.names for page in found), strict=True):
        for page, name in zip(found, names, strict=True):
            known.setdefault(_called(name), page.key)
    return known


def _called(name: str) -> str:
    """Return a name as it is looked up: without what is shown for it or a heading within it, whatever the case."""
    bare = name.partition("|")[0].partition("#")[0]
    return " ".join(bare.split()).casefold().removesuffix(".md")


def _items(body: str) -> Iterator[str]:
    """Yield the items of lists, but for those in code."""
    fence = ""
    for line in body.splitlines():
        mark = _FENCE.match(line)
        if mark is not None:
            fence = mark[1][0] if not fence else "" if mark[1][0] == fence else fence
        elif not fence and line.lstrip().startswith(_MARKS):
            yield line.strip()[1:].strip()


def _observation(item: str) -> dict[str, Any] | None:
    found = _OBSERVATION.match(item)
    if found is None or found["category"] in _DONE or _TIME.match(found["category"]):
        return None
    text, why = found["text"], ""
    if text.endswith(")") and "(" in text:
        text, _, why = text[:-1].rpartition("(")
    return {
        "category": found["category"].strip(),
        "text": text.strip(),
        "context": why.strip(),
        "tags": _TAG.findall(text),
    }


def _links(body: str, items: list[str], known: Mapping[str, str]) -> Iterator[ForeignLink]:
    explicit: set[str] = set()
    for item in items:
        found = _relation(item)
        if found is not None:
            explicit.add(found[1])
            yield _link(found[1], known, found[0], found[2])
    for target in dict.fromkeys(_LINK.findall(body)):
        if target not in explicit:
            yield _link(target, known, INLINE, "")


def _relation(item: str) -> tuple[str, str, str] | None:
    """Return kind, target and reason of an item such as `part_of [[That]] (why)`; a kind of several words is quoted."""
    kind, _, rest = item.partition("[[")
    target, closed, tail = rest.partition("]]")
    kind, tail = kind.strip(), tail.strip()
    if len(kind) > 2 and kind[0] in "\"'" and kind[-1] == kind[0]:
        kind = kind[1:-1]
    elif len(kind.split()) != 1:
        return None
    why = tail[1:-1] if tail.startswith("(") and tail.endswith(")") else tail
    return (kind, target, why) if closed and target.strip() and (not tail or why != tail) else None


def _link(target: str, known: Mapping[str, str], relation: str, why: str) -> ForeignLink:
    return ForeignLink(target=known.get(_called(target), target), relation=relation.strip(), reason=why.strip())


def _front_tags(front: Mapping[str, Any]) -> tuple[str, ...]:
    tags = front.get("tags")
    return texts(tags.split(",") if isinstance(tags, str) else tags)
