"""Verbs that keep a box in order: what is stale, upkeep, forgetting."""

from __future__ import annotations

from asyncio import to_thread
from typing import TYPE_CHECKING, Any

from amem.errors import InputError
from amem.ingest.rebuild import rebuild
from amem.ingest.staleness import staleness
from amem.upkeep.forget import expired as past_retention
from amem.upkeep.forget import forget, select
from amem.upkeep.keeping import Keeper
from amem.upkeep.tidying import tidy
from amem.verbs.base import Verbs
from amem.view import writes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.ingest.rebuilt import Rebuilt
    from amem.ingest.worker import Progress
    from amem.store.receipt import Receipt
    from amem.store.stale import Stale
    from amem.upkeep.tidying import Upkept

_LONGEST_WAIT = 2**31
"""Seconds."""


class Keeping(Verbs):
    """Keeping in order: only `delete` and `forget` cannot be undone."""

    async def stale(self, *, prompt: str | None = None, model: str | None = None) -> Stale:
        """Return what older wordings of the prompts made: notes they built, links, changes to notes, and memories.

        Memories are what a call wrote whole: what was distilled (prompt `distill`), and summaries (`consolidate`).

        Args:
            prompt: only what this prompt made, by name (`link_evolve`), or by label for one wording of it.
            model: what any other model than this one made is stale as well.

        Raises:
            InputError: there is no such prompt.
        """
        is_stale = await to_thread(staleness, self._rooms, prompt=prompt, model=model)
        return await to_thread(self._rooms.ledger.stale_listed, self._box, is_stale)

    @writes
    async def rebuild(
        self,
        *,
        prompt: str | None = None,
        model: str | None = None,
        limit: int | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Rebuilt:
        """Make anew what is stale, and only that; what fails stays as it was, and another run goes on from there.

        Notes keep what the user pinned and what later notes added; stale links and changes are taken back and made
        anew. What was distilled or summed up is so again, from the turns or notes that it cites: what is told word for
        word as before stays, the rest goes to the archive, and a summary has the new one in its place. What the user
        changed stays (`kept`). `undo(rebuilt.revisions)` takes all of it back.

        Args:
            prompt: as in `stale`; likewise `model`, which must be the one that is asked.
            model: see `prompt`.
            limit: at most this many notes, and those that brought a change about together with one of them.
            dry_run: only say what would be made anew.
            progress: called after each window, first of those that are built, then of those that are linked.

        Raises:
            InputError: there is no such prompt, or no such model is asked.
        """
        rooms = self._rooms
        asked = None if rooms.llm is None else rooms.llm.model
        if model not in (None, asked):
            raise InputError(f"the model asked is {asked}, not {model}: what it makes would be stale again")
        if limit is not None and limit < 0:
            raise InputError(f"limit is {limit}; it must be 0 or more")
        await self._worker.settled()
        is_stale = await to_thread(staleness, rooms, prompt=prompt, model=model)
        return await rebuild(
            rooms, self._worker, self._box, is_stale, limit=limit, dry_run=dry_run, progress=progress
        )  # fmt: skip

    @writes
    async def upkeep(self, *, dry_run: bool = False, limit: int | None = None) -> Upkept:
        """Archive notes that have faded, let one note stand for its repeats, and sum up what is near each other.

        Nothing is erased: archived notes are found with `archived=True`, those that another one stands for with
        `outdated=True`, and `undo(upkept.revisions)` takes all of it back. docs/upkeep.md says when a note has faded,
        and what may become one. Without a model, nothing is summed up.

        Args:
            dry_run: only say what would be done; no model is asked.
            limit: at most so many summaries, each of which is a call.

        Raises:
            InputError: the limit is negative.
        """
        if limit is not None and limit < 0:
            raise InputError(f"limit is {limit}; it must be 0 or more")
        await self._worker.settled()
        return await tidy(self._rooms, self._box, dry_run=dry_run, limit=limit, agent_id=self._view.agent_id)

    @writes
    async def upkeep_every(self, seconds: float | None) -> None:
        """Do `upkeep` of this box in the background, again and again, until the memory is closed; None ends it.

        Args:
            seconds: how long to wait before each time.

        Raises:
            InputError: `seconds` is not positive.
        """
        if seconds is not None and not 0 < seconds < _LONGEST_WAIT:
            raise InputError(f"seconds is {seconds}; it must be more than 0, and less than {_LONGEST_WAIT:g}")
        while (before := self._rooms.keepers.pop(self._box, None)) is not None:
            await before.stop()
        if seconds is not None:
            self._rooms.keepers[self._box] = Keeper(self._rooms, self._box, seconds)

    @writes
    async def delete(self, note_id: str) -> Receipt:
        """Erase a note, and what came of it in others; false where there is no such note. See `forget`."""
        return await self.forget([note_id])

    @writes
    async def forget(
        self,
        notes: Sequence[str] | None = None,
        *,
        source: str | None = None,
        whole_box: bool = False,
        expired: bool = False,
        dry_run: bool = False,
        **filters: Any,
    ) -> Receipt:
        """Erase notes of this box, and everything that came of them; what is given must hold, as in `search`.

        Whatever any call made that had seen one of them, or something that came of them, is taken back or waits to be
        made anew. Then the files are written anew, and the texts are looked for on every path.

        Args:
            notes: ids.
            source: where they came from; `chat` has `chat/7` as well.
            whole_box: everything that this box has, and its name; with nothing besides.
            expired: what was learned longer ago than the setting `retention_days`, but for notes whose metadata says
                `{"keep": true}`; with nothing besides.
            dry_run: only say what would be erased, taken back and made anew.
            filters: `session_id`, `agent_id`, `speaker`, `tags`, `since`, `until`, `metadata`. Archived notes count.

        Returns:
            What was done, what could not be done yet, and where the texts were looked for; false if there was nothing.

        Raises:
            InputError: nothing is named, or an argument is refused; nothing was forgotten.
        """
        rooms = self._rooms
        if expired:
            if notes is not None or source is not None or whole_box or filters:
                raise InputError("expired says by itself what to forget; give nothing besides. Nothing was forgotten.")
            wanted = past_retention(rooms.settings, rooms.now())
        else:
            wanted = select(notes=notes, source=source, whole_box=whole_box, filters=filters)
        await self._worker.settled()
        receipt = await forget(rooms, self._box, wanted, dry_run=dry_run)
        if receipt and not dry_run:
            await self._embed_missing()
        return receipt
