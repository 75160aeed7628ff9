"""Append-only files of JSON lines, one a unit of work: on disk before the next begins, and read again after a crash."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Generic, TypeVar

from pydantic import ValidationError

from amem.errors import InputError
from amem.values import Frozen, canonical_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Record(Frozen):
    """One line."""

    unit: str
    """What the line is about; of two lines about the same, the last one holds."""


R = TypeVar("R", bound=Record)


class Journal(Generic[R]):
    """The lines of one stage.

    A line that a crash has cut off is passed over, and taken away before the next one is written.
    """

    def __init__(self, path: Path, kind: type[R]) -> None:
        self._path = path
        self._kind = kind
        self._whole: int | None = None
        self._records = {record.unit: record for record in self._read()}

    def __contains__(self, unit: str) -> bool:
        """Whether a unit is done."""
        return unit in self._records

    def __len__(self) -> int:
        """Return the number of units."""
        return len(self._records)

    def get(self, unit: str) -> R | None:
        """Return a unit's line; None where it is not done."""
        return self._records.get(unit)

    def records(self) -> list[R]:
        """Return one line for each unit, in the order in which they were first done."""
        return list(self._records.values())

    def append(self, record: R) -> None:
        """Write a line; it is on disk when this returns."""
        line = f"{canonical_json(record.model_dump(mode='json'))}\n".encode("utf-8", "replace")
        with self._path.open("ab") as file:
            if self._whole is not None:
                file.truncate(self._whole)
                self._whole = None
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        self._records[record.unit] = record

    def _read(self) -> list[R]:
        if not self._path.exists():
            return []
        data = self._path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            self._whole = whole
        return [self._parsed(line, number) for number, line in enumerate(data[:whole].split(b"\n")[:-1], start=1)]

    def _parsed(self, line: bytes, number: int) -> R:
        try:
            return self._kind.model_validate_json(line)
        except ValidationError as error:
            raise InputError(
                f"{self._path}:{number} is no line of this version: {error.errors()[0]['msg']}. "
                "Nothing was changed; take the line out, or name another folder."
            ) from error


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep other processes off a folder; the lock ends with this process, however that dies.

    Raises:
        InputError: another process has it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(folder / "lock", timeout=0, isolation_level=None)) as lock:
        try:
            lock.execute("PRAGMA journal_mode = MEMORY")
            lock.execute("BEGIN EXCLUSIVE")  # SQLite's lock is there on every system
        except sqlite3.OperationalError as error:
            raise InputError(f"another process works in {folder}. Nothing was done; wait for it.") from error
        yield
