"""Reading a vault that amem exported: its pages are notes again, with all that stands on them, but for the history."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import ValidationError

from amem.exporting import vault as written
from amem.exporting.markdown import INCOMING, quoted, tag_of, unescaped, unquoted
from amem.filters import first_problem
from amem.ids import is_id
from amem.importing.foreign import ForeignLink, Found, NotTaken, Reader, moment, refuse, texts
from amem.importing.pages import Page, as_json, pages
from amem.model import DEFAULT_BOX, MadeBy, Note

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

SYSTEM = "amem-vault"
INDEX = "index.md"
CIRCLE = "it goes round in a circle"
_LONGEST_ID = 36
_SECTION = "## "
_LINE = re.compile(r"^[-*+] (?:(?P<relation>.+?) )?\[\[(?P<name>[^\[\]]+)\]\](?:: (?P<reason>.*))?$")
_LABEL = re.compile(r"^[\w.-]+@[\w.-]+\+[0-9a-f]+$")
_PAGE_ONLY = {"content", "context", "tags", "made_by", "version", "box"}
_FIELDS = Note.model_fields.keys() - _PAGE_ONLY
_PINNABLE = ("keywords", "tags", "context")


class _Text(NamedTuple):
    """The text of a page, in its parts."""

    said: str
    context: str
    sections: dict[str, list[str]]


def is_vault(folder: Path) -> bool:
    """Whether a folder is a vault that amem exported."""
    try:
        with (folder / INDEX).open(encoding="utf-8") as file:
            return [file.readline(), file.readline().partition(":")[0]] == ["---\n", written.NAME]
    except (OSError, UnicodeDecodeError):
        return False


def read(folder: Path) -> Found:
    """Read the pages of a vault.

    Raises:
        InputError: it is no folder, or no vault that amem exported, or a newer one did.
    """
    reader = Reader(SYSTEM)
    found = pages(folder, reader, Page)
    marks = [page.front[written.NAME] for page in found if page.stem == "index" and written.NAME in page.front]
    if not marks:
        raise refuse(folder, f"it is no vault that amem exported: there is no {INDEX} that says so")
    if marks[0] != written.VERSION:
        raise refuse(folder, f"another amem wrote it (format {marks[0]}; this one knows {written.VERSION})")
    notes = {page.key: page for page in found if written.NAME not in page.front}
    names = {page.stem.casefold(): key for key, page in notes.items()}
    ids = {str(page.front.get("id")): key for key, page in reversed(notes.items())}
    for page in notes.values():
        _take(reader, page, names, ids)
    return _without_circles(reader.found())


def _without_circles(found: Found) -> Found:
    """Leave out what took a note's place where that leads back to the note: then nothing would stand."""
    after = {item.key: item.replaced_by for item in found.items}
    round_about = {key for key in after if _leads_back(key, after)}
    return Found(
        items=tuple(i.model_copy(update={"replaced_by": None}) if i.key in round_about else i for i in found.items),
        skipped=(*found.skipped, *(NotTaken(what=f"what took the place of {key}", why=CIRCLE) for key in round_about)),
    )


def _leads_back(key: str, after: Mapping[str, str | None]) -> bool:
    passed: set[str] = set()
    at = after[key]
    while at is not None and at not in passed:
        passed.add(at)
        at = after.get(at)
    return key in passed


def _take(reader: Reader, page: Page, names: Mapping[str, str], ids: Mapping[str, str]) -> None:
    note_id = page.front.get("id")
    problem = page.problem or _no_id(note_id) or (None if ids[str(note_id)] == page.key else "another page has its id")
    if problem is not None:
        reader.skip(page.key, problem)
        return
    text = _text(page.body)
    try:
        note = _note(page, text)
    except ValueError as error:  # pydantic's are
        reader.skip(page.key, first_problem(error) if isinstance(error, ValidationError) else str(error))
        return
    for title in text.sections.keys() - {written.SOURCES, written.REPLACED, written.LINKS, written.HISTORY}:
        reader.skip(f"the section {title!r} of {page.key}", "a note has no place for it")
    fields = {"content": note.content, "source": as_json(page.front.get("source"))}
    links = tuple(_links(text.sections.get(written.LINKS, []), names))
    successor = note.superseded_by and ids.get(note.superseded_by)
    if note.superseded_by is not None and successor is None:
        reader.skip(f"what took the place of {page.key}", "that is not there")
    reader.take(page.key, fields, whole=note, links=links, replaced_by=successor)


