"""What a memory of another kind holds, read and checked, before anything of it is stored."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from amem.errors import InputError
from amem.intake import NewNote
from amem.model import Note
from amem.values import Frozen, Moment, as_utc

if TYPE_CHECKING:
    from collections.abc import Mapping


class ForeignLink(Frozen):
    """A connection to another memory of the same source."""

    target: str
    """That one's key."""
    relation: str
    reason: str = ""


class Foreign(Frozen):
    """One memory of another system."""

    key: str
    """What it is called there."""
    note: NewNote
    keywords: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    context: str = ""
    by: str | None = None
    """The system whose model made keywords, tags and context; None where people did."""
    complete: bool = False
    """No model of ours need build it: it has what a built note has."""
    links: tuple[ForeignLink, ...] = ()
    replaced_by: str | None = None
    """The key of the memory that took its place."""
    whole: Note | None = None
    """The note as it was in another amem, by its id there; its text stands in `note` as well."""
    accesses: int = 0
    last_accessed: Moment | None = None


class NotTaken(Frozen):
    """Something that was not taken over."""

    what: str
    why: str


class Found(Frozen):
    """All that was read."""

    items: tuple[Foreign, ...] = ()
    skipped: tuple[NotTaken, ...] = ()


class Reader:
    """Gathers what is read of one source, and what cannot be."""

    def __init__(self, system: str) -> None:
        self._system = system
        self._items: dict[str, Foreign] = {}
        self._skipped: list[NotTaken] = []

    def take(self, key: str, fields: Mapping[str, Any], **more: Any) -> None:
        """Take over one memory, unless it cannot be remembered, or is there already."""
        if key in self._items:
            self.skip(key, "it is there twice")
            return
        try:
            note = NewNote.of({"source": f"{self._system}:{key}", **fields})
            self._items[key] = Foreign(key=key, note=note, **more)
        except ValueError as error:  # InputError and pydantic's are
            self.skip(key, str(error).removesuffix(" Nothing was stored."))

    def skip(self, what: str, why: str) -> None:
        """Note down that something is left out."""
        self._skipped.append(NotTaken(what=what, why=why))

    def found(self) -> Found:
        """Return all of it; links to what is not there are left out, and said so."""
        items = []
        for item in self._items.values():
            links = tuple(link for link in item.links if link.target in self._items)
            for link in item.links:
                if link.target not in self._items:
                    self.skip(f"link from {item.key} to {link.target}", "that is not there")
            replaced_by = item.replaced_by if item.replaced_by in self._items else None
            items.append(item.model_copy(update={"links": links, "replaced_by": replaced_by}))
        return Found(items=tuple(items), skipped=tuple(self._skipped))


def moment(value: Any) -> datetime | None:
    """Return what a foreign date means; a naive one is UTC. One that cannot be read is none."""
    if isinstance(value, datetime):
        return as_utc(value)
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        return None
    try:
        if isinstance(value, str):
            return as_utc(datetime.fromisoformat(value.strip()))
        return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def texts(value: Any) -> tuple[str, ...]:
    """Return the texts of a list, or a single one; whatever else is there is no text."""
    if isinstance(value, str):
        value = [value]
    return (
        tuple(item.strip() for item in value if isinstance(item, str) and item.strip())
        if isinstance(value, list)
        else ()
    )


def refuse(path: object, why: str) -> InputError:
    """Return the error that says why nothing could be read."""
    return InputError(f"{path}: {why}. Nothing was stored.")
