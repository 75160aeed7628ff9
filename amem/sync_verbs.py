"""The verbs of `amem.verbs` without async."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from pathlib import Path
    from typing import Literal

    from pydantic import JsonValue

    from amem.changes import Which
    from amem.exporting.jsonl import Exported
    from amem.importing.bringing import Imported
    from amem.importing.formats import Format
    from amem.ingest.rebuilt import Rebuilt
    from amem.ingest.worker import Progress
    from amem.memory import AsyncMemory
    from amem.model import (
        AddResult,
        Explanation,
        Link,
        Note,
        Page,
        Proposal,
        Reviewed,
        Revision,
        Stats,
        Trust,
    )
    from amem.store.receipt import Receipt
    from amem.store.stale import Stale
    from amem.sync_loop import Loop
    from amem.upkeep.tidying import Upkept


class SyncVerbs:
    """A memory, seen through one of its boxes; each verb is that of `AsyncMemory`."""

    def __init__(self, inner: AsyncMemory, loop: Loop, *, owner: bool = True) -> None:
        self._inner = inner
        self._loop = loop
        self._owner = owner

    @property
    def name(self) -> str:
        """The name of this view's box."""
        return self._inner.name

    @property
    def agent_id(self) -> str | None:
        """Who writes through this view; see `AsyncMemory.agent_id`."""
        return self._inner.agent_id

    @property
    def read_only(self) -> bool:
        """Whether this view may only read; see `AsyncMemory.read_only`."""
        return self._inner.read_only

    def get(self, note_id: str) -> Note:
        """Return one note; see `AsyncMemory.get`."""
        return self._loop.run(self._inner.get(note_id))

    def by_source(self, source: str) -> Note | None:
        """Return the note that was added with this source; see `AsyncMemory.by_source`."""
        return self._loop.run(self._inner.by_source(source))

    def list(self, *, limit: int = 100, after: str | None = None, **filters: Any) -> Page:
        """Return notes a page at a time; see `AsyncMemory.list`."""
        return self._loop.run(self._inner.list(limit=limit, after=after, **filters))

    def explain(
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
        """Say why a note is found for a question, or why it is not; see `AsyncMemory.explain`."""
        return self._loop.run(
            self._inner.explain(
                question, note_id, k=k, budget=budget, now=now, reconstruct=reconstruct, **filters
            )
        )  # fmt: skip

    def history(self, note_id: str) -> Sequence[Revision]:
        """Return every change of a note; see `AsyncMemory.history`."""
        return self._loop.run(self._inner.history(note_id))

    def links(self, note_id: str) -> Sequence[Link]:
        """Return the links that touch a note; see `AsyncMemory.links`."""
        return self._loop.run(self._inner.links(note_id))

    def neighbours(self, note_id: str) -> Sequence[Note]:
        """Return the notes linked with a note; see `AsyncMemory.neighbours`."""
        return self._loop.run(self._inner.neighbours(note_id))

    def boxes(self) -> Sequence[str]:
        """Return the names of all boxes; see `AsyncMemory.boxes`."""
        return self._loop.run(self._inner.boxes())

    def stats(self) -> Stats:
        """Return counts and costs; see `AsyncMemory.stats`."""
        return self._loop.run(self._inner.stats())

    def update(
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
        """Set fields of a note by hand; see `AsyncMemory.update`."""
        return self._loop.run(
            self._inner.update(
                note_id, keywords=keywords, tags=tags, context=context, speaker=speaker,
                occurred_at=occurred_at, metadata=metadata,
            )
        )  # fmt: skip

    def correct(
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
        """Put a new note in the place of a wrong one; see `AsyncMemory.correct`."""
        return self._loop.run(
            self._inner.correct(
                note_id, content, occurred_at=occurred_at, trust=trust, keywords=keywords, tags=tags,
                context=context, metadata=metadata, wait=wait, strict=strict,
            )
        )  # fmt: skip

    def pin(self, note_id: str, fields: Sequence[str] | None = None) -> Note:
        """Pin fields of a note as they are; see `AsyncMemory.pin`."""
        return self._loop.run(self._inner.pin(note_id, fields))

    def unpin(self, note_id: str, fields: Sequence[str] | None = None) -> Note:
        """Let models change fields of a note again; see `AsyncMemory.unpin`."""
        return self._loop.run(self._inner.unpin(note_id, fields))

    def undo(self, revision: Which | None = None, *, caused_by: str | None = None) -> Sequence[Revision]:
        """Take changes back; see `AsyncMemory.undo`."""
        return self._loop.run(self._inner.undo(revision, caused_by=caused_by))

    def review(self) -> Sequence[Proposal]:
        """Return what was held back; see `AsyncMemory.review`."""
        return self._loop.run(self._inner.review())

    def accept(self, proposal: int) -> Reviewed:
        """Do what a proposal says; see `AsyncMemory.accept`."""
        return self._loop.run(self._inner.accept(proposal))

    def reject(self, proposal: int) -> Reviewed:
        """Throw a proposal away; see `AsyncMemory.reject`."""
        return self._loop.run(self._inner.reject(proposal))

    def stale(self, *, prompt: str | None = None, model: str | None = None) -> Stale:
        """Return what older wordings of the prompts made; see `AsyncMemory.stale`."""
        return self._loop.run(self._inner.stale(prompt=prompt, model=model))

    def rebuild(
        self,
        *,
        prompt: str | None = None,
        model: str | None = None,
        limit: int | None = None,
        dry_run: bool = False,
        progress: Progress | None = None,
    ) -> Rebuilt:
        """Make anew what is stale; see `AsyncMemory.rebuild`."""
        return self._loop.run(
            self._inner.rebuild(prompt=prompt, model=model, limit=limit, dry_run=dry_run, progress=progress)
        )

    def upkeep(self, *, dry_run: bool = False, limit: int | None = None) -> Upkept:
        """Archive what has faded, and merge what says the same; see `AsyncMemory.upkeep`."""
        return self._loop.run(self._inner.upkeep(dry_run=dry_run, limit=limit))

    def upkeep_every(self, seconds: float | None) -> None:
        """Do that in the background until the memory is closed; see `AsyncMemory.upkeep_every`."""
        self._loop.run(self._inner.upkeep_every(seconds))

    def delete(self, note_id: str) -> Receipt:
        """Erase a note and what came of it; see `AsyncMemory.delete`."""
        return self._loop.run(self._inner.delete(note_id))

    def forget(
        self,
        notes: Sequence[str] | None = None,
        *,
        source: str | None = None,
        whole_box: bool = False,
        expired: bool = False,
        dry_run: bool = False,
        **filters: Any,
    ) -> Receipt:
        """Erase notes and what came of them; see `AsyncMemory.forget`."""
        return self._loop.run(
            self._inner.forget(
                notes, source=source, whole_box=whole_box, expired=expired, dry_run=dry_run, **filters
            )
        )  # fmt: skip

    def export(
        self,
        path: str | Path,
        *,
        format: Literal["jsonl", "markdown"] = "jsonl",
        vectors: bool = False,
        **filters: Any,
    ) -> Exported:
        """Write everything about this box, or some of it, elsewhere; see `AsyncMemory.export`."""
        return self._loop.run(self._inner.export(path, format=format, vectors=vectors, **filters))

    def import_from(self, path: str | Path, *, format: Format = "amem") -> Imported:
        """Bring in what another memory holds; see `AsyncMemory.import_from`."""
        return self._loop.run(self._inner.import_from(path, format=format))
