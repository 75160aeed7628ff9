"""Notes again, from the variables that showed them to a model."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from pydantic import ValidationError

from amem.ingest.shown import Numbered
from amem.model import Note

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

NEW = "new"
"""The id of a note that was shown without a number."""

_ANY_DAY = datetime(2024, 1, 1, tzinfo=UTC)
_SHOWN = ("speaker", "context", "keywords", "tags")


def note_of(item: Mapping[str, JsonValue]) -> Note:
    """Return a note that was shown; its id is its number.

    Raises:
        ValidationError: it was shown in another shape than the pipeline's.
    """
    fields: dict[str, JsonValue] = {name: item[name] for name in _SHOWN if item.get(name)}
    return Note.model_validate({
        "id": str(item.get("number", NEW)),
        "content": item.get("text"),
        "occurred_at": _moment(item.get("date")),
        "created_at": _ANY_DAY,
        **fields,
    })  # fmt: skip


def notes_of(variables: Mapping[str, JsonValue], name: str) -> Numbered | None:
    """Return the notes of a list among the variables; None where it is none, or of another shape."""
    items = variables.get(name)
    if not isinstance(items, list):
        return None
    try:
        notes = [note_of(item if isinstance(item, dict) else {}) for item in items]
    except ValidationError:
        return None
    first = next((item["number"] for item in items if isinstance(item, dict) and "number" in item), 0)
    return Numbered(notes, first if isinstance(first, int) else 0)


def new_note(variables: Mapping[str, JsonValue]) -> Note | None:
    """Return the one new note of `link` and `evolve`; None where there is none, or one of another shape."""
    item = variables.get("note")
    try:
        return note_of(item) if isinstance(item, dict) else None
    except ValidationError:
        return None


def _moment(day: JsonValue) -> datetime:
    try:
        moment = datetime.fromisoformat(str(day))
    except ValueError:
        return _ANY_DAY
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
