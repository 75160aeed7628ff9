"""Taking a text out of what runs have left behind: recordings, raw answers, recorded vectors (P6).

A recording is removed whole: its key says what it holds, and one with a hole in it would answer for a request that
nobody made. In files of one JSON value a line, only the lines that hold the text go. Recorded vectors are kept by the
hash of their text, so that nobody can tell whose they are: where anything else went, they go as well.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from amem.errors import InputError
from amem.llm.recording_file import write_whole
from amem.values import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pydantic import JsonValue

_LINES = frozenset({".jsonl", ".ndjson"})
_VECTORS = ".npz"


class Scrubbed(Frozen):
    """What held the text."""

    removed: tuple[str, ...] = ()
    """Files that were removed."""
    shortened: tuple[str, ...] = ()
    """Files that lost the lines which held it."""
    searched: int = 0
    """Files that were looked at."""
    dry_run: bool = False


def scrub(root: Path, text: str, *, dry_run: bool = False) -> Scrubbed:
    """Remove from a folder whatever holds a text, however it is broken into lines and whatever its case.

    Raises:
        InputError: the text is blank, or there is no such folder; nothing was removed.
    """
    wanted = _normal(text)
    if not wanted:
        raise InputError("the text to remove is blank. Nothing was removed.")
    if not root.is_dir():
        raise InputError(f"there is no folder {root}. Nothing was removed.")
    files = sorted(path for path in root.rglob("*") if path.is_file())
    lines = [path for path in files if path.suffix in _LINES and _shorten(path, wanted, dry_run=dry_run)]
    whole = [path for path in files if path.suffix not in {*_LINES, _VECTORS} and _holds(_read(path), wanted)]
    if lines or whole:
        whole += [path for path in files if path.suffix == _VECTORS]
    for path in [] if dry_run else whole:
        path.unlink()
    named = [tuple(str(path.relative_to(root)) for path in sorted(some)) for some in (whole, lines)]
    return Scrubbed(removed=named[0], shortened=named[1], searched=len(files), dry_run=dry_run)


def _shorten(path: Path, wanted: str, *, dry_run: bool) -> bool:
    """Take the lines that hold the text out of a file; return whether there were any."""
    lines = _read(path).splitlines(keepends=True)
    kept = [line for line in lines if not _holds(line, wanted)]
    if len(kept) < len(lines) and not dry_run:
        write_whole(path, "".join(kept).encode("utf-8", "surrogateescape"))
    return len(kept) < len(lines)


def _read(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "surrogateescape")


def _holds(content: str, wanted: str) -> bool:
    """Whether a file's content, or any text in it where it is JSON, holds the text."""
    if wanted in _normal(content):
        return True
    try:
        value = json.loads(content)
    except (ValueError, RecursionError):
        return False
    return wanted in _normal(" ".join(_texts(value)))


def _texts(value: JsonValue) -> Iterator[str]:
    """Yield every text of a JSON value in order, names included: a text may be kept as a list of its lines."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _normal(text: str) -> str:
    return " ".join(text.split()).casefold()
