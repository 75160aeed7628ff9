"""What the ledger's vectors and texts are made with: recorded once, checked at every write, never mixed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, select, update

from amem.errors import EmbeddingMismatch
from amem.store import schema
from amem.store.prepared import Prepared

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlalchemy import Connection

KEYS = ("embedding", "fingerprint", "dimension", "render")

_MADE_WITH = Prepared(select(schema.meta.c.key, schema.meta.c.value))


def read_meta(connection: Connection) -> dict[str, str]:
    """Return what the ledger says about itself."""
    return dict(_MADE_WITH.rows(connection))


def differences(connection: Connection, about: Mapping[str, str]) -> list[str]:
    """Return the keys whose recorded value is another one."""
    stored = read_meta(connection)
    return [key for key in KEYS if key in stored and stored[key] != about[key]]


def bind(connection: Connection, about: Mapping[str, str]) -> None:
    """Record what embeds the notes, where nothing is recorded yet.

    Raises:
        EmbeddingMismatch: something else is.
    """
    stored = read_meta(connection)
    differs = differences(connection, about)
    if differs:
        was = ", ".join(f"{key} {stored[key]}" for key in differs)
        now = ", ".join(f"{key} {about[key]}" for key in differs)
        raise EmbeddingMismatch(
            f"this memory was embedded with {was}; the settings say {now}. Nothing was mixed or changed."
            " Use the old settings, or run `amem reindex` to embed every note anew."
        )
    for key in KEYS:
        if key not in stored:
            connection.execute(insert(schema.meta).values(key=key, value=about[key]))


def check(connection: Connection, about: Mapping[str, str] | None) -> None:
    """Make sure that what is about to be written is made as the rest is: another process may have reindexed.

    Raises:
        EmbeddingMismatch: it is not.
    """
    if about is not None and differences(connection, about):
        raise EmbeddingMismatch(
            "this memory has been embedded anew with other settings since it was opened here."
            " Nothing was stored or changed; open it again with those settings."
        )


def start_anew(connection: Connection, about: Mapping[str, str] | None) -> None:
    """Drop every vector and record what the next ones are made with: a crash leaves too few vectors, never a mix."""
    connection.execute(delete(schema.vector))
    connection.execute(delete(schema.outbox))
    box = schema.box
    connection.execute(update(box).values(epoch=box.c.epoch + 1, collection=None))
    if about is not None:
        connection.execute(delete(schema.meta).where(schema.meta.c.key.in_(KEYS)))
        bind(connection, about)
