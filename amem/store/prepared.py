"""Statements that every note needs: compiled once for each database, then run straight on its driver.

SQLAlchemy's own execution of such a statement takes ten times as long as the database does, and a note needs twenty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Select, bindparam
from sqlalchemy.sql.compiler import SQLCompiler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sqlalchemy import BindParameter, Connection, TextClause
    from sqlalchemy.engine.interfaces import DBAPICursor, Dialect
    from sqlalchemy.sql.dml import UpdateBase

    Statement = UpdateBase | TextClause | Select[Any]
    Turn = Callable[[Any], Any]
    Bind = tuple[str, Turn | None]
    Row = Mapping[str, Any]


_SIZES = (4, 16, 64, 400)


class Prepared:
    """One statement with named variables; `columns` are those that an INSERT fills."""

    def __init__(self, statement: Statement, columns: Sequence[str] | None = None) -> None:
        self._statement = statement
        self._columns = columns
        self._compiled: dict[str, _Compiled] = {}

    def run(self, connection: Connection, rows: Sequence[Row]) -> int:
        """Run it for every row; return how many rows of the database were touched."""
        if not rows:
            return 0
        sql, values = self._bound(connection, rows)
        cursor = _cursor(connection)
        try:
            if len(values) == 1:
                cursor.execute(sql, values[0])
            else:
                cursor.executemany(sql, values)
            return int(cursor.rowcount)
        finally:
            cursor.close()

    def keys(self, connection: Connection, rows: Sequence[Row]) -> list[int]:
        """Run it, with its RETURNING of one whole number, for every row; return the numbers, in order.

        A row for which nothing is returned has no number.
        """
        sql, values = self._bound(connection, rows)
        cursor = _cursor(connection)
        found: list[int] = []
        try:
            for row in values:
                cursor.execute(sql, row)
                found += [int(key) for (key,) in cursor.fetchall()]
        finally:
            cursor.close()
        return found

    def rows(self, connection: Connection, **values: Any) -> list[Any]:
        """Run a SELECT of texts and whole numbers; return its rows as the driver gives them."""
        sql, (bound,) = self._bound(connection, [values])
        cursor = _cursor(connection)
        try:
            cursor.execute(sql, bound)
            return list(cursor.fetchall())
        finally:
            cursor.close()

    def records(self, connection: Connection, **values: Any) -> list[dict[str, Any]]:
        """Run a SELECT; return its rows by column name, each value as its column's type has it."""
        compiled = self._compiled_for(connection)
        return [compiled.record(row) for row in self.rows(connection, **values)]

    def _bound(self, connection: Connection, rows: Sequence[Row]) -> tuple[str, list[Any]]:
        compiled = self._compiled_for(connection)
        return compiled.sql, [compiled.bound(row) for row in rows]

    def _compiled_for(self, connection: Connection) -> _Compiled:
        dialect = connection.dialect
        compiled = self._compiled.get(dialect.name)
        if compiled is None:
            compiled = self._compiled[dialect.name] = _compile(self._statement, dialect, self._columns)
        return compiled


class PreparedFor:
    """A SELECT about a list of values, prepared for lists of a few sizes; a list is filled up with its last value."""

    def __init__(self, statement: Callable[[list[BindParameter[Any]]], Select[Any]]) -> None:
        self._statement = statement
        self._by_size: dict[int, Prepared] = {}

    def rows(self, connection: Connection, values: Sequence[Any], **others: Any) -> list[Any]:
        """Run it for all values, in pieces where there are many; return the rows as the driver gives them."""
        return [row for of, named in self._pieces(values) for row in of.rows(connection, **named, **others)]

    def records(self, connection: Connection, values: Sequence[Any]) -> list[dict[str, Any]]:
        """Run it for all values; return the rows by column name, each value as its column's type has it."""
        return [row for of, named in self._pieces(values) for row in of.records(connection, **named)]

    def _pieces(self, values: Sequence[Any]) -> Iterator[tuple[Prepared, dict[str, Any]]]:
        for start in range(0, len(values), _SIZES[-1]):
            some = values[start : start + _SIZES[-1]]
            size = next(size for size in _SIZES if size >= len(some))
            padded = [*some, *[some[-1]] * (size - len(some))]
            yield self._of(size), {f"v{i}": value for i, value in enumerate(padded)}

    def _of(self, size: int) -> Prepared:
        if size not in self._by_size:
            self._by_size[size] = Prepared(self._statement([bindparam(f"v{i}") for i in range(size)]))
        return self._by_size[size]


class _Compiled(NamedTuple):
    """A statement in one database's words, and how its variables get there."""

    sql: str
    binds: list[Bind]
    constants: dict[str, Any]
    positional: bool
    results: list[Bind]
    """The columns that a SELECT returns, and how their values get out."""

    def record(self, row: Sequence[Any]) -> dict[str, Any]:
        pairs = zip(self.results, row, strict=True)
        return {name: value if turn is None else turn(value) for (name, turn), value in pairs}

    def bound(self, row: Row) -> Any:
        values = {**self.constants, **row} if self.constants else row
        if self.positional:
            return tuple([values[name] if turn is None else turn(values[name]) for name, turn in self.binds])
        return {name: values[name] if turn is None else turn(values[name]) for name, turn in self.binds}


def _compile(statement: Statement, dialect: Dialect, columns: Sequence[str] | None) -> _Compiled:
    compiled = statement.compile(dialect=dialect, column_keys=None if columns is None else list(columns))
    assert isinstance(compiled, SQLCompiler)
    names = list(compiled.positiontup or compiled.binds)
    return _Compiled(
        sql=str(compiled),
        binds=[(name, compiled.binds[name].type.dialect_impl(dialect).bind_processor(dialect)) for name in names],
        constants={name: bind.value for name, bind in compiled.binds.items() if not bind.required},
        positional=compiled.positiontup is not None,
        results=[
            (column.name, column.type.dialect_impl(dialect).result_processor(dialect, None))
            for column in (statement.selected_columns if isinstance(statement, Select) else ())
        ],
    )


def _cursor(connection: Connection) -> DBAPICursor:
    return connection.connection.cursor()
