"""Whether the lines of an export fit together: nothing may speak of what is not there, nor twice of the same."""

from __future__ import annotations

import base64
import binascii
from typing import TYPE_CHECKING

from pydantic import ValidationError

from amem.ids import is_id
from amem.model import Link
from amem.store.held import spoken_of
from amem.store.plan import HISTORIC, LINK_FIELD

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator

    from amem.store.lines import NoteLine, RevisionLine
    from amem.store.load import Load

_LONGEST_ID = 36


def problem(found: Load) -> str | None:
    """Return the first thing that does not fit, or None."""
    return next(_problems(found), None)


def _problems(found: Load) -> Iterator[str]:
    there = {line.note.id for line in found.notes}
    yield from _of_notes(found.notes, there)
    yield from _of_numbers(found)
    yield from _of_links(found, there)
    yield from _of_revisions(found, there)
    for line in found.calls:
        yield from _unknown((note_id for note_id, _ in line.shown), there, f"call {line.id}")
        yield from _twice((note_id for note_id, _ in line.shown), f"a note shown to call {line.id}")
    yield from _unknown((line.note_id for line in found.accesses), there, "an access")
    yield from _twice((line.note_id for line in found.accesses), "the accesses of note")
    for held in found.held:
        yield from _unknown(spoken_of(held.plan), there, "a held plan")


def _of_notes(lines: list[NoteLine], there: set[str]) -> Iterator[str]:
    yield from _twice((line.note.id for line in lines), "note")
    yield from _twice((line.source_key for line in lines if line.source_key is not None), "source")
    placed = [line.note for line in lines if line.note.session_id is not None and line.note.position is not None]
    yield from _twice(((note.session_id, note.position) for note in placed), "place")
    for line in lines:
        note = line.note
        if not is_id(note.id) or not 0 < len(note.id) <= _LONGEST_ID:
            yield f"{note.id!r} is no id of a note"
        if line.source_key is not None and line.source_key not in note.sources:
            yield f"note {note.id} does not have its source {line.source_key!r} among its sources"
        if note.superseded_by is not None:
            yield from _unknown([note.superseded_by], there, f"note {note.id}")
        if line.vector is not None and not _is_base64(line.vector):
            yield f"the vector of note {note.id} is not base64"


def _of_numbers(found: Load) -> Iterator[str]:
    for what, lines in (("call", found.calls), ("link", found.links), ("revision", found.revisions)):
        yield from _twice((line.id for line in lines), what)
    calls = {line.id for line in found.calls}
    for what, call in (
        *((f"note {line.note.id}", line.call) for line in found.notes),
        *((f"link {line.id}", line.call) for line in found.links),
        *((f"revision {line.id}", line.call) for line in found.revisions),
    ):
        if call is not None and call not in calls:
            yield f"{what} speaks of call {call}, which is not there"


def _of_links(found: Load, there: set[str]) -> Iterator[str]:
    yield from _twice((frozenset((line.link.source, line.link.target)) for line in found.links), "link between")
    for line in found.links:
        yield from _unknown((line.link.source, line.link.target), there, f"link {line.id}")
        if line.link.source == line.link.target:
            yield f"link {line.id} links a note to itself"


def _of_revisions(found: Load, there: set[str]) -> Iterator[str]:
    before: dict[int, RevisionLine] = {}
    for line in found.revisions:
        yield from _unknown((line.note_id, *line.cause.notes), there, f"revision {line.id}")
        if line.field == LINK_FIELD:
            yield from _of_link_revision(line, there)
        elif line.field not in HISTORIC:
            yield f"revision {line.id} is of {line.field!r}, which has no history"
        undone = None if line.cause.undoes is None else before.get(line.cause.undoes)
        if line.cause.undoes is not None and (undone is None or undone.field != line.field):
            yield f"revision {line.id} undoes revision {line.cause.undoes}, which is none before it of the same field"
        if before and line.id < max(before):
            yield f"revision {line.id} is out of order"
        before[line.id] = line


def _of_link_revision(line: RevisionLine, there: set[str]) -> Iterator[str]:
    if (line.before is None) == (line.after is None):
        yield f"revision {line.id} is neither the coming nor the going of a link"
        return
    try:
        link = Link.model_validate(line.after or line.before)
    except ValidationError as error:
        yield f"revision {line.id} holds no link: {error.errors(include_url=False)[0]['msg']}"
        return
    if link.id is None or link.id < 1:
        yield f"revision {line.id} holds a link without a number"
    yield from _unknown((link.source, link.target), there, f"revision {line.id}")


def _unknown(ids: Iterable[str], there: set[str], who: str) -> Iterator[str]:
    yield from (f"{who} speaks of note {note_id!r}, which is not there" for note_id in ids if note_id not in there)


def _twice(values: Iterable[Hashable], what: str) -> Iterator[str]:
    seen: set[Hashable] = set()
    for value in values:
        if value in seen:
            yield f"{what} {_shown(value)} is there twice"
        seen.add(value)


def _shown(value: Hashable) -> str:
    return " and ".join(sorted(map(str, value))) if isinstance(value, frozenset) else str(value)


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except binascii.Error:
        return False
    return True
