"""The first schema.

Revision ID: 0001
Revises:
Create Date: 2026-11-30
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Create all tables, and on SQLite the full-text index."""
    op.create_table(
        "box",
        sa.Column("name", sa.String(length=255), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("epoch", sa.BigInteger(), nullable=False),
        sa.Column("collection", sa.String(length=64), nullable=True),
        sa.Column("holes", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name="pk_box"),
        sqlite_with_rowid=False,
    )

    op.create_table(
        "call",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("stage", sa.String(length=16), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("prompt", sa.String(length=255), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_call"),
        sqlite_autoincrement=True,
    )

    op.create_table(
        "meta",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("key", name="pk_meta"),
        sqlite_with_rowid=False,
    )

    op.create_table(
        "outbox",
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("box", sa.String(length=255), nullable=False),
        sa.Column("note_id", sa.String(length=36), nullable=False),
        sa.PrimaryKeyConstraint("seq", name="pk_outbox"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_outbox_box", "outbox", ["box"], unique=False)

    op.create_table(
        "held",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("box", sa.String(length=255), nullable=False),
        sa.Column("plan", sa.Text(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_held"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_held_box", "held", ["box"], unique=False)
    op.create_table(
        "held_note",
        sa.Column("held_id", sa.Integer(), nullable=False),
        sa.Column("note_id", sa.String(length=36), nullable=False),
        sa.ForeignKeyConstraint(["held_id"], ["held.id"], name="fk_held_note_held_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("held_id", "note_id", name="pk_held_note"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_held_note_note_id", "held_note", ["note_id"], unique=False)

    op.create_table(
        "usage",
        sa.Column("box", sa.String(length=255), nullable=False),
        sa.Column("stage", sa.String(length=16), nullable=False),
        sa.Column("model", sa.String(length=255), nullable=False),
        sa.Column("calls", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("prompt_tokens", sa.BigInteger(), nullable=False),
        sa.Column("completion_tokens", sa.BigInteger(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("cost", sa.Float(), nullable=False),
        sa.Column("unpriced", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("box", "stage", "model", name="pk_usage"),
        sqlite_with_rowid=False,
    )

    op.create_table(
        "call_shown",
        sa.Column("call_id", sa.Integer(), nullable=False),
        sa.Column("note_id", sa.String(length=36), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["call_id"], ["call.id"], name="fk_call_shown_call_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("call_id", "note_id", name="pk_call_shown"),
        sqlite_with_rowid=False,
    )

    op.create_table(
        "note",
        sa.Column("rid", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("box", sa.String(length=255), nullable=False),
        sa.Column("agent_id", sa.Text(), nullable=True),
        sa.Column("session_id", sa.Text(), nullable=True),
        sa.Column("position", sa.Integer(), nullable=True),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("speaker", sa.Text(), nullable=True),
        sa.Column("source_key", sa.Text(), nullable=True),
        sa.Column("sources", sa.JSON(), nullable=False),
        sa.Column("trust", sa.String(length=16), nullable=False),
        sa.Column("occurred_at", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("keywords", sa.JSON(), nullable=False),
        sa.Column("tags", sa.JSON(), nullable=False),
        sa.Column("context", sa.Text(), nullable=False),
        sa.Column("pinned", sa.JSON(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("pending_reason", sa.String(length=16), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("valid_from", sa.BigInteger(), nullable=True),
        sa.Column("valid_to", sa.BigInteger(), nullable=True),
        sa.Column("superseded_by", sa.String(length=36), nullable=True),
        sa.Column("call_id", sa.Integer(), nullable=True),
        sa.Column("metadata", sa.JSON(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("unlearned", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["box"], ["box.name"], name="fk_note_box"),
        sa.ForeignKeyConstraint(["call_id"], ["call.id"], name="fk_note_call_id"),
        sa.PrimaryKeyConstraint("rid", name="pk_note"),
        sa.UniqueConstraint("box", "session_id", "position", name="uq_note_box_session_id_position"),
        sa.UniqueConstraint("box", "source_key", name="uq_note_box_source_key"),
        sa.UniqueConstraint("id", name="uq_note_id"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_note_box_status", "note", ["box", "status"], unique=False)

    op.create_table(
        "access",
        sa.Column("note_id", sa.String(length=36), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("last_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["note_id"], ["note.id"], name="fk_access_note_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("note_id", name="pk_access"),
        sqlite_with_rowid=False,
    )

    op.create_table(
        "link",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("box", sa.String(length=255), nullable=False),
        sa.Column("source", sa.String(length=36), nullable=False),
        sa.Column("target", sa.String(length=36), nullable=False),
        sa.Column("relation", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("strength", sa.Float(), nullable=False),
        sa.Column("call_id", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["call_id"], ["call.id"], name="fk_link_call_id"),
        sa.ForeignKeyConstraint(["source"], ["note.id"], name="fk_link_source", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["target"], ["note.id"], name="fk_link_target", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_link"),
        sa.UniqueConstraint("source", "target", name="uq_link_source_target"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_link_box", "link", ["box"], unique=False)
    op.create_index("ix_link_target", "link", ["target"], unique=False)

    op.create_table(
        "revision",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("box", sa.String(length=255), nullable=False),
        sa.Column("note_id", sa.String(length=36), nullable=False),
        sa.Column("field", sa.String(length=32), nullable=False),
        sa.Column("before", sa.JSON(), nullable=True),
        sa.Column("after", sa.JSON(), nullable=True),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("undoes", sa.Integer(), nullable=True),
        sa.Column("undone", sa.Boolean(), nullable=False),
        sa.Column("call_id", sa.Integer(), nullable=True),
        sa.Column("version", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["call_id"], ["call.id"], name="fk_revision_call_id"),
        sa.ForeignKeyConstraint(["note_id"], ["note.id"], name="fk_revision_note_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name="pk_revision"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_revision_box", "revision", ["box"], unique=False)
    op.create_index("ix_revision_note_id", "revision", ["note_id"], unique=False)

    op.create_table(
        "vector",
        sa.Column("note_id", sa.String(length=36), nullable=False),
        sa.Column("box", sa.String(length=255), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["note_id"], ["note.id"], name="fk_vector_note_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("note_id", name="pk_vector"),
    )
    op.create_index("ix_vector_box_revision", "vector", ["box", "revision"], unique=False)

    op.create_table(
        "revision_cause",
        sa.Column("revision_id", sa.Integer(), nullable=False),
        sa.Column("note_id", sa.String(length=36), nullable=False),
        sa.ForeignKeyConstraint(
            ["revision_id"], ["revision.id"], name="fk_revision_cause_revision_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("revision_id", "note_id", name="pk_revision_cause"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_revision_cause_note_id", "revision_cause", ["note_id"], unique=False)
    if op.get_bind().dialect.name == "sqlite":
        op.execute("CREATE VIRTUAL TABLE note_fts USING fts5(box, body, tokenize = 'porter unicode61')")
