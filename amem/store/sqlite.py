"""The one place with SQL that only SQLite understands: pragmas and the full-text index."""

from __future__ import annotations

import hashlib
import re
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from sqlalchemy import event, text

from amem.store.prepared import Prepared

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from sqlite3 import Connection as RawConnection

    from numpy.typing import NDArray
    from sqlalchemy import Connection, Engine

_CREATE_FTS = "CREATE VIRTUAL TABLE IF NOT EXISTS note_fts USING fts5(box, body, tokenize = 'porter unicode61')"
_PUT_FTS = Prepared(text("INSERT OR REPLACE INTO note_fts (rowid, box, body) VALUES (:rid, :box, :body)"))
_DROP_FTS = Prepared(text("DELETE FROM note_fts WHERE rowid = :rid"))
_ROWS_WITH = "SELECT group_concat(rowid) FROM note_fts WHERE note_fts MATCH ?"
_MAX_RID = 2**63 - 1
_WORD = re.compile(r"\w+", re.UNICODE)
# Scripts written without spaces, where FTS5 would see a whole sentence as one word.
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f]+")


def configure(engine: Engine) -> None:
    """Make every connection durable, patient and strict."""

    @event.listens_for(engine, "connect")
    def _pragmas(raw: RawConnection, _record: object) -> None:
        raw.isolation_level = None  # we say BEGIN ourselves
        for pragma in (
            "busy_timeout = 30000",
            "journal_mode = WAL",
            "synchronous = FULL",
            "foreign_keys = ON",
            "cache_size = -16000",  # KiB
            "wal_autocheckpoint = 4000",  # pages; most of them are written again and again
        ):
            raw.execute(f"PRAGMA {pragma}").close()


def begin(connection: Connection, *, writing: bool) -> None:
    """Open a transaction that says what it means to do.

    A writer takes the write lock at once: upgrading a read transaction may fail however long one waits. This is no
    listener of SQLAlchemy's `begin` event, since one listener there slows every statement down.
    """
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")


@contextmanager
def without_foreign_keys(connection: Connection) -> Iterator[None]:
    """Let tables be recreated: with foreign keys on, dropping one deletes all rows that refer to its own."""
    _pragma(connection, "foreign_keys = OFF")  # has no effect within a transaction
    try:
        yield
    finally:
        _pragma(connection, "foreign_keys = ON")


def _pragma(connection: Connection, setting: str) -> None:
    connection.exec_driver_sql(f"PRAGMA {setting}")
    connection.commit()  # SQLAlchemy's bookkeeping; no transaction was open


def create_fts(connection: Connection) -> None:
    """Create the full-text table where it is missing."""
    connection.execute(text(_CREATE_FTS))


@lru_cache(maxsize=1024)
def box_word(box: str) -> str:
    """Return the word that stands for a box in the full-text index."""
    return "b" + hashlib.sha256(box.encode()).hexdigest()[:16]


def searchable(body: str) -> str:
    """Return `body` with every run of CJK characters also written as spaced bigrams."""
    return _CJK.sub(lambda run: f" {' '.join(_bigrams(run.group()))} ", body)


def _bigrams(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def words_of(question: str) -> list[str]:
    """Return the distinct words of a question, lower-cased, in order; CJK runs as bigrams."""
    return list(dict.fromkeys(word.lower() for word in _WORD.findall(searchable(question))))


def put_fts(connection: Connection, box: str, bodies: Mapping[int, str]) -> None:
    """Index the texts of a box's notes by row id, in place of what was indexed for them before."""
    word = box_word(box)
    _PUT_FTS.run(connection, [{"rid": rid, "box": word, "body": searchable(body)} for rid, body in bodies.items()])


def drop_fts(connection: Connection, rids: Sequence[int]) -> None:
    """Take notes out of the full-text index."""
    _DROP_FTS.run(connection, [{"rid": rid} for rid in rids])


def fts_rows(connection: Connection, after: int, last: int | None) -> Iterator[tuple[int, str, str]]:
    """Yield (rid, box word, indexed body) of what is indexed for row ids above `after`, up to `last`."""
    query = text("SELECT rowid, box, body FROM note_fts WHERE rowid > :after AND rowid <= :last ORDER BY rowid")
    for rid, box, body in connection.execute(query, {"after": after, "last": _MAX_RID if last is None else last}):
        yield int(rid), str(box), str(body)


def clear_fts(connection: Connection) -> None:
    """Make the full-text index anew, empty; also where it was damaged or is missing."""
    connection.execute(text("DROP TABLE IF EXISTS note_fts"))
    create_fts(connection)


def rebuild_fts(connection: Connection) -> None:
    """Make the index anew from its texts: a deleted text's words stay in it until then."""
    connection.execute(text("INSERT INTO note_fts (note_fts) VALUES ('rebuild')"))


def write_anew(connection: Connection, patience: int) -> str | None:
    """Write the file without free pages and empty the write-ahead log; say why that could not be done, or None.

    It runs outside any transaction; `patience` is how long, in milliseconds, it waits for other connections.
    """
    with _patient(connection, patience):
        connection.exec_driver_sql("VACUUM").close()
        busy = connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").scalar_one()
    return "another connection is reading, so that the write-ahead log cannot be emptied" if busy else None


@contextmanager
def _patient(connection: Connection, patience: int) -> Iterator[None]:
    usual = connection.exec_driver_sql("PRAGMA busy_timeout").scalar_one()
    _pragma(connection, f"busy_timeout = {patience}")
    try:
        yield
    finally:
        _pragma(connection, f"busy_timeout = {usual}")


def check_fts(connection: Connection) -> None:
    """Have the full-text index check itself; the database raises its error where it is damaged."""
    connection.execute(text("INSERT INTO note_fts (note_fts) VALUES ('integrity-check')"))


def damage(connection: Connection) -> list[str]:
    """Return what SQLite finds wrong with its file."""
    return [str(row[0]) for row in connection.execute(text("PRAGMA integrity_check")) if row[0] != "ok"]


def lost_references(connection: Connection) -> list[str]:
    """Return the rows that refer to a row which does not exist, as `table:row`."""
    return [f"{child}:{rid}" for child, rid, _, _ in connection.execute(text("PRAGMA foreign_key_check"))]


def rows_with(connection: Connection, box: str | None, words: Sequence[str]) -> list[NDArray[np.int64]]:
    """Return for each word the row ids of the notes of `box`, or of all, that hold it, by its stem, ascending.

    A word's row ids come as one text: fetching thousands of rows one by one takes longer than finding them.
    """
    here = "" if box is None else f'box : "{box_word(box)}" AND '
    cursor = connection.connection.cursor()
    found = []
    try:
        for word in words:
            quoted = word.replace('"', '""')
            cursor.execute(_ROWS_WITH, (f'{here}body : "{quoted}"',))
            row = cursor.fetchone()
            found.append(_numbers(row[0] if row else None))
    finally:
        cursor.close()
    return found


def _numbers(listed: str | None) -> NDArray[np.int64]:
    return np.sort(np.fromstring(listed, dtype=np.int64, sep=",")) if listed else np.zeros(0, dtype=np.int64)
