"""`amem import` of what another memory holds: an export of amem or its pages, or of mem0, basic-memory or a-mem."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from amem.interfaces.cli.terminal import counted, one_line

if TYPE_CHECKING:
    from pathlib import Path

    from amem.importing.bringing import Imported
    from amem.importing.formats import Format
    from amem.interfaces.cli.call import Call

MEMORIES = ("amem", "mem0", "basic-memory", "a-mem", "markdown")
_START = b'{"box":'
_MARK = b'"line":"amem-export"'


def memory_kind(path: Path, kind: str) -> str | None:
    """Return which kind of memory is to be taken over; None where it is a conversation."""
    if kind in MEMORIES:
        return kind
    if kind != "auto":
        return None
    from amem.importing.vault import is_vault

    return "markdown" if path.is_dir() and is_vault(path) else "amem" if _is_export(path) else None


def _is_export(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            start = file.readline(10_000)
    except OSError:
        return False
    return start.startswith(_START) and _MARK in start


def take_over(call: Call, path: Path, kind: str, *, as_json: bool) -> None:
    """Bring a memory in, and say what came of it."""
    done = call.run(lambda memory: memory.import_from(path, format=cast("Format", kind)), create=True)
    if as_json:
        call.terminal.json(done)
    else:
        _tell(call, done)


def _tell(call: Call, done: Imported) -> None:
    known = f", {done.known} known already" if done.known else ""
    parts = (counted(len(done.added), "note"), counted(done.links, "link"), counted(done.revisions, "revision"))
    call.terminal.say(f"{', '.join(parts)} brought in{known}")
    for item in done.skipped:
        call.terminal.warn(f"left out: {one_line(item.what)}: {one_line(item.why)}")
    if done.format not in ("amem", "markdown") and done.added:
        call.terminal.remark("`amem process --all` with a model builds and links what was not built before")