def _no_id(note_id: object) -> str | None:
    if note_id is None:
        return "amem did not write this page; a folder of your own pages can be imported as basic-memory"
    return None if is_id(note_id) and 0 < len(str(note_id)) <= _LONGEST_ID else f"{note_id!r} is no id of a note"


def _text(body: str) -> _Text:
    lines = [line.removesuffix("\r") for line in body.split("\n")]
    start = next((at for at, line in enumerate(lines) if line.strip()), len(lines))
    end = start
    while end < len(lines) and lines[end].startswith(">"):
        end += 1
    context: list[str] = []
    sections: dict[str, list[str]] = {}
    current = context
    for line in lines[end:]:
        if line.startswith(_SECTION):
            current = sections.setdefault(line[len(_SECTION) :].strip(), [])
        elif line.strip():
            current.append(line.strip())
    return _Text(unquoted(lines[start:end]), unescaped(" ".join(context)), sections)


def _note(page: Page, text: _Text) -> Note:
    """Return what a page says of its note; the id may be taken where it comes in.

    Raises:
        ValueError: it says something that no note can be.
    """
    front = {name: as_json(page.front[name]) for name in _FIELDS & page.front.keys()}
    shown = {"content": text.said, "context": text.context, "tags": list(texts(as_json(page.front.get("tags"))))}
    at = moment(page.changed_at)
    values: dict[str, Any] = {"occurred_at": at, "created_at": at, **front, **_exact(page.front, shown)}
    note = Note.model_validate({**values, "made_by": _maker(page.front.get("made_by")), "box": DEFAULT_BOX})
    if not note.content.strip():
        raise ValueError("it has no text")
    if note.about is not None and note.about.text != note.content:
        raise ValueError(f"its text and the parts of the {note.about.kind} do not say the same")
    waits = note.pending_reason or ("raw" if note.status == "pending" else None)
    state = {"pending_reason": None, "error": None} if note.status == "ready" else {"pending_reason": waits}
    return note.model_copy(update={**state, "pinned": tuple(name for name in note.pinned if name in _PINNABLE)})


def _exact(front: Mapping[str, Any], shown: Mapping[str, Any]) -> dict[str, Any]:
    """Return values letter by letter, where these are what the page shows; what somebody edited since counts."""
    exact = front.get(written.EXACT)
    exact = exact if isinstance(exact, dict) else {}
    values = dict(shown)
    for name, as_shown in (
        ("content", lambda text: unquoted(quoted(text).split("\n"))),
        ("context", lambda text: " ".join(text.split())),
        ("tags", lambda tags: [tag_of(tag) for tag in tags]),
    ):
        value = _letters(exact.get(name))
        if isinstance(value, type(shown[name])) and as_shown(value) == shown[name]:
            values[name] = value
    return values


def _letters(value: Any) -> Any:
    """Return a text that was written letter by letter, or several; None where it is none."""
    if isinstance(value, list):
        found = [_letters(item) for item in value]
        return found if all(isinstance(item, str) for item in found) else None
    try:
        text = json.loads(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return text if isinstance(text, str) else None


def _maker(value: Any) -> MadeBy | None:
    model, _, prompt = str(value or "").rpartition(", ")
    return MadeBy(model=model, prompt=prompt) if model and _LABEL.match(prompt) else None


def _links(lines: list[str], names: Mapping[str, str]) -> Iterator[ForeignLink]:
    """Yield the links that a page makes; those that lead to it stand on the other pages as well."""
    for line in lines:
        found = _LINE.match(line)
        if found is None:
            continue
        relation = found["relation"] or "linked"
        if f"{relation} ".startswith(f"{INCOMING} "):
            continue
        target = found["name"].partition("|")[0].partition("#")[0].strip().rpartition("/")[2]
        key = names.get(target.casefold().removesuffix(".md"), target)
        yield ForeignLink(target=key, relation=unescaped(relation), reason=unescaped(found["reason"] or ""))
