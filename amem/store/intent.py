"""What a forgetting has still to do after its transaction, kept in the ledger so that no crash can lose it.

It names nothing that was forgotten: Chroma's collections have names made of hashes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, select

from amem.store import schema
from amem.values import Frozen

if TYPE_CHECKING:
    from sqlalchemy import Connection

_KEY = "erasing"
_meta, _box = schema.meta.c, schema.box.c


class Intent(Frozen):
    """What is left to do."""

    turn: int = 0
    """Grows with every forgetting: what was done for an earlier one is not enough for a later one."""
    files: bool = False
    """The ledger's own files may still hold what its tables do not."""
    index: bool = False
    """Likewise Chroma's."""
    collections: tuple[str, ...] = ()
    """Collections that have to be made anew."""

    def __bool__(self) -> bool:
        return self.files or self.index


def read(connection: Connection) -> Intent:
    """Return what is left to do; false where there is nothing."""
    value = connection.execute(select(_meta.value).where(_meta.key == _KEY)).scalar()
    return Intent() if value is None else Intent.model_validate_json(value)


def declare(connection: Connection, box: str) -> None:
    """Note down, in the transaction that erases something of a box, what has to follow."""
    now = read(connection)
    name = connection.execute(select(_box.collection).where(_box.name == box)).scalar()
    names = sorted({*now.collections, *([] if name is None else [name])})
    _write(connection, Intent(turn=now.turn + 1, files=True, index=True, collections=tuple(names)))


def done(connection: Connection, intent: Intent, *, files: bool = False, index: bool = False) -> None:
    """Note down that a part is done, unless there was another forgetting meanwhile."""
    now = read(connection)
    if now.turn == intent.turn:
        left = {"files": now.files and not files, "index": now.index and not index}
        _write(connection, now.model_copy(update={**left, **({"collections": ()} if index else {})}))


def _write(connection: Connection, intent: Intent) -> None:
    """The turn outlives what was to be done, or a later forgetting could be taken for an earlier one."""
    connection.execute(delete(schema.meta).where(_meta.key == _KEY))
    connection.execute(insert(schema.meta).values(key=_KEY, value=intent.model_dump_json()))
