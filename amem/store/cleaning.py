"""What a forgetting leaves to do after its transaction: the bytes (P6). What cannot be done waits for the next try."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from amem.errors import IndexUnavailable, LedgerUnavailable
from amem.store import compaction, intent, sqlite

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from pathlib import Path

    from amem.store.ledger import Ledger
    from amem.store.outbox import LedgerVectors

PATIENCE = 5_000
"""Milliseconds that the ledger's files wait for other connections."""


def clean(
    ledger: Ledger,
    vectors: LedgerVectors,
    directory: Path,
    server: str | None = None,
    closed: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> tuple[str, ...]:
    """Do what is left to do, and say of each thing that cannot be done why.

    Args:
        ledger: whose files are written anew.
        vectors: its vectors, from which Chroma is fed again.
        directory: where an embedded Chroma is.
        server: the address of a Chroma server, where that is used.
        closed: keeps Chroma closed in this process while its files are written.
    """
    try:
        left = ledger.unfinished()
        problems = [_clean_files(ledger, left) if left.files else None]
        if left.index:
            with closed():
                problems.append(_clean_index(ledger, vectors, directory, server, left))
    except LedgerUnavailable as error:
        problems = [str(error)]
    return tuple(problem for problem in problems if problem is not None)


def _clean_files(ledger: Ledger, left: intent.Intent) -> str | None:
    """Write the ledger's files without what was erased."""
    database, why = ledger.database, None
    if database.is_sqlite:
        with database.writing() as connection:
            sqlite.rebuild_fts(connection)
        with database.alone() as connection:
            why = sqlite.write_anew(connection, PATIENCE)
    if why is None:
        with database.writing() as connection:
            intent.done(connection, left, files=True)
    return why


def _clean_index(
    ledger: Ledger, vectors: LedgerVectors, directory: Path, server: str | None, left: intent.Intent
) -> str | None:
    """Write Chroma without what was erased."""
    try:
        compaction.compact(directory, left.collections, vectors)
        if server is not None and left.collections:
            compaction.drop_on_server(server, left.collections, vectors)
    except IndexUnavailable as error:
        return str(error)
    with ledger.database.writing() as connection:
        intent.done(connection, left, index=True)
    return None
