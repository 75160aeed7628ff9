"""Reading a conversation from a file: which format it has, what it says, and which lines are bad."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.errors import InputError
from amem.interfaces.cli import conversation_jsonl, conversation_locomo, conversation_text
from amem.interfaces.cli.conversation_types import Conversation

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from amem.intake import NewNote
    from amem.interfaces.cli.conversation_types import Bad

FORMATS = ("jsonl", "text", "locomo")
_SUFFIXES = {".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "locomo", ".txt": "text", ".md": "text"}
_SHOWN = 5
"""Bad lines that an error message lists."""


def read_conversation(
    path: Path, kind: str = "auto", *, sessions: int | None = None, sample: str | None = None
) -> Conversation:
    """Read a file whole; nothing is stored.

    Args:
        path: the file.
        kind: `jsonl`, `text` or `locomo`; `auto` goes by the file's name, then by its first character.
        sessions: only the first so many sessions.
        sample: which conversation of a LoCoMo file.

    Raises:
        InputError: the file cannot be read, or is not in that format.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}. Nothing was stored.") from error
    kind = _kind_of(path, data) if kind == "auto" else kind
    if sample is not None and kind != "locomo":
        raise InputError(f"--conversation chooses from a LoCoMo file; {path} is read as {kind}")
    if kind == "locomo":
        return conversation_locomo.read(path, sessions=sessions, sample=sample)
    if kind not in FORMATS:
        raise InputError(f"there is no format {kind!r}; there are auto, {', '.join(FORMATS)}")
    reader = conversation_jsonl.read if kind == "jsonl" else conversation_text.read
    found = reader(data, path.stem)
    return found if sessions is None else Conversation(first_sessions(found.notes, sessions), found.bad)


def first_sessions(notes: Iterable[NewNote], count: int) -> list[NewNote]:
    """Return the notes of the first `count` sessions, in order of appearance."""
    notes = list(notes)
    kept = list(dict.fromkeys(note.session_id for note in notes))[:count]
    return [note for note in notes if note.session_id in kept]


def refuse_bad(path: Path, bad: Iterable[Bad]) -> None:
    """Refuse a file that has bad lines.

    Raises:
        InputError: it has; the message names file and line of each.
    """
    lines = listed(path, bad)
    if lines:
        more = f"\nand {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
        shown = "\n".join(lines[:_SHOWN])
        raise InputError(f"nothing was stored; correct these lines, or leave them out by --skip-bad:\n{shown}{more}")


def listed(path: Path, bad: Iterable[Bad]) -> list[str]:
    """Return `file:line: problem` for each bad line."""
    return [f"{path}:{item.line}: {item.problem}" for item in bad]


def _kind_of(path: Path, data: bytes) -> str:
    known = _SUFFIXES.get(path.suffix.lower())
    if known is not None:
        return known
    start = data.removeprefix(b"\xef\xbb\xbf").lstrip()[:2]
    if start[:1] == b"{":
        return "jsonl"
    return "locomo" if start[:1] == b"[" and not start[1:2].isdigit() else "text"
