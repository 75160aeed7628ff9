"""The ledger's tables. Portable SQL only; what SQLite alone understands is in `sqlite.py`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.types import TypeDecorator

HEAD = "0003"
"""The migration these tables stand at; Alembic is loaded only where a database says otherwise."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_NAMES = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s",
    "pk": "pk_%(table_name)s",
}


class Micros(TypeDecorator[datetime]):
    """A moment in UTC as whole microseconds since 1970: exact, sortable, the same in every database."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: object) -> int | None:  # noqa: ARG002 - SQLAlchemy's signature
        """Turn a moment into microseconds."""
        if value is None:
            return None
        since = value - _EPOCH
        return (since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds

    def process_result_value(self, value: int | None, dialect: object) -> datetime | None:  # noqa: ARG002 - likewise
        """Turn microseconds into a moment."""
        return None if value is None else _EPOCH + timedelta(microseconds=value)


metadata = MetaData(naming_convention=_NAMES)


def _note_id(*, primary_key: bool = False) -> Column[str]:
    key = ForeignKey("note.id", ondelete="CASCADE")
    return Column("note_id", String(36), key, primary_key=primary_key, nullable=False)


_TAKEN = text("superseded_by IS NOT NULL")
"""Few notes have been superseded, and the others need no place in an index of it."""

meta = Table(
    "meta",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("value", Text, nullable=False),
    sqlite_with_rowid=False,
)

box = Table(
    "box",
    metadata,
    Column("name", String(255), primary_key=True),
    Column("revision", BigInteger, nullable=False),  # grows with every text written
    Column(
        "epoch", BigInteger, nullable=False
    ),  # grows with what a revision does not tell: deletions, other times and speakers
    Column("collection", String(64)),  # its Chroma collection, where it has one
    Column("holes", BigInteger, nullable=False, server_default="0"),  # places in its graph that Chroma cannot use again
    Column("created_at", Micros, nullable=False),
    sqlite_with_rowid=False,
)

call = Table(
    "call",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("stage", String(16), nullable=False),
    Column("model", Text, nullable=False),
    Column("prompt", String(255), nullable=False),
    Column("created_at", Micros, nullable=False),
    sqlite_autoincrement=True,
)

# Every note whose text a call saw, and at which version of the note: what forgetting must follow. Version 0 says that
# the call saw nothing that any model wrote, only the turn itself. It has no index by note, since one would cost every
# commit a page for each neighbour, and forgetting, which is seldom, reads the whole file anyway.
call_shown = Table(
    "call_shown",
    metadata,
    Column("call_id", Integer, ForeignKey("call.id", ondelete="CASCADE"), primary_key=True),
    Column("note_id", String(36), primary_key=True),
    Column("version", Integer, nullable=False),
    sqlite_with_rowid=False,
)

note = Table(
    "note",
    metadata,
    Column("rid", Integer, primary_key=True),  # the FTS row; VACUUM may renumber implicit row ids
    Column("id", String(36), nullable=False, unique=True),
    Column("box", String(255), ForeignKey("box.name"), nullable=False),
    Column("agent_id", Text),
    Column("session_id", Text),
    Column("position", Integer),
    Column("content", Text, nullable=False),
    Column("speaker", Text),
    Column("source_key", Text),  # the caller's id of the message; unique in the box
    Column("sources", JSON, nullable=False),
    Column("trust", String(16), nullable=False),
    Column("occurred_at", Micros, nullable=False),
    Column("created_at", Micros, nullable=False),
    Column("keywords", JSON, nullable=False),
    Column("tags", JSON, nullable=False),
    Column("context", Text, nullable=False),
    Column("pinned", JSON, nullable=False),
    Column("status", String(16), nullable=False),
    Column("pending_reason", String(16)),
    Column("error", Text),
    Column("valid_from", Micros),
    Column("valid_to", Micros),
    Column("superseded_by", String(36)),
    Column("call_id", Integer, ForeignKey("call.id")),
    Column("metadata", JSON, nullable=False),
    Column("version", Integer, nullable=False),
    Column("unlearned", Integer, nullable=False),  # the version in which forgetting last took something out of it, or 0
    Column("kind", String(16), nullable=False, server_default="note"),
    Column("about", JSON(none_as_null=True)),  # the parts of a fact or an episode
    UniqueConstraint("box", "source_key"),
    UniqueConstraint("box", "session_id", "position"),
    Index(None, "box", "status"),
    Index(None, "box", "kind"),
    Index(None, "superseded_by", sqlite_where=_TAKEN, postgresql_where=_TAKEN),
    sqlite_autoincrement=True,
)

vector = Table(
    "vector",
    metadata,
    _note_id(primary_key=True),
    Column("box", String(255), nullable=False),
    Column("revision", BigInteger, nullable=False),
    Column("data", LargeBinary, nullable=False),  # float32, little endian
    Index(None, "box", "revision"),
)

link = Table(
    "link",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("box", String(255), nullable=False, index=True),
    Column("source", String(36), ForeignKey("note.id", ondelete="CASCADE"), nullable=False),
    Column("target", String(36), ForeignKey("note.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("relation", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("strength", Float, nullable=False),
    Column("call_id", Integer, ForeignKey("call.id")),
    Column("created_at", Micros, nullable=False),
    UniqueConstraint("source", "target"),
    sqlite_autoincrement=True,
)

revision = Table(
    "revision",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("box", String(255), nullable=False, index=True),
    Column("note_id", String(36), ForeignKey("note.id", ondelete="CASCADE"), nullable=False, index=True),
    Column("field", String(32), nullable=False),
    Column("before", JSON(none_as_null=False)),
    Column("after", JSON(none_as_null=False)),
    Column("kind", String(16), nullable=False),
    Column("undoes", Integer),
    Column("undone", Boolean, nullable=False),
    Column("call_id", Integer, ForeignKey("call.id")),
    Column("version", Integer),  # which version of the note it led to; a link leads to none
    Column("created_at", Micros, nullable=False),
    Column("agent_id", Text),  # who brought it about
    sqlite_autoincrement=True,
)

revision_cause = Table(
    "revision_cause",
    metadata,
    Column("revision_id", Integer, ForeignKey("revision.id", ondelete="CASCADE"), primary_key=True),
    Column("note_id", String(36), primary_key=True, index=True),
    sqlite_with_rowid=False,
)

outbox = Table(  # what Chroma has still to be told
    "outbox",
    metadata,
    Column("seq", Integer, primary_key=True),
    Column("box", String(255), nullable=False, index=True),
    Column("note_id", String(36), nullable=False),  # no foreign key: Chroma has to be told of deleted ones, too
    sqlite_autoincrement=True,
)

held = Table(  # plans that wait for review; their text is a note's text, so forgetting erases them
    "held",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("box", String(255), nullable=False, index=True),
    Column("plan", Text, nullable=False),
    Column("created_at", Micros, nullable=False),
    sqlite_autoincrement=True,
)

held_note = Table(
    "held_note",
    metadata,
    Column("held_id", Integer, ForeignKey("held.id", ondelete="CASCADE"), primary_key=True),
    Column("note_id", String(36), primary_key=True, index=True),
    sqlite_with_rowid=False,
)

access = Table(  # apart from the note, so that a search never disturbs its version
    "access",
    metadata,
    _note_id(primary_key=True),
    Column("count", Integer, nullable=False),
    Column("last_at", Micros, nullable=False),
    sqlite_with_rowid=False,
)

USAGE_SUMS = ("calls", "failed", "prompt_tokens", "completion_tokens", "seconds", "cost", "unpriced")

usage = Table(
    "usage",
    metadata,
    Column("box", String(255), primary_key=True),
    Column("stage", String(16), primary_key=True),
    Column("model", String(255), primary_key=True),
    Column("calls", Integer, nullable=False),
    Column("failed", Integer, nullable=False),
    Column("prompt_tokens", BigInteger, nullable=False),
    Column("completion_tokens", BigInteger, nullable=False),
    Column("seconds", Float, nullable=False),
    Column("cost", Float, nullable=False),
    Column("unpriced", Integer, nullable=False),
    sqlite_with_rowid=False,
)
