"""The bytes of an embedded Chroma: what was deleted in it stays in its files until they are written anew (P6).

A collection that held something forgotten is dropped, its folder removed and Chroma's database written anew; the
ledger feeds the box again later. Where that cannot be done, since the database is damaged or of another version, the
whole folder goes: the ledger has all of it.
"""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from amem.errors import IndexUnavailable
from amem.store.chroma import ChromaIndex
from amem.store.folder import FOLDER, Graphs, remove
from amem.store.lock import Holder, IndexLock
from amem.store.probe import probe

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

    from amem.store.outbox import LedgerVectors

_DATABASE = "chroma.sqlite3"


def compact(directory: Path, doomed: Collection[str], ledger: LedgerVectors) -> None:
    """Write an embedded Chroma anew without the collections `doomed`, and without all that no box has.

    Raises:
        IndexUnavailable: another process has it open, or its files cannot be removed.
    """
    if not (directory / FOLDER).exists():
        return
    lock = IndexLock.acquire(directory)
    if isinstance(lock, Holder):
        raise IndexUnavailable(f"Chroma is open in {lock}")
    clean = False
    try:
        _compact(directory, doomed, ledger, was_dirty=lock.was_dirty)
        clean = True
    finally:
        lock.release(clean=clean)


def _compact(directory: Path, doomed: Collection[str], ledger: LedgerVectors, *, was_dirty: bool) -> None:
    ledger.release_collections([box for box, name in ledger.collections().items() if name in doomed])
    kept = set(ledger.collections().values())
    try:
        if was_dirty:
            probe(directory)
        if _names(directory) - kept:
            _drop_all_but(directory, kept)
        _write_anew(directory)
    except (IndexUnavailable, sqlite3.Error):
        ledger.release_collections()
        remove(directory)


def drop_on_server(url: str, doomed: Collection[str], ledger: LedgerVectors) -> None:
    """Drop collections on a Chroma server; its own files are its own matter.

    Raises:
        IndexUnavailable: the server cannot be reached, or fails.
    """
    index = ChromaIndex.server(url)
    ledger.release_collections([box for box, name in ledger.collections().items() if name in doomed])
    for name in doomed:
        index.drop(name)
    index.close()


def _names(directory: Path) -> set[str]:
    """Return the collections there are, without loading Chroma."""
    return set(_asked(directory, "SELECT name FROM collections"))


def _asked(directory: Path, *statements: str) -> list[str]:
    with closing(sqlite3.connect(directory / FOLDER / _DATABASE, isolation_level=None)) as raw:
        return [row[0] for statement in statements for row in raw.execute(statement)]


def _drop_all_but(directory: Path, kept: Collection[str]) -> None:
    index = ChromaIndex.embedded(directory)
    for name in index.names().difference(kept):
        index.drop(name)
    index.close()


def _write_anew(directory: Path) -> None:
    """Remove the folders of no collection, blank graphs that were never saved, leave no free page in the database."""
    used = set(_asked(directory, "SELECT id FROM segments"))
    for folder in (directory / FOLDER).iterdir():
        if folder.is_dir() and folder.name not in used:
            shutil.rmtree(folder)
    Graphs(directory / FOLDER).blank()
    _asked(directory, "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)")
