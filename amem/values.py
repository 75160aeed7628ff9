"""What a value may be wherever it is kept: moments, texts and metadata that can be stored, frozen types."""

from __future__ import annotations

import json
import math
import re
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

_LONE = re.compile(r"[\ud800-\udfff]")
_MAX_DEPTH = 100
_MAX_BITS = 10_000
"""Of a whole number: Python refuses to write much longer ones as text."""


def as_utc(moment: datetime) -> datetime:
    """Return `moment` in UTC; a naive datetime is taken as UTC, never as the machine's local time."""
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"{moment} is outside the years 1 to 9999 in UTC") from error


def encodable(text: str) -> str:
    """Refuse what no database and no file can hold."""
    problem = _unstorable(text)
    if problem is not None:
        raise ValueError(f"the text {problem}")
    return text


def _storable(value: Any, path: str = "metadata", depth: int = 0) -> Any:
    """Refuse what JSON cannot hold, naming the place, instead of changing it silently."""
    if depth > _MAX_DEPTH:
        raise ValueError(f"{path[:60]}… is nested more than {_MAX_DEPTH} levels deep")
    if isinstance(value, (list, tuple)):
        return [_storable(item, f"{path}[{i}]", depth + 1) for i, item in enumerate(value)]
    if isinstance(value, dict):
        for key in value:
            if not isinstance(key, str):
                raise ValueError(f"{path} has the key {key!r}; keys must be text")  # noqa: TRY004 - as pydantic wants
            _storable(key, f"a key of {path}", depth)
        return {key: _storable(item, f"{path}.{key}", depth + 1) for key, item in value.items()}
    problem = _unstorable(value)
    if problem is not None:
        raise ValueError(f"{path} {problem}")
    return value


def _unstorable(value: Any) -> str | None:
    """Say why JSON cannot hold a single value, or return None."""
    if value is None or isinstance(value, bool):
        return None
    if isinstance(value, str):
        return "holds a lone surrogate, which no encoding can store" if _LONE.search(value) else None
    if isinstance(value, int):
        return None if value.bit_length() <= _MAX_BITS else "is a number of more than 3,000 digits"
    if isinstance(value, float):
        return None if math.isfinite(value) else f"is {value}, which JSON cannot hold"
    return f"is a {type(value).__name__}; metadata takes text, numbers, booleans, null, lists and dicts"


Moment = Annotated[datetime, AfterValidator(as_utc)]
Words = Annotated[str, AfterValidator(encodable)]
"""Text that can be stored."""
Metadata = Annotated[dict[str, JsonValue], BeforeValidator(_storable)]
Term = Annotated[str, Field(min_length=1, max_length=4000), AfterValidator(encodable)]
"""A part of a fact or an episode, in words."""


class Frozen(BaseModel):
    """A value type: immutable, and unknown keys are an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


_CANONICAL = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False)


def canonical_json(value: Any) -> str:
    """Serialise to one stable text: sorted keys, no spaces, Unicode as is."""
    return _CANONICAL.encode(value)
