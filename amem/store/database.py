"""Opening the ledger's database: engine, schema version, and transactions with readable failures."""

from __future__ import annotations

import logging
import threading
from contextlib import ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING

from sqlalchemy import create_engine, inspect, text
from sqlalchemy.exc import DatabaseError

from amem.errors import LedgerTooNew, LedgerUnavailable
from amem.store import schema, sqlite
from amem.values import canonical_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection, Engine

log = logging.getLogger("amem.store")

_OUR_FAULT = ("DataError", "IntegrityError", "NotSupportedError", "ProgrammingError")
"""Errors of a database driver that say that amem is wrong, not the database: they are not dressed up."""
_PATIENCE = 60.0
"""Seconds that closing waits for those who are still reading."""


class Database:
    """One database, with the schema this version of amem expects."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.engine = _engine(url)
        self.is_sqlite = self.engine.dialect.name == "sqlite"
        self._one_writer = threading.Lock()  # SQLite's busy handler is unfair between threads of one process
        self._door = threading.Condition()
        self._inside = 0
        self._closed = False
        with ExitStack() as unless_opened:
            unless_opened.callback(self.close)
            _bring_to_head(self)
            unless_opened.pop_all()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Give a connection with one consistent view."""
        with self._entered(), self._readable_failures("read"), self.engine.begin() as connection:
            if self.is_sqlite:
                sqlite.begin(connection, writing=False)
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Give a connection whose changes are all kept, on disk, or none is."""
        with self._entered(), self._one_writer, self._readable_failures("written"), self.engine.begin() as connection:
            if self.is_sqlite:
                sqlite.begin(connection, writing=True)
            yield connection

    @contextmanager
    def migrating(self) -> Iterator[Connection]:
        """Give a connection that may recreate tables; whole or not at all, as in `writing`."""
        with (
            self._entered(),
            self._one_writer,
            self._readable_failures("migrated"),
            self.engine.connect() as connection,
            sqlite.without_foreign_keys(connection) if self.is_sqlite else nullcontext(),
            connection.begin(),
        ):
            if self.is_sqlite:
                sqlite.begin(connection, writing=True)
            yield connection

    @contextmanager
    def alone(self) -> Iterator[Connection]:
        """Give a connection outside any transaction, while no other thread writes: for what cannot be in one."""
        with (
            self._entered(),
            self._one_writer,
            self._readable_failures("written anew"),
            self.engine.connect() as connection,
        ):
            yield connection

    @contextmanager
    def _entered(self) -> Iterator[None]:
        """Keep the database open meanwhile; one that was closed would else open itself again, and stay so."""
        with self._door:
            if self._closed:
                raise LedgerUnavailable("this memory was closed. Nothing was changed; open it again.")
            self._inside += 1
        try:
            yield
        finally:
            with self._door:
                self._inside -= 1
                self._door.notify_all()

    @contextmanager
    def _readable_failures(self, verb: str) -> Iterator[None]:
        driver = self.engine.dialect.loaded_dbapi
        try:
            yield
        except (DatabaseError, driver.DatabaseError) as error:
            reason = error.orig if isinstance(error, DatabaseError) else error
            if isinstance(reason, tuple(getattr(driver, name) for name in _OUR_FAULT)):
                raise
            msg = f"the ledger {self.url} could not be {verb}: {reason}. Nothing of this change was kept."
            raise LedgerUnavailable(msg) from error

    def close(self) -> None:
        """Close all connections, once nobody uses one any more; nobody gets one from now on."""
        with self._door:
            self._closed = True
            self._door.wait_for(lambda: not self._inside, _PATIENCE)
        self.engine.dispose()


def _engine(url: str) -> Engine:
    if not url.startswith("sqlite"):
        return create_engine(url, json_serializer=canonical_json)
    engine = create_engine(url, json_serializer=canonical_json, connect_args={"check_same_thread": False})
    sqlite.configure(engine)
    return engine


def _bring_to_head(database: Database) -> None:
    """Create the tables, migrate older ones, refuse newer ones."""
    with database.reading() as connection:
        found = stored_version(connection)
    if found == schema.HEAD:
        return
    if found is None:
        _create(database)
        return
    if found > schema.HEAD:
        msg = (
            f"the ledger {database.url} has schema {found}; this amem knows up to {schema.HEAD}."
            " Nothing was changed; use a newer amem."
        )
        raise LedgerTooNew(msg)
    from amem.store.migrations.upgrade import upgrade  # Alembic costs .2 s, and is seldom needed

    log.info("migrating the ledger from schema %r to %r", found, schema.HEAD)
    with database.migrating() as connection:
        upgrade(connection)


def stored_version(connection: Connection) -> str | None:
    """Return the schema version a database says it has; None where it says nothing, "" before the first."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    row = connection.execute(text("SELECT version_num FROM alembic_version")).first()
    return "" if row is None else str(row[0])


def _create(database: Database) -> None:
    with database.writing() as connection:
        if stored_version(connection) is not None:  # another process was quicker
            return
        schema.metadata.create_all(connection)
        if database.is_sqlite:
            sqlite.create_fts(connection)
        connection.execute(
            text(
                "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL,"
                " CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))"
            )
        )
        connection.execute(text("INSERT INTO alembic_version VALUES (:head)"), {"head": schema.HEAD})
