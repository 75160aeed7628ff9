"""Bringing an older ledger to the schema of this version: the only module that imports Alembic."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from alembic import command
from alembic.config import Config

from amem.store.schema import HEAD

if TYPE_CHECKING:
    from sqlalchemy import Connection

SCRIPTS = Path(__file__).parent


def upgrade(connection: Connection, revision: str = HEAD, scripts: Path = SCRIPTS) -> None:
    """Run the migrations of a directory up to `revision` over a connection, in its transaction."""
    config = Config()
    config.set_main_option("script_location", str(scripts).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, revision)
