"""Revisions say which agent brought them about, and whose place a note took is found without reading all.

Revision ID: 0003
Revises: 0002
Create Date: 2026-11-30
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Leave it open who brought about what is there: nobody wrote it down."""
    op.add_column("revision", sa.Column("agent_id", sa.Text(), nullable=True))
    taken = sa.text("superseded_by IS NOT NULL")
    op.create_index("ix_note_superseded_by", "note", ["superseded_by"], sqlite_where=taken, postgresql_where=taken)
