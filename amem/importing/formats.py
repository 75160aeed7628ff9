"""The formats that can be imported, each with how it is read."""

from __future__ import annotations

from asyncio import to_thread
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from amem.errors import InputError
from amem.exporting import jsonl
from amem.importing.bringing import Imported, bring_in

if TYPE_CHECKING:
    from amem.importing.foreign import Found
    from amem.ingest.worker import Worker
    from amem.rooms import Rooms

Format = Literal["amem", "mem0", "basic-memory", "a-mem", "markdown"]


async def import_from(rooms: Rooms, worker: Worker, box: str, path: str | Path, kind: Format) -> Imported:
    """Bring what a file or folder holds into a box.

    Raises:
        InputError: there is no such format, or nothing could be read; nothing was stored.
    """
    place = Path(path)
    if kind not in get_args(Format):
        raise InputError(f"there is no format {kind!r}; there are {', '.join(get_args(Format))}. Nothing was stored.")
    if kind == "amem":
        found = await to_thread(jsonl.load, rooms, box, place)
        ids = tuple(line.note.id for line in found.notes)
        return Imported(format=kind, added=ids, links=len(found.links), revisions=len(found.revisions))
    return await bring_in(rooms, worker, box, kind, await to_thread(_read, rooms, place, kind))


def _read(rooms: Rooms, path: Path, kind: Format) -> Found:
    from amem.importing import a_mem, basic_memory, mem0, vault

    if kind == "a-mem":
        return a_mem.read(path, rooms.directory)
    if kind == "markdown":
        return vault.read(path)
    return mem0.read(path) if kind == "mem0" else basic_memory.read(path)
