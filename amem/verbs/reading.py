"""Verbs that look at notes, links and history."""

from __future__ import annotations

from asyncio import to_thread
from typing import TYPE_CHECKING, Any

from amem.errors import InputError
from amem.filters import make_filter
from amem.intake import question_text
from amem.recall.explain import explain
from amem.store.selecting import of_source
from amem.store.succession import leading_links
from amem.verbs.base import Verbs

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from amem.model import Explanation, Link, Note, Page, Revision, Stats

MAX_PAGE = 1000


class Reading(Verbs):
    """Looking: nothing here changes anything, or asks a language model."""

    async def explain(
        self,
        question: str,
        note_id: str,
        *,
        k: int = 10,
        budget: int | None = None,
        now: datetime | None = None,
        reconstruct: bool | None = None,
        **filters: Any,
    ) -> Explanation:
        """Say why a note is found for a question, or why it is not: rank and score, features, link, filter, budget.

        Args:
            question: as it was asked.
            note_id: the note one wonders about.
            k: that of `search`.
            budget: say it of `recall` within so many tokens, instead of `search`.
            now: as in `search`; likewise `reconstruct` and `filters`. No language model is asked.
            reconstruct: see `now`.
            filters: see `now`.

        Raises:
            NoteNotFound: there is no such note in this box.
            InputError: as `search`.
        """
        note, given, moment = await self.get(note_id), make_filter(**filters), self._moment(now)
        asked = question_text(question)
        return await explain(
            self._rooms, note, asked, k=k, budget=budget, given=given, now=moment, reconstruct=reconstruct
        )

    async def by_source(self, source: str) -> Note | None:
        """Return the note that was added with this `source`, or None where there is none in this box."""
        return await to_thread(of_source, self._rooms.ledger.database, self._box, source)

    async def list(self, *, limit: int = 100, after: str | None = None, **filters: Any) -> Page:
        """Return notes in the order they were accepted, a page at a time.

        Args:
            limit: notes a page, 1 to 1000.
            after: the `next` of the page before.
            filters: as in `search`.
        """
        if not 1 <= limit <= MAX_PAGE:
            raise InputError(f"limit is {limit}; it must be 1 to {MAX_PAGE}")
        given = make_filter(**filters)
        return await to_thread(self._rooms.ledger.page, self._box, given, after=after, limit=limit)

    async def history(self, note_id: str) -> Sequence[Revision]:
        """Return every change of a note, oldest first.

        Raises:
            NoteNotFound: there is no such note in this box.
        """
        await self.get(note_id)
        return await to_thread(self._rooms.ledger.revisions, self._box, note_id=note_id)

    async def links(self, note_id: str) -> Sequence[Link]:
        """Return the links that touch a note, whichever end it is.

        Raises:
            NoteNotFound: there is no such note in this box.
        """
        await self.get(note_id)
        return await to_thread(self._rooms.ledger.links_of, [note_id])

    async def neighbours(self, note_id: str) -> Sequence[Note]:
        """Return the notes linked with a note, or with one whose place it took, in the order the links were made.

        What took the place of a linked note stands for it.

        Raises:
            NoteNotFound: there is no such note in this box.
        """
        await self.get(note_id)
        links = await to_thread(leading_links, self._rooms.ledger.database, [note_id])
        others = list(dict.fromkeys(link.other(note_id) for link in links))
        found = await to_thread(self._rooms.ledger.get, others, boxes=[self._box])
        return [found[other] for other in others if other in found]

    async def boxes(self) -> Sequence[str]:
        """Return the names of all boxes, in the order in which they came to be (only on a memory, not on a box view).

        Raises:
            InputError: this is a view of one box.
        """
        if not self._owner:
            raise InputError("a view of one box cannot see others; ask the memory itself")
        return await to_thread(self._rooms.ledger.boxes)

    async def stats(self) -> Stats:
        """Return counts of this box, what its calls have cost, and how its search works now."""
        how = await to_thread(self._rooms.index.how, self._box)
        return await to_thread(self._rooms.ledger.stats, self._box, index=how)
