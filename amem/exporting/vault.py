"""An export to read: a folder of Markdown pages, one for each note, that opens as an Obsidian vault.

It does not come back as it was: the lines of `jsonl` do.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import yaml

from amem.errors import InputError
from amem.exporting.jsonl import Exported, expect_outside
from amem.exporting.names import names
from amem.store import dump
from amem.store.lines import LinkLine, NoteLine, RevisionLine
from amem.values import canonical_json

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from pydantic import JsonValue

    from amem.filters import Filter
    from amem.model import Link, Note
    from amem.rooms import Rooms
    from amem.store.lines import Line

NOTES = "notes"
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_ESCAPED = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]<>#|!"})
"""What Markdown, or Obsidian, could take for something else within a line of our own."""


def export(rooms: Rooms, box: str, folder: Path, given: Filter | None) -> Exported:
    """Write the notes of a box, or those that a filter lets through with all that came of them, as pages.

    Raises:
        InputError: the folder has something in it, is in the memory's own directory, or cannot be written.
    """
    expect_outside(rooms, folder)
    only = None if given is None else rooms.ledger.matching_ids(box, given)
    with rooms.ledger.database.reading() as connection:
        only = None if only is None else dump.closure(connection, box, only)
        pages = _Pages(dump.Dump(connection, box, only, vectors=False).lines())
    try:
        _write(folder, box, pages)
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {error.strerror or error}") from error
    return Exported(
        path=str(folder),
        notes=len(pages.notes),
        links=len(pages.links),
        revisions=sum(map(len, pages.history.values())),
        files=len(pages.notes) + 1,
    )


def _write(folder: Path, box: str, pages: _Pages) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} is there already, and not an empty folder. Nothing was written.")
    inner = folder / NOTES
    inner.mkdir(parents=True, exist_ok=True)
    for note_id in pages.notes:
        (inner / f"{pages.names[note_id]}.md").write_text(pages.page(note_id), encoding="utf-8", newline="\n")
    (folder / "index.md").write_text(pages.index(box), encoding="utf-8", newline="\n")


class _Pages:
    """The pages of some notes, with what each says of the others."""

    def __init__(self, lines: Iterator[Line]) -> None:
        self.notes: dict[str, Note] = {}
        self.links: list[Link] = []
        self.history: dict[str, list[RevisionLine]] = {}
        for line in lines:
            if isinstance(line, NoteLine):
                self.notes[line.note.id] = line.note
            elif isinstance(line, LinkLine):
                self.links.append(line.link)
            elif isinstance(line, RevisionLine):
                self.history.setdefault(line.note_id, []).append(line)
        self.names = names(self.notes.values())
        self._touching: dict[str, list[Link]] = {}
        for link in self.links:
            for end in (link.source, link.target):
                self._touching.setdefault(end, []).append(link)

    def index(self, box: str) -> str:
        """Return the first page: all notes, by day."""
        ordered = sorted(self.notes.values(), key=lambda note: (note.occurred_at, note.position or 0, note.id))
        entries = [f"- {self._to(note.id)}{_who(note)}" for note in ordered]
        return "\n".join([f"# {_plain(box)}", "", *entries, ""])

    def page(self, note_id: str) -> str:
        """Return the page of a note: front matter, what was said, what it is known for, links, and its history."""
        note = self.notes[note_id]
        parts = [
            f"---\n{_yaml(_front(note))}---\n",
            f"{_quoted(note.content)}\n",
            *([f"{_plain(note.context)}\n"] if note.context else []),
            *self._section("Sources", [f"- {self._to(source)}" for source in note.sources if source in self.notes]),
            *self._section("Replaced by", [f"- {self._to(i)}" for i in [note.superseded_by] if i in self.notes]),
            *self._section("Links", [self._link(link, note_id) for link in self._touching.get(note_id, ())]),
            *self._section("History", [self._change(line) for line in self.history.get(note_id, ())]),
        ]
        return "\n".join(parts)

    def _section(self, title: str, lines: Sequence[str]) -> list[str]:
        return [f"## {title}\n", *lines, ""] if lines else []

    def _to(self, note_id: str | None) -> str:
        return f"[[{self.names[note_id or '']}]]"

    def _link(self, link: Link, note_id: str) -> str:
        arrow = "" if link.source == note_id else "← "
        why = f": {_plain(link.reason)}" if link.reason else ""
        return f"- {arrow}{_plain(link.relation) or 'linked'} {self._to(link.other(note_id))}{why}"

    def _change(self, line: RevisionLine) -> str:
        because = [self._to(note_id) for note_id in line.cause.notes if note_id in self.names]
        undone = ", undone since" if line.undone else ""
        agent = f", {_plain(line.cause.agent_id)}" if line.cause.agent_id else ""
        what = f"{line.created_at:%Y-%m-%d %H:%M} {line.field} ({line.cause.kind}{agent}{undone})"
        why = f", because of {', '.join(because)}" if because else ""
        return f"- {what}{why}: {_value(line.before)} → {_value(line.after)}"


def _front(note: Note) -> dict[str, JsonValue]:
    """Return what stands in the front matter: everything of a note but its text."""
    values = note.model_dump(mode="json", exclude={"content", "context", "made_by", "version"}, exclude_defaults=True)
    if note.made_by is not None:
        values["made_by"] = f"{note.made_by.model}, {note.made_by.prompt}"
    values["tags"] = [_tag(tag) for tag in note.tags]
    return {name: value for name, value in values.items() if value not in ([], {}, None)}


def _tag(tag: str) -> str:
    """Return a tag as Obsidian takes it: without spaces, and not a number alone."""
    joined = "".join(sign if sign.isalnum() or sign in "-_/" else "-" for sign in tag.strip())
    return f"_{joined}" if not joined or joined.isdecimal() else joined


def _yaml(values: Mapping[str, JsonValue]) -> str:
    return str(yaml.safe_dump(dict(values), allow_unicode=True, sort_keys=False, width=2**20))


def _quoted(text: str) -> str:
    """Return a text as a quotation in which nothing is a link, a heading, or the end of it."""
    lines = _CONTROL.sub("\ufffd", text).replace("\r\n", "\n").split("\n")
    return "\n".join(f"> {line.translate(_ESCAPED)}".rstrip() for line in lines)


def _plain(text: str) -> str:
    """Return a text as part of a line: on one line, and nothing but text."""
    return " ".join(text.split()).translate(_ESCAPED)


def _who(note: Note) -> str:
    return f" ({_plain(note.speaker)})" if note.speaker else ""


def _value(value: JsonValue) -> str:
    if value in (None, "", []):
        return "nothing"
    if isinstance(value, dict) and "relation" in value:
        return _plain(f"{value['relation']}: {value.get('reason')}")
    if isinstance(value, list):
        return _plain(", ".join(map(str, value)))
    return _plain(value if isinstance(value, str) else canonical_json(value))
