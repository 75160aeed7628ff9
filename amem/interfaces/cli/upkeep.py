"""The verbs that look after the store: doctor and reindex."""

from __future__ import annotations

import typer

from amem.interfaces.cli import parameters as given  # noqa: TC001 - typer reads the annotations at run time
from amem.interfaces.cli.call import call_of


def doctor(ctx: typer.Context, *, as_json: given.Json = False) -> None:
    """Check everything that must hold, and say what `reindex` would repair.

    JSON: a `Report`.
    """
    call_of(ctx)


def reindex(ctx: typer.Context, *, as_json: given.Json = False) -> None:
    """Rebuild the index from the ledger; embed every note anew where the embedding is another one."""
    call_of(ctx)
