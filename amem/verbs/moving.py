"""Verbs that take a box elsewhere, and bring in what is elsewhere."""

from __future__ import annotations

from asyncio import to_thread
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amem.errors import InputError
from amem.filters import make_filter
from amem.verbs.base import Verbs
from amem.view import writes

if TYPE_CHECKING:
    from typing import Literal

    from amem.exporting.jsonl import Exported
    from amem.importing.bringing import Imported
    from amem.importing.formats import Format


class Moving(Verbs):
    """Taking a box elsewhere, and bringing in what is elsewhere."""

    async def export(
        self,
        path: str | Path,
        *,
        format: Literal["jsonl", "markdown"] = "jsonl",
        vectors: bool = False,
        **filters: Any,
    ) -> Exported:
        """Write everything about this box, or with filters about a person, say, to a file or folder.

        Args:
            path: where to: a file, which is written whole or not at all; or an empty folder, for `markdown`.
            format: `jsonl` comes back by `import_from` as it was, history included; `markdown` is to be read, opens as
                an Obsidian vault, and comes back without its history.
            vectors: let the vectors come along, in `jsonl`; else they are made anew.
            filters: as in `search`, archived and outdated notes included; with what they let through comes all that
                was distilled from it, and all that took the place of any of it.

        Raises:
            InputError: it cannot be written there, or a filter is refused.
        """
        given = make_filter(**{**filters, "archived": True, "outdated": True}) if filters else None
        rooms, place = self._rooms, Path(path)
        await self._worker.settled()
        await to_thread(rooms.accesses.flush)
        from amem.exporting import jsonl, vault  # seldom needed, and not for nothing

        if format == "jsonl":
            return await to_thread(jsonl.export, rooms, self._box, place, given, vectors=vectors)
        if format != "markdown" or vectors:
            raise InputError(f"format is {format!r}; there are jsonl, with or without vectors, and markdown")
        return await to_thread(vault.export, rooms, self._box, place, given)

    @writes
    async def import_from(self, path: str | Path, *, format: Format = "amem") -> Imported:
        """Bring in what another memory holds: an export of amem, or one of mem0, basic-memory or a-mem.

        An export of amem comes back with the same ids and its whole history, into a box without notes. The pages of one
        (`markdown`) come back as notes with their links, also beside others, without history; a note whose id is taken
        gets another. What comes from elsewhere is known by its source, so that it never comes in twice; `process` then
        builds and links it.

        Args:
            path: a file of `amem` or `mem0`, a vault of `markdown` or `basic-memory`, or the Chroma folder of `a-mem`.
            format: which of these it is.

        Raises:
            InputError: it cannot be read, or there is no room for it; nothing was stored.
        """
        from amem.importing.formats import import_from

        await self._worker.settled()
        done = await import_from(self._rooms, self._worker, self._box, path, format)
        await self._embed_missing()
        await to_thread(self._rooms.index.put, self._box, len(done.added))
        return done
