"""A memory of the benchmark's own: each conversation a box, each of its turns a note, no language model asked."""

from __future__ import annotations

from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from amem.errors import InputError
from amem.memory import AsyncMemory
from amem.opening import open_rooms

from ..datasets.notes import as_notes  # noqa: TID252 - in a wheel, this package has another name
from .box import Box

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from amem.rooms import Rooms
    from amem.settings import Settings

    from ..datasets.conversation import Conversation  # noqa: TID252 - likewise
    from .options import Options


@asynccontextmanager
async def own_memory(settings: Settings, options: Options) -> AsyncIterator[Rooms]:
    """Open the benchmark's memory; it is gone afterwards, unless `options.keep` says where to keep it."""
    with _directory(options.keep) as directory:
        rooms = open_rooms(directory, options.settings(settings))
        async with AsyncMemory(rooms):
            yield rooms


async def indexed(rooms: Rooms, conversation: Conversation, options: Options) -> Box:
    """Store a conversation's turns through the memory's own verbs, and return their box.

    Raises:
        InputError: the box was kept from another file.
    """
    notes = as_notes(conversation.turns)
    await AsyncMemory(rooms, conversation.id, owner=False).add_many(notes)
    if options.index == "chroma":
        rooms.index.drain(conversation.id, force=True)
    box = await Box.read(rooms, conversation.id)
    if [note.content for note in box.notes] != [note.content for note in notes]:
        raise InputError(
            f"{options.keep} keeps other notes of {conversation.id} than the file has; name another folder"
        )
    return box


@contextmanager
def _directory(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        yield keep
        return
    with TemporaryDirectory(prefix="amem-bench-") as folder:
        yield Path(folder)
