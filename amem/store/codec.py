"""Filter fields as Chroma keeps them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    Value = str | int | float | bool

FILTER_FIELDS = ("agent_id", "session_id", "speaker", "occurred_at", "status")
"""All there are, so that an upsert can clear those that a note no longer has. Times are seconds since 1970."""


def encoded(fields: Mapping[str, Value]) -> dict[str, Value | None]:
    """Return filter fields as Chroma keeps them without damage; None clears what an older upsert left.

    A value that Chroma would alter or choke on (empty, not finite, beyond 64 bits, a lone surrogate) is left out.
    """
    return {name: _storable(fields.get(name)) for name in FILTER_FIELDS}


def _storable(value: Value | None) -> Value | None:
    if isinstance(value, str):
        return value if value and value == value.encode("utf-8", "ignore").decode() else None
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else None
    return None


def condition(where: Mapping[str, Value] | None) -> dict[str, Any] | None:
    """Return what `where` says in Chroma's words; every field must be equal."""
    parts: list[dict[str, Any]] = [{name: {"$eq": value}} for name, value in (where or {}).items()]
    if len(parts) > 1:
        return {"$and": parts}
    return parts[0] if parts else None
