"""The lines of an export: everything a box holds, one value a line, in JSON that any program can read.

Numbers of calls, links and revisions count from 1 within the export, in their order; notes keep their ids.
"""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue, TypeAdapter

from amem.model import Cause, Link, Note, Stage, Usage
from amem.store.plan import Plan
from amem.values import Frozen, Moment, canonical_json

FORMAT = 1
"""Grows with every change after which an older amem could not read an export."""
Number = Annotated[int, Field(ge=1, lt=2**62)]


class Header(Frozen):
    """The first line: what the export is, and of what."""

    line: Literal["amem-export"] = "amem-export"
    format: int = FORMAT
    box: str
    created_at: Moment
    """When the box was made."""
    filter: dict[str, JsonValue] = {}
    """What was exported of the box; empty: all of it."""
    embedding: dict[str, str] = {}
    """What made the vectors, where they come along."""


class CallLine(Frozen):
    """A call to a model, and every note that it was shown, with its version (0: the turn alone)."""

    line: Literal["call"] = "call"
    id: Number
    stage: Stage
    model: str
    prompt: str
    created_at: Moment
    shown: tuple[tuple[str, Annotated[int, Field(ge=0)]], ...]


class NoteLine(Frozen):
    """A note, whole."""

    line: Literal["note"] = "note"
    note: Note
    source_key: str | None = None
    """The caller's id of the message."""
    call: Number | None = None
    """The call that built it."""
    unlearned: Annotated[int, Field(ge=0)] = 0
    """The version in which forgetting last took something out of it, or 0."""
    vector: str | None = None
    """Little-endian float32, base64."""


class LinkLine(Frozen):
    """A link that stands."""

    line: Literal["link"] = "link"
    id: Number
    link: Link
    call: Number | None = None


class RevisionLine(Frozen):
    """One change of a note, or the coming or going of a link."""

    line: Literal["revision"] = "revision"
    id: Number
    note_id: str
    field: str
    before: JsonValue
    after: JsonValue
    cause: Cause
    undone: bool
    call: Number | None = None
    version: int | None = None
    """The version of the note that it led to."""
    created_at: Moment


class AccessLine(Frozen):
    """How often users recalled a note, and when last."""

    line: Literal["access"] = "access"
    note_id: str
    count: Annotated[int, Field(ge=1, lt=2**31)]
    last_at: Moment


class HeldLine(Frozen):
    """A plan that waits for review."""

    line: Literal["held"] = "held"
    plan: Plan


class UsageLine(Frozen):
    """What the calls of a stage to a model have cost."""

    line: Literal["usage"] = "usage"
    stage: str
    model: str
    usage: Usage


class End(Frozen):
    """The last line: without it, the export was cut off."""

    line: Literal["end"] = "end"
    lines: int
    """How many there are before it, the header included."""


Line = CallLine | NoteLine | LinkLine | RevisionLine | AccessLine | HeldLine | UsageLine
_Any = Annotated[
    Header | CallLine | NoteLine | LinkLine | RevisionLine | AccessLine | HeldLine | UsageLine | End,
    Field(discriminator="line"),
]
_DERIVED: dict[str, Any] = {"note": {"made_by", "box"}, "link": {"made_by", "id"}}
"""What other lines say already."""


def written(line: Header | Line | End) -> str:
    """Return a line as text, without its end."""
    return canonical_json(line.model_dump(mode="json", exclude=_DERIVED))


@cache
def _reader() -> TypeAdapter[Header | Line | End]:
    return TypeAdapter(_Any)


def read(text: bytes) -> Header | Line | End:
    """Return what a line says.

    Raises:
        ValueError: it is no line of an export (pydantic's and json's errors are).
    """
    return _reader().validate_json(text)
