"""Facts and episodes: notes that also say in parts what they are about.

Revision ID: 0002
Revises: 0001
Create Date: 2026-11-30
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Have every note say what kind it is: what is there are plain notes."""
    op.add_column("note", sa.Column("kind", sa.String(length=16), server_default="note", nullable=False))
    op.add_column("note", sa.Column("about", sa.JSON(none_as_null=True), nullable=True))
    op.create_index("ix_note_box_kind", "note", ["box", "kind"])
