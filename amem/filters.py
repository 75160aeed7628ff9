"""Filters: what is given must match, what is not given does not restrict, the same in every verb."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from amem.errors import InputError
from amem.model import Kind
from amem.values import Frozen, Metadata, Moment, Words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from amem.model import Note


class Filter(Frozen):
    """Restricts which notes a verb may see."""

    agent_id: Words | None = None
    session_id: Words | None = None
    speaker: Words | None = None
    tags: tuple[Words, ...] = ()
    """All of these must be among the note's tags, whatever the case."""
    since: Moment | None = None
    """Notes that happened at this moment or later."""
    until: Moment | None = None
    """Notes that happened before this moment."""
    metadata: Metadata = {}
    """Each key must be in the note's metadata with an equal value."""
    kinds: tuple[Kind, ...] = ()
    """The note must be one of these: `note`, `fact`, `episode`."""
    as_of: Moment | None = None
    """What held good at this moment: it had happened by then, and nothing had taken its place yet."""
    archived: bool = False
    """True includes archived notes."""
    outdated: bool = False
    """True includes notes whose place another note has taken; `as_of` does so where that came later."""

    @property
    def restricts(self) -> bool:
        """Whether any note could be excluded that is neither archived nor outdated."""
        return self != Filter(archived=self.archived, outdated=self.outdated)

    @property
    def includes_hidden(self) -> bool:
        """Whether notes may get through that are seen only where they are asked for."""
        return self.archived or self.outdated or self.as_of is not None

    @property
    def needs_values(self) -> bool:
        """Whether tags or metadata have to be compared, which no portable SQL can."""
        return bool(self.tags or self.metadata)

    def accepts_values(self, tags: Sequence[str], metadata: dict[str, JsonValue]) -> bool:
        """Compare tags and metadata."""
        have = {tag.casefold() for tag in tags}
        return all(tag.casefold() in have for tag in self.tags) and all(
            key in metadata and same_json(metadata[key], value) for key, value in self.metadata.items()
        )

    def why_not(self, note: Note) -> str | None:
        """Name the part of the filter that excludes `note`, or return None."""
        for name in ("agent_id", "session_id", "speaker"):
            wanted = getattr(self, name)
            if wanted is not None and getattr(note, name) != wanted:
                return f"{name} is not {wanted!r}"
        if self.kinds and note.kind not in self.kinds:
            return f"it is a {note.kind}"
        return self._why_not_then(note) or self._why_hidden(note)

    def _why_not_then(self, note: Note) -> str | None:
        if self.since and note.occurred_at < self.since:
            return f"it happened before {self.since.isoformat()}"
        if self.until and note.occurred_at >= self.until:
            return f"it did not happen before {self.until.isoformat()}"
        return None

    def _why_hidden(self, note: Note) -> str | None:
        if not self.accepts_values(note.tags, note.metadata):
            return "tags or metadata do not match"
        if note.status == "archived" and not self.archived:
            return "it is archived"
        return self._why_outdated(note)

    def _why_outdated(self, note: Note) -> str | None:
        if self.as_of is None:
            taken = note.superseded_by is not None and not self.outdated
            return f"note {note.superseded_by} has taken its place" if taken else None
        begins = note.valid_from or note.occurred_at
        if begins > self.as_of:
            return f"it did not hold yet on {self.as_of.isoformat()}"
        if note.valid_to is not None and note.valid_to <= self.as_of and not self.outdated:
            return f"it did not hold any more on {self.as_of.isoformat()}"
        return None


def same_json(one: JsonValue, other: JsonValue) -> bool:
    """Whether two JSON values are equal: 1 is 1.0, as numbers go, but true is not 1, as it is for Python."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same_json(value, other[key]) for key, value in one.items())
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same_json, one, other))
    return one == other


def make_filter(**given: Any) -> Filter:
    """Build a filter from a verb's keyword arguments: the fields of `Filter`; None does not restrict.

    Raises:
        InputError: a filter is unknown, or its value has the wrong type; the message names it.
    """
    wanted = {name: value for name, value in given.items() if value is not None}
    for several in ("tags", "kinds"):
        if isinstance(wanted.get(several), str):
            wanted[several] = (wanted[several],)
    try:
        return Filter.model_validate(wanted)
    except ValidationError as error:
        raise InputError(f"filter refused: {first_problem(error)}") from error


def first_problem(error: ValidationError) -> str:
    """Return pydantic's first complaint as one line."""
    first = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
