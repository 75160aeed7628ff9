"""Reading what mem0 gives out: `get_all()` as JSON, `history()` as JSON, both in one file, or its `history.db`.

An earlier wording of a memory becomes a note of its own, which the later one has taken the place of.
"""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

from amem.importing.foreign import Reader, moment, refuse, texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from amem.importing.foreign import Found

    Row = Mapping[str, Any]

SYSTEM = "mem0"
_SQLITE = b"SQLite format 3\x00"
_LISTS = ("results", "memories", "history")
_USED = {"id", "memory", "agent_id", "run_id", "metadata", "created_at", "updated_at", "score"}
_TRUST = {"assistant": "assistant", "tool": "tool", "system": "untrusted"}


def read(path: Path) -> Found:
    """Read an export of mem0.

    Raises:
        InputError: the file cannot be read, or is none.
    """
    reader = Reader(SYSTEM)
    rows = _rows(path, reader)
    history: dict[str, list[Row]] = {}
    for row in rows:
        if "memory_id" in row:
            history.setdefault(str(row["memory_id"]), []).append(row)
    memories = {str(row["id"]): row for row in rows if "memory" in row and "id" in row}
    for key in dict.fromkeys([*memories, *history]):
        _take(reader, key, memories.get(key), history.get(key, ()))
    return reader.found()


def _take(reader: Reader, key: str, memory: Row | None, history: Iterable[Row]) -> None:
    wordings: list[tuple[str, Any]] = []
    gone = False
    for row in history:
        gone = row.get("event") == "DELETE"
        said = row.get("new_memory")
        if isinstance(said, str) and said.strip() and (not wordings or wordings[-1][0] != said):
            wordings.append((said, row.get("updated_at") or row.get("created_at")))
    if memory is None and (gone or not wordings):
        reader.skip(key, "it was deleted there" if gone else "nothing is told of what it said")
        return
    about = memory or {}
    if memory is not None and (not wordings or wordings[-1][0] != memory["memory"]):
        wordings.append((memory["memory"], memory.get("updated_at") or memory.get("created_at")))
    keys = [*(f"{key}@{number}" for number in range(1, len(wordings))), key]
    for place, (said, at) in enumerate(wordings):
        begun = about.get("created_at") if place == 0 else None
        later = keys[place + 1] if place + 1 < len(keys) else None
        fields = {**_fields(about), "content": said, "occurred_at": moment(begun or at)}
        tags = texts(about.get("categories"))
        reader.take(keys[place], fields, tags=tags, by=SYSTEM if tags else None, replaced_by=later)


def _fields(memory: Row) -> dict[str, Any]:
    who = (memory.get("actor_id"), memory.get("user_id"))
    rest = {name: value for name, value in memory.items() if name not in _USED and value not in (None, [], {})}
    given = memory.get("metadata")
    metadata = dict(given) if isinstance(given, dict) else {}
    return {
        "speaker": next((name for name in who if isinstance(name, str) and name), None),
        "agent_id": memory.get("agent_id"),
        "session_id": memory.get("run_id"),
        "trust": _TRUST.get(str(memory.get("role")), "user"),
        "metadata": {**metadata, **({SYSTEM: rest} if rest else {})},
    }


# -- files --------------------------------------------------------------------------------------------


def _rows(path: Path, reader: Reader) -> list[Row]:
    try:
        with path.open("rb") as file:
            start = file.read(len(_SQLITE))
        if start == _SQLITE:
            return _of_database(path)
        value = json.loads(path.read_bytes())
    except OSError as error:
        raise refuse(path, f"it cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise refuse(path, "it is neither JSON nor a history.db of mem0") from error
    rows = _listed(value, reader)
    if rows is None:
        raise refuse(path, "it holds no memories: mem0 gives a list, or an object with `results` or `history`")
    return rows


def _listed(value: Any, reader: Reader) -> list[Row] | None:
    if isinstance(value, dict):
        lists = [value[name] for name in _LISTS if isinstance(value.get(name), list)]
        relations = value.get("relations")
        if isinstance(relations, list) and relations:
            reader.skip(f"{len(relations)} relations", "mem0's graph connects names, not memories")
        if not lists:
            return None
        value = [row for some in lists for row in some]
    if not isinstance(value, list):
        return None
    rows: list[Row] = []
    for number, row in enumerate(value, start=1):
        if isinstance(row, dict) and ("memory_id" in row or isinstance(row.get("memory"), str)):
            rows.append(row)
        else:
            reader.skip(f"entry {number}", "it is no memory, and no change of one")
    return rows


def _of_database(path: Path) -> list[Row]:
    """Return the history of an open-source mem0, read without changing the file."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as database:
            database.row_factory = sqlite3.Row
            found = database.execute("SELECT * FROM history ORDER BY created_at, updated_at, rowid").fetchall()
    except sqlite3.Error as error:
        raise refuse(path, f"it is no history.db of mem0: {error}") from error
    return [dict(row) for row in found]
