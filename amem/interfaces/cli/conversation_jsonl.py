"""Conversations as JSON lines: one message a line, in the words of chat APIs or in amem's."""

from __future__ import annotations

import json
from typing import Any

from amem.errors import InputError
from amem.intake import NewNote
from amem.interfaces.cli.conversation_types import Bad, Conversation, Sources

ALIASES = {
    "text": "content",
    "at": "occurred_at",
    "timestamp": "occurred_at",
    "session": "session_id",
    "agent": "agent_id",
    "id": "source",
}
"""Other names of a message's fields; every field of `NewNote`, and `role` and `name`, may be used as well."""


def read(data: bytes, stem: str) -> Conversation:
    """Read a file's bytes; `stem` is its name, for the ids of messages that have none."""
    notes: list[NewNote] = []
    bad: list[Bad] = []
    sources = Sources(stem)
    by_source: dict[str, tuple[int, NewNote]] = {}
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            note = _message(line)
            if note.source is None:
                note = note.model_copy(update={"source": sources.of(note)})
            _refuse_other(note, by_source)
        except InputError as error:
            bad.append(Bad(number, str(error)))
            continue
        assert note.source is not None
        if note.source not in by_source:
            by_source[note.source] = (number, note)
            notes.append(note)
    return Conversation(notes, bad)


def _message(line: bytes) -> NewNote:
    try:
        value = json.loads(line.decode(), parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not a line of JSON: {error}") from error
    if not isinstance(value, dict):
        raise InputError(f"a message is an object in braces, not a {type(value).__name__}")
    return NewNote.of(_renamed(value))


def _renamed(value: dict[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, item in value.items():
        field = ALIASES.get(name, name)
        if field in fields:
            raise InputError(f"{field} is given twice, the second time as {name!r}")
        fields[field] = item
    if isinstance(fields.get("source"), int):
        fields["source"] = str(fields["source"])
    return {name: item for name, item in fields.items() if item is not None}


def _refuse_other(note: NewNote, by_source: dict[str, tuple[int, NewNote]]) -> None:
    """Refuse an id that an earlier line has used for something else; the same line twice is one message."""
    line, earlier = by_source.get(note.source or "", (0, note))
    if earlier != note:
        raise InputError(f"the id {note.source!r} was used on line {line} for another message")


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
