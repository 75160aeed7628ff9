"""Exports as files of one JSON value a line: written whole or not at all, and read only when whole."""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING

from pydantic import ValidationError

from amem.errors import InputError
from amem.exporting.checking import problem
from amem.filters import first_problem
from amem.store import dump
from amem.store.lines import FORMAT, End, Header, LinkLine, NoteLine, RevisionLine, read, written
from amem.store.load import Load
from amem.values import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from amem.filters import Filter
    from amem.rooms import Rooms
    from amem.store.lines import Line


class Exported(Frozen):
    """What was written."""

    path: str
    notes: int
    links: int
    revisions: int
    files: int = 1


def export(rooms: Rooms, box: str, path: Path, given: Filter | None, *, vectors: bool = False) -> Exported:
    """Write a box, or the notes of it that a filter lets through with all that came of them.

    Raises:
        InputError: the file cannot be written, or is in the memory's own directory.
    """
    expect_outside(rooms, path)
    only = None if given is None else rooms.ledger.matching_ids(box, given)
    database = rooms.ledger.database
    with database.reading() as connection:
        only = None if only is None else dump.closure(connection, box, only)
        header = Header(
            box=box,
            created_at=dump.begun_at(connection, box) or rooms.now(),
            filter={} if given is None else given.model_dump(mode="json", exclude_defaults=True),
            embedding=dump.embedding(connection) if vectors else {},
        )
        found = dump.Dump(connection, box, only, vectors=vectors)
        counts = _write(path, header, found.lines())
    return Exported(path=str(path), **counts)


def expect_outside(rooms: Rooms, path: Path) -> None:
    """Refuse a place within the memory: it could be a file of its own, and forgetting would find the texts there."""
    if path.resolve().is_relative_to(rooms.directory.resolve()):
        raise InputError(f"{path} is in the memory's own directory; export to another place. Nothing was written.")


def _write(path: Path, header: Header, lines: Iterator[Line]) -> dict[str, int]:
    counts = {"notes": 0, "links": 0, "revisions": 0}
    names: dict[type, str] = {NoteLine: "notes", LinkLine: "links", RevisionLine: "revisions"}
    draft = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}.part")
    try:
        with draft.open("x", encoding="utf-8", newline="\n") as file:
            total = 1
            file.write(f"{written(header)}\n")
            for total, line in enumerate(lines, start=2):  # noqa: B007 - counts
                file.write(f"{written(line)}\n")
                if type(line) in names:
                    counts[names[type(line)]] += 1
            file.write(f"{written(End(lines=total))}\n")
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
    return counts


def load(rooms: Rooms, box: str, path: Path) -> Load:
    """Read an export into an empty box; notes, history and numbers of accesses are as they were.

    Raises:
        InputError: the file cannot be read, is no export or not a whole one, or there is no room for it.
    """
    header, lines = read_lines(path)
    found = Load(lines)
    wrong = problem(found)
    if wrong is not None:
        raise InputError(f"{path}: {wrong}. Nothing was stored.")
    rooms.ledger.load(box, header, found)
    return found


def read_lines(path: Path) -> tuple[Header, list[Line]]:
    """Return the lines of an export, each checked by itself.

    Raises:
        InputError: the file cannot be read, or is no export, or was cut off.
    """
    try:
        texts = path.read_bytes().split(b"\n")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}. Nothing was stored.") from error
    found = []
    for number, text in enumerate(texts[:-1], start=1):
        try:
            found.append(read(text))
        except ValidationError as error:
            raise _refused(path, number, first_problem(error)) from error
    header, lines = found[0] if found else None, found[1:]
    if not isinstance(header, Header):
        raise _refused(path, 1, "this is no export of amem")
    if header.format > FORMAT:
        raise _refused(path, 1, f"a newer amem wrote it (format {header.format}; this one knows up to {FORMAT})")
    end = lines.pop() if lines else None
    if texts[-1] or not isinstance(end, End) or end.lines != len(found) - 1:
        raise _refused(path, len(texts), "the export was cut off")
    inner = [line for line in lines if not isinstance(line, (Header, End))]
    if len(inner) != len(lines):
        raise _refused(path, len(texts), "it holds several exports")
    return header, inner


def _refused(path: Path, number: int, why: str) -> InputError:
    return InputError(f"{path}:{number}: {why}. Nothing was stored.")
