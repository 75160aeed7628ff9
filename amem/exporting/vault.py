"""An export to read: a folder of Markdown pages, one for each note, that opens as an Obsidian vault.

It comes back without its history: the lines of `jsonl` have all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml

from amem.errors import InputError
from amem.exporting.jsonl import Exported, expect_outside
from amem.exporting.markdown import INCOMING, letters, plain, quoted, relation, tag_of, unquoted
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
NAME = "amem-vault"
VERSION = 1
EXACT = "exact"
"""Stands in the front matter where a page cannot show a value as it is: there it is, letter by letter."""
SOURCES, LINKS, HISTORY, REPLACED = "Sources", "Links", "History", "Replaced by"


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
        self.keys: dict[str, str | None] = {}
        self.links: list[Link] = []
        self.history: dict[str, list[RevisionLine]] = {}
        for line in lines:
            if isinstance(line, NoteLine):
                self.notes[line.note.id] = line.note
                self.keys[line.note.id] = line.source_key
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
        """Return the first page: what the folder is, and all notes, by day."""
        ordered = sorted(self.notes.values(), key=lambda note: (note.occurred_at, note.position or 0, note.id))
        entries = [f"- {self._to(note.id)}{_who(note)}" for note in ordered]
        front = _yaml({NAME: VERSION, "box": box})
        return "\n".join([f"---\n{front}---\n", f"# {plain(box)}", "", *entries, ""])

    def page(self, note_id: str) -> str:
        """Return the page of a note: front matter, what was said, what it is known for, links, and its history."""
        note = self.notes[note_id]
        parts = [
            f"---\n{_yaml(_front(note, self.keys[note_id]))}---\n",
            f"{quoted(note.content)}\n",
            *([f"{plain(note.context)}\n"] if note.context else []),
            *self._section(SOURCES, [f"- {self._to(source)}" for source in note.sources if source in self.notes]),
            *self._section(REPLACED, [f"- {self._to(i)}" for i in [note.superseded_by] if i in self.notes]),
            *self._section(LINKS, [self._link(link, note_id) for link in self._touching.get(note_id, ())]),
            *self._section(HISTORY, [self._change(line) for line in self.history.get(note_id, ())]),
        ]
        return "\n".join(parts)

    def _section(self, title: str, lines: Sequence[str]) -> list[str]:
        return [f"## {title}\n", *lines, ""] if lines else []

    def _to(self, note_id: str | None) -> str:
        return f"[[{self.names[note_id or '']}]]"

    def _link(self, link: Link, note_id: str) -> str:
        arrow = "" if link.source == note_id else f"{INCOMING} "
        why = f": {plain(link.reason)}" if link.reason else ""
        return f"- {arrow}{relation(link.relation)} {self._to(link.other(note_id))}{why}"

    def _change(self, line: RevisionLine) -> str:
        because = [self._to(note_id) for note_id in line.cause.notes if note_id in self.names]
        undone = ", undone since" if line.undone else ""
        agent = f", {plain(line.cause.agent_id)}" if line.cause.agent_id else ""
        what = f"{line.created_at:%Y-%m-%d %H:%M} {line.field} ({line.cause.kind}{agent}{undone})"
        why = f", because of {', '.join(because)}" if because else ""
        return f"- {what}{why}: {_value(line.before)} → {_value(line.after)}"


def _front(note: Note, source: str | None) -> dict[str, JsonValue]:
    """Return what stands in the front matter: everything of a note but its text, which is there where a page lies."""
    values = note.model_dump(mode="json", exclude={"content", "context", "made_by", "version"}, exclude_defaults=True)
    if note.made_by is not None:
        values["made_by"] = f"{note.made_by.model}, {note.made_by.prompt}"
    if note.about is not None:
        values["about"] = note.about.model_dump(mode="json")
    values["tags"] = [tag_of(tag) for tag in note.tags]
    values["source"] = source
    values[EXACT] = _exact(note)
    return {name: value for name, value in values.items() if value not in ([], {}, None)}


def _exact(note: Note) -> dict[str, JsonValue]:
    """Return what a page cannot show as it is: control characters, ends of lines, tags of several words."""
    shown = {
        "content": unquoted(quoted(note.content).split("\n")),
        "context": " ".join(note.context.split()),
        "tags": [tag_of(tag) for tag in note.tags],
    }
    values = note.model_dump(mode="json", include=set(shown))
    differ = {name: values[name] for name, value in shown.items() if value != values[name]}
    return {name: [*map(letters, v)] if isinstance(v, list) else letters(v) for name, v in differ.items()}


class _OnOneLine(yaml.SafeDumper):  # type: ignore[misc] # PyYAML has no types
    """Writes no text over several lines: one of them could end the front matter."""

    def represent_str(self, data: str) -> yaml.Node:
        """Return a text, escaped where it has several lines."""
        style = '"' if len(data.splitlines()) > 1 or data != data.strip() else None
        return self.represent_scalar("tag:yaml.org,2002:str", data, style=style)


_OnOneLine.add_representer(str, _OnOneLine.represent_str)


def _yaml(values: Mapping[str, JsonValue]) -> str:
    return str(yaml.dump(dict(values), Dumper=_OnOneLine, allow_unicode=True, sort_keys=False, width=2**20))


def _who(note: Note) -> str:
    return f" ({plain(note.speaker)})" if note.speaker else ""


def _value(value: JsonValue) -> str:
    if value in (None, "", []):
        return "nothing"
    if isinstance(value, dict) and "relation" in value:
        return plain(f"{value['relation']}: {value.get('reason')}")
    if isinstance(value, list):
        return plain(", ".join(map(str, value)))
    return plain(value if isinstance(value, str) else canonical_json(value))
