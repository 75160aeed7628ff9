"""What may be added: texts, message dicts of chat APIs, or `NewNote`; each becomes a raw note."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, JsonValue, TypeAdapter, ValidationError

from amem.errors import InputError
from amem.filters import first_problem
from amem.model import Note, Trust
from amem.values import Frozen, Metadata, Moment, Words, canonical_json

if TYPE_CHECKING:
    from amem.rooms import Rooms

MAX_CONTENT = 1_000_000
"""Characters; a longer text is a document to be split by its owner, not a memory."""
MAX_NAME = 4_000
"""Characters of a speaker, an id, a keyword or a tag; web addresses fit."""
MAX_WORDS = 1_000
"""Keywords, or tags."""
MAX_METADATA = 1_000_000
"""Characters of the metadata as JSON."""
MAX_QUESTION = 20_000
"""Characters; a longer one would take minutes to embed, and means nothing in particular."""
MAX_BOX = 200
_ROLE_TRUST: dict[str, Trust] = {
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "system": "untrusted",
}


def _text(value: Any) -> Any:
    if isinstance(value, str):
        if not value.strip():
            raise ValueError("the text is empty")
        if len(value) > MAX_CONTENT:
            raise ValueError(f"the text has {len(value):,} characters, and a memory at most {MAX_CONTENT:,}; split it")
    return value


def _small(metadata: dict[str, JsonValue]) -> dict[str, JsonValue]:
    size = len(canonical_json(metadata))
    if size > MAX_METADATA:
        raise ValueError(f"it has {size:,} characters as JSON; {MAX_METADATA:,} are allowed")
    return metadata


def _when(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value)
        except ValueError as error:
            raise ValueError(f"{value!r} is not an ISO 8601 date or moment") from error
    return value


Text = Annotated[Words, BeforeValidator(_text)]
Name = Annotated[Words, Field(max_length=MAX_NAME)]
Names = Annotated[tuple[Name, ...], Field(max_length=MAX_WORDS)]
When = Annotated[Moment, BeforeValidator(_when)]


class NewNote(Frozen):
    """One text to remember, with what is known about it. Fields given as keywords, tags or context are pinned."""

    content: Text
    speaker: Name | None = None
    occurred_at: When | None = None
    """When it happened; now, where not given. A naive moment is taken as UTC."""
    session_id: Name | None = None
    agent_id: Name | None = None
    position: Annotated[int, Field(ge=0, lt=2**30)] | None = None
    source: Name | None = None
    """The caller's id of the message: the same one is never stored twice in a box."""
    trust: Trust = "user"
    keywords: Names | None = None
    tags: Names | None = None
    context: Annotated[Words, Field(max_length=MAX_CONTENT)] | None = None
    metadata: Annotated[Metadata, AfterValidator(_small)] = {}

    @classmethod
    def of(cls, item: str | Mapping[str, Any] | NewNote, **common: Any) -> NewNote:
        """Read a text, a chat message (`role`, `content`, `name`), or a mapping of this type's fields.

        Args:
            item: what to remember.
            common: fields for items that do not have them.

        Raises:
            InputError: the item cannot be read, with the field that is wrong; nothing was stored.
        """
        if isinstance(item, NewNote):
            return item
        fields = {"content": item} if isinstance(item, str) else _fields(item)
        try:
            return cls.model_validate({**{k: v for k, v in common.items() if v is not None}, **fields})
        except ValidationError as error:
            raise InputError(f"the text cannot be remembered: {first_problem(error)}. Nothing was stored.") from error


def _fields(item: Mapping[str, Any]) -> dict[str, Any]:
    if not isinstance(item, Mapping):
        raise InputError(f"cannot remember a {type(item).__name__}; give text, a message dict or a NewNote")
    fields = dict(item)
    role = fields.pop("role", None)
    name = fields.pop("name", None)
    if role is not None:
        fields.setdefault("trust", _ROLE_TRUST.get(str(role), "untrusted"))
        fields.setdefault("speaker", name or str(role))
    elif name is not None:
        fields.setdefault("speaker", name)
    return fields


def raw_note(new: NewNote, box: str, rooms: Rooms) -> Note:
    """Return the raw note of a text: pending, with what the caller knows pinned."""
    now = rooms.now()
    given = {name: getattr(new, name) for name in ("keywords", "tags", "context")}
    pinned = {name: value for name, value in given.items() if value is not None}
    plain = {"content", "speaker", "session_id", "agent_id", "position", "trust", "metadata"}
    return Note(
        id=rooms.new_id(),
        box=box,
        occurred_at=new.occurred_at or now,
        created_at=now,
        sources=() if new.source is None else (new.source,),
        pinned=tuple(pinned),
        pending_reason="raw" if rooms.raw else "queued",
        **pinned,
        **new.model_dump(include=plain),
    )


def box_name(name: str) -> str:
    """Check a box's name: any printable text, but it is a name and no path to anywhere.

    Raises:
        InputError: it is empty, too long, or holds control characters.
    """
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_BOX or not name.isprintable():
        raise InputError(f"{name!r} is no name for a box: give 1 to {MAX_BOX} printable characters")
    return name


def name_text(what: str, name: str) -> str:
    """Check the name of an agent or a session.

    Raises:
        InputError: it is too long, no text, or cannot be stored.
    """
    try:
        return TypeAdapter(Name).validate_python(name, strict=True)
    except ValidationError as error:
        raise InputError(f"that is no {what}{first_problem(error)}") from error


def question_text(question: str) -> str:
    """Check what is asked: any text, however hostile, but not a book.

    Raises:
        InputError: it is no text, or too long.
    """
    if not isinstance(question, str):
        raise InputError(f"a question is text, not a {type(question).__name__}")
    if len(question) > MAX_QUESTION:
        raise InputError(f"the question has {len(question):,} characters, and may have {MAX_QUESTION:,}")
    return question
