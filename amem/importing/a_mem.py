"""Reading the Chroma folder of the package `a-mem`: notes with keywords, tags, context and links."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from amem.importing.foreign import ForeignLink, Reader, refuse, texts
from amem.store.foreign import DATABASE, rows

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from amem.importing.foreign import Found

SYSTEM = "a-mem"
COLLECTION = "memories"
_PLACEHOLDERS = {"context": "General", "category": "Uncategorized"}
"""What the package writes where no model said anything."""
_STAMP = "%Y%m%d%H%M"


def read(folder: Path, workspace: Path) -> Found:
    """Read a folder through a copy in `workspace`, which is removed again.

    Raises:
        InputError: it is no Chroma folder, or has no collection of `a-mem`.
    """
    if not (folder / DATABASE).is_file():
        raise refuse(folder, "it is no folder of Chroma")
    reader = Reader(SYSTEM)
    for note_id, metadata in rows(folder, COLLECTION, workspace):
        _take(reader, note_id, metadata)
    return reader.found()


def _take(reader: Reader, note_id: str, metadata: Mapping[str, Any]) -> None:
    content = metadata.get("content")
    if not isinstance(content, str):
        reader.skip(note_id, "it has no content")
        return
    known = {name: texts(_list(metadata.get(name))) for name in ("keywords", "tags")}
    context = _said(metadata, "context")
    category = _said(metadata, "category")
    history = _list(metadata.get("evolution_history"))
    about = {"category": category, "evolution_history": history}
    built = bool(known["keywords"] or known["tags"] or context)
    links = [str(target) for target in _list(metadata.get("links")) if isinstance(target, (str, int))]
    reader.take(
        note_id,
        {
            "content": content,
            "occurred_at": _stamp(metadata.get("timestamp")),
            "metadata": {SYSTEM: kept} if (kept := {name: value for name, value in about.items() if value}) else {},
        },
        **known,
        context=context,
        by=SYSTEM if built else None,
        complete=built,
        links=tuple(ForeignLink(target=target, relation="linked in a-mem") for target in dict.fromkeys(links)),
        accesses=_count(metadata.get("retrieval_count")),
        last_accessed=_stamp(metadata.get("last_accessed")),
    )


def _said(metadata: Mapping[str, Any], name: str) -> str:
    value = metadata.get(name)
    return value.strip() if isinstance(value, str) and value.strip() != _PLACEHOLDERS[name] else ""


def _list(value: Any) -> list[Any]:
    """Return a list, which the package keeps as JSON."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return []
    return value if isinstance(value, list) else []


def _stamp(value: Any) -> datetime | None:
    """Return a moment such as 202405011230, which the package writes without an offset; it is taken as UTC."""
    try:
        return datetime.strptime(str(value), _STAMP).replace(tzinfo=UTC)
    except ValueError:
        return None


def _count(value: Any) -> int:
    text = str(value)
    return min(int(text), 2**31 - 1) if text.isascii() and text.isdecimal() and len(text) < 12 else 0
