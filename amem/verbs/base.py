"""What every verb stands on: the rooms of a memory, and one box of them."""

from __future__ import annotations

import logging
from asyncio import to_thread
from typing import TYPE_CHECKING

from amem.errors import EmbeddingError, InputError, NoteNotFound
from amem.ids import is_id
from amem.ingest.vectors import embed_missing
from amem.ingest.worker import Worker
from amem.intake import box_name
from amem.model import DEFAULT_BOX
from amem.values import as_utc
from amem.view import View

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from amem.model import Note
    from amem.rooms import Rooms

log = logging.getLogger("amem")


class Verbs:
    """A memory, seen through one of its boxes."""

    def __init__(self, rooms: Rooms, box: str | View = DEFAULT_BOX, *, owner: bool = True) -> None:
        self._rooms = rooms
        self._view = View(box) if isinstance(box, str) else box
        self._box = self._view.box
        self._owner = owner
        self._worker = Worker(rooms)

    @property
    def name(self) -> str:
        """The name of this view's box."""
        return self._box

    @property
    def agent_id(self) -> str | None:
        """Who writes through this view; None where each text names its own."""
        return self._view.agent_id

    @property
    def read_only(self) -> bool:
        """Whether this view may only read."""
        return self._view.read_only

    async def get(self, note_id: str) -> Note:
        """Return one note.

        Raises:
            NoteNotFound: there is no such note in this box.
        """
        wanted = [note_id] if is_id(note_id) else []
        found = await to_thread(self._rooms.ledger.get, wanted, boxes=[self._box])
        if note_id not in found:
            raise NoteNotFound(f"there is no note {note_id!r} in the box {self._box!r}")
        return found[note_id]

    async def _embed_missing(self) -> None:
        """Embed what has no vector: a failed embedder or a killed process left it, and words alone find it."""
        try:
            await embed_missing(self._rooms, self._box)
        except EmbeddingError as error:
            log.warning("some notes have no vector yet, and are found by their words: %s", error)

    def _moment(self, now: datetime | None) -> datetime:
        return self._rooms.now() if now is None else as_utc(now)

    def _boxes(self, boxes: Sequence[str] | None) -> Sequence[str]:
        if boxes is None:
            return [self._box]
        if not self._owner:
            raise InputError("a view of one box cannot search others; ask the memory itself")
        return [box_name(name) for name in dict.fromkeys(boxes)]
