"""Alembic's entry: run over the connection that `upgrade` brings."""

from __future__ import annotations

from alembic import context

from amem.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    render_as_batch=True,
)
context.run_migrations()
