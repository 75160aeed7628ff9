"""`amem demo`: an invented conversation becomes a Zettelkasten, and ten questions are answered from it."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from amem.interfaces.cli.call import Call, call_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amem.interfaces.cli.demo_run import Shown


def demo(
    ctx: typer.Context,
    *,
    record: Annotated[
        Path | None,
        typer.Option("--record", metavar="DIR", help="Record the replies of --llm into DIR; it can be interrupted."),
    ] = None,
    all: Annotated[bool, typer.Option("--all", help="Show every note, link and change.")] = False,
) -> None:
    """Watch a conversation become linked, evolving notes that answer questions.

    Without --llm the replies are replayed from recordings, and neither a key nor a network is needed. With
    --llm MODEL (and --api-base URL) that model is asked. It works in a temporary directory unless --dir is given.
    """
    from amem.interfaces.cli import demo_show
    from amem.interfaces.cli.demo_source import choose
    from amem.interfaces.cli.writing import leave_unfinished

    call = call_of(ctx)
    source = choose(call, record)
    call.terminal.say(*demo_show.opening(source))
    with _directory(call) as path:
        shown: Shown = source.run(path, call.terminal)
        call.terminal.say(*demo_show.everything(shown, source, whole=all))
        if call.directory is not None:
            call.terminal.remark(f"look around: amem --dir {path} --box demo list")
    leave_unfinished(call.terminal, shown.pending)


@contextmanager
def _directory(call: Call) -> Iterator[Path]:
    """Yield the directory given by option, or one that is gone afterwards; AMEM_DIR is left alone."""
    from tempfile import TemporaryDirectory

    if call.directory is not None:
        yield call.directory
        return
    with TemporaryDirectory(prefix="amem-demo-") as folder:
        yield Path(folder)
