"""Verbs by which a user changes notes, and takes changes back."""

from __future__ import annotations

from asyncio import to_thread
from typing import TYPE_CHECKING

from amem import review
from amem.changes import edit, pinnable, repin, undo_plan
from amem.ingest.correcting import correct, correction
from amem.ingest.vectors import apply
from amem.store.plan import GroundMoved
from amem.verbs.base import Verbs
from amem.view import writes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from pydantic import JsonValue

    from amem.changes import Which
    from amem.model import AddResult, Note, Proposal, Reviewed, Revision, Trust


class Changing(Verbs):
    """Changing by hand: every change is a revision, and can be undone."""

    @writes
    async def update(
        self,
        note_id: str,
        *,
        keywords: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        context: str | None = None,
        speaker: str | None = None,
        occurred_at: datetime | str | None = None,
        metadata: Mapping[str, JsonValue] | None = None,
    ) -> Note:
        """Set fields of a note by hand; keywords, tags and context set so are pinned. Content never changes.

        Raises:
            NoteNotFound: there is no such note in this box.
            InputError: a value is refused; nothing was changed.
        """
        note = await self.get(note_id)
        given = {
            "keywords": keywords, "tags": tags, "context": context, "speaker": speaker,
            "occurred_at": occurred_at, "metadata": metadata,
        }  # fmt: skip
        committed = await apply(self._rooms, self._view.by(edit(note, given, at=self._rooms.now())))
        return committed.notes.get(note_id, note)

    @writes
    async def correct(
        self,
        note_id: str,
        content: str,
        *,
        occurred_at: datetime | str | None = None,
        trust: Trust = "user",
        keywords: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        context: str | None = None,
        metadata: Mapping[str, JsonValue] | None = None,
        wait: bool = True,
        strict: bool = False,
    ) -> AddResult:
        """Put a new note in the place of one that is wrong; that one stays, and `undo(caused_by=…)` brings it back.

        The old one is found where `outdated` ones are asked for. Speaker, session, agent (but for a view that writes
        as another), and what is not given here are as they were.

        Args:
            note_id: the note that is wrong.
            content: what is right.
            occurred_at: since when; the old note held good until then. Default: as the old one, which so never did.
            trust: as in `add`; likewise `keywords`, `tags`, `context`, `metadata`, `wait` and `strict`.
            keywords: see `trust`.
            tags: see `trust`.
            context: see `trust`.
            metadata: see `trust`.
            wait: see `trust`.
            strict: see `trust`.

        Raises:
            NoteNotFound: there is no such note in this box.
            InputError: a value is refused, or another note has taken its place already; nothing was changed.
        """
        old = await self.get(note_id)
        given = {
            "occurred_at": occurred_at, "trust": trust, "keywords": keywords, "tags": tags, "context": context,
            "metadata": metadata, "agent_id": self._view.agent_id,
        }  # fmt: skip
        right = correction(old, content, given)
        accepted = await correct(self._rooms, old, right, agent_id=self._view.agent_id)
        with self._worker.holding([accepted.note]):
            (result,), error = await self._worker.build(self._box, [accepted], wait=wait)
        if strict and error is not None:
            raise error
        return result

    @writes
    async def pin(self, note_id: str, fields: Sequence[str] | None = None) -> Note:
        """Pin fields of a note as they are: no model changes them any more, and upkeep does not archive the note.

        Args:
            note_id: the note.
            fields: of `keywords`, `tags` and `context`; None is all of them.

        Raises:
            NoteNotFound: there is no such note in this box.
            InputError: a field cannot be pinned; nothing was changed.
        """
        wanted = pinnable(fields)
        return await self._repin(note_id, lambda pinned: dict.fromkeys([*pinned, *wanted]))

    @writes
    async def unpin(self, note_id: str, fields: Sequence[str] | None = None) -> Note:
        """Let models change fields of a note again; the arguments are those of `pin`."""
        wanted = pinnable(fields)
        return await self._repin(note_id, lambda pinned: [name for name in pinned if name not in wanted])

    async def _repin(self, note_id: str, change: Callable[[Sequence[str]], Iterable[str]]) -> Note:
        while True:
            note = await self.get(note_id)
            plan = repin(note, change(note.pinned), at=self._rooms.now())
            try:
                return (await apply(self._rooms, self._view.by(plan))).notes[note_id]
            except GroundMoved:  # somebody changed the note in between
                continue

    @writes
    async def undo(self, revision: Which | None = None, *, caused_by: str | None = None) -> Sequence[Revision]:
        """Take back revisions, or everything a note brought about in other notes; all of it or nothing.

        Returns:
            The revisions that record the undoing (which can be undone as well).

        Raises:
            RevisionNotFound: there is no such revision in this box.
            UndoConflict: later changes stand on a changed context; nothing was undone.
        """
        rooms = self._rooms
        while True:
            plan = await to_thread(undo_plan, rooms.ledger, self._box, revision, caused_by, rooms.now())
            try:
                return (await apply(rooms, self._view.by(plan))).revisions
            except GroundMoved:  # somebody changed a note in between: see whether it can still be undone
                continue

    async def review(self) -> Sequence[Proposal]:
        """Return what was held back because a note of low trust reads like an instruction (setting `quarantine`)."""
        return await review.proposals(self._rooms, self._box)

    @writes
    async def accept(self, proposal: int) -> Reviewed:
        """Do what a proposal says; what no longer fits the notes as they are is left out and reported.

        Raises:
            ProposalNotFound: nothing waits under that number in this box.
        """
        return await review.accept(self._rooms, self._box, proposal, agent_id=self._view.agent_id)

    @writes
    async def reject(self, proposal: int) -> Reviewed:
        """Throw a proposal away.

        Raises:
            ProposalNotFound: nothing waits under that number in this box.
        """
        return await review.reject(self._rooms, self._box, proposal)
