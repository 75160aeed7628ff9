"""Memory: the same verbs without async, over one private event loop."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any, TypeVar

from amem.errors import InputError, LedgerUnavailable
from amem.memory import AsyncMemory
from amem.opening import now_utc
from amem.sync_session import Session, SyncEpisodes, SyncFacts

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
    from concurrent.futures import Future
    from datetime import datetime
    from pathlib import Path
    from types import TracebackType
    from typing import Literal

    from pydantic import JsonValue

    from amem.changes import Which
    from amem.embedding import Embedder
    from amem.exporting.jsonl import Exported
    from amem.importing.bringing import Imported
    from amem.importing.formats import Format
    from amem.ingest.rebuild import Rebuilt
    from amem.ingest.worker import Progress
    from amem.intake import NewNote
    from amem.llm.protocol import LLM
    from amem.model import (
        AddResult,
        Context,
        Explanation,
        Hit,
        Link,
        Note,
        Page,
        Proposal,
        Reviewed,
        Revision,
        Stats,
        Trust,
    )
    from amem.recall.reranking import Reranker
    from amem.store.receipt import Receipt
    from amem.store.stale import Stale
    from amem.upkeep.tidying import Upkept

T = TypeVar("T")


class _Loop:
    """One event loop in a thread of its own, so that it also works where a loop is running already."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="amem", daemon=True)
        self._thread.start()
        self._gate = threading.Lock()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._is_open = True

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do some work in the loop and wait for it; an interrupted wait cancels the work.

        Raises:
            LedgerUnavailable: the memory was closed.
            InputError: the caller is called by the memory itself, and would wait for itself for ever.
        """
        if threading.current_thread() is self._thread:
            work.close()
            raise InputError("a function that the memory calls cannot use the memory; it would wait for itself")
        with self._gate:
            if not self._is_open or not self._thread.is_alive():  # after a fork, only the parent has the thread
                work.close()
                raise LedgerUnavailable("this memory was closed, or opened by another process. Open it again.")
            future = asyncio.run_coroutine_threadsafe(self._noted(work), self._loop)
        return _result(future)

    async def _noted(self, work: Coroutine[Any, Any, T]) -> T:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            return await work
        finally:
            self._tasks.discard(task)

    def close(self, last: Coroutine[Any, Any, None]) -> None:
        """Let no work begin any more, wait for what other threads have under way, do the last, and end the thread."""
        with self._gate:
            if not self._is_open:
                last.close()
                return
            self._is_open = False
        try:
            _result(asyncio.run_coroutine_threadsafe(self._finish(last), self._loop))
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def _finish(self, last: Coroutine[Any, Any, None]) -> None:
        while self._tasks:
            await asyncio.wait(set(self._tasks))
        await last
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:  # of libraries, such as litellm's writer of its log
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await self._loop.shutdown_asyncgens()
        await self._loop.shutdown_default_executor()


def _result(future: Future[T]) -> T:
    try:
        return future.result()
    finally:
        future.cancel()  # no effect on what is done; where an interrupt ended the wait, nobody waits for the result


class Memory:
    """A memory, seen through one of its boxes; each verb is that of `AsyncMemory`."""

    def __init__(self, inner: AsyncMemory, loop: _Loop, *, owner: bool = True) -> None:
        self._inner = inner
        self._loop = loop
        self._owner = owner

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        llm: str | LLM | None = None,
        embedder: Embedder | None = None,
        now: Callable[[], datetime] = now_utc,
        new_id: Callable[[], str] | None = None,
        **settings: Any,
    ) -> Memory:
        """Open the memory in directory `path`; see `AsyncMemory.open`."""
        inner = AsyncMemory.open(path, llm=llm, embedder=embedder, now=now, new_id=new_id, **settings)
        return cls(inner, _Loop())

    def box(self, name: str, *, agent_id: str | None = None, read_only: bool = False) -> Memory:
        """Return a view of one box; see `AsyncMemory.box`."""
        return Memory(self._inner.box(name, agent_id=agent_id, read_only=read_only), self._loop, owner=False)

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

    def run(self, work: Callable[[AsyncMemory], Coroutine[Any, Any, T]]) -> T:
        """Do asynchronous work with this memory in its own event loop, and wait for it."""
        return self._loop.run(work(self._inner))

    @property
    def facts(self) -> SyncFacts:
        """See `AsyncMemory.facts`."""
        return SyncFacts(self._inner.facts, self._loop)

    @property
    def episodes(self) -> SyncEpisodes:
        """See `AsyncMemory.episodes`."""
        return SyncEpisodes(self._inner.episodes, self._loop)

    def session(self, session_id: str, *, agent_id: str | None = None, reads: Sequence[Memory] = ()) -> Session:
        """See `AsyncMemory.session`."""
        others = [other._inner for other in reads]  # noqa: SLF001 - its own kind
        return Session(self._inner.session(session_id, agent_id=agent_id, reads=others), self._loop)

    def add(
        self,
        content: str,
        *,
        speaker: str | None = None,
        occurred_at: datetime | str | None = None,
        session_id: str | None = None,
        agent_id: str | None = None,
        position: int | None = None,
        source: str | None = None,
        trust: Trust = "user",
        keywords: Sequence[str] | None = None,
        tags: Sequence[str] | None = None,
        context: str | None = None,
        metadata: Mapping[str, JsonValue] | None = None,
        wait: bool = True,
        strict: bool = False,
    ) -> AddResult:
        """Remember a text; see `AsyncMemory.add`."""
        return self._loop.run(
            self._inner.add(
                content, speaker=speaker, occurred_at=occurred_at, session_id=session_id, agent_id=agent_id,
                position=position, source=source, trust=trust, keywords=keywords, tags=tags, context=context,
                metadata=metadata, wait=wait, strict=strict,
            )
        )  # fmt: skip

    def add_many(
        self,
        items: Iterable[str | Mapping[str, Any] | NewNote],
        *,
        wait: bool = True,
        progress: Progress | None = None,
        **common: Any,
    ) -> Sequence[AddResult]:
        """Remember many texts or messages; see `AsyncMemory.add_many`."""
        return self._loop.run(self._inner.add_many(items, wait=wait, progress=progress, **common))

    def process(
        self,
        *,
        all: bool = False,
        limit: int | None = None,
        progress: Progress | None = None,
    ) -> Sequence[AddResult]:
        """Finish pending notes; see `AsyncMemory.process`."""
        return self._loop.run(self._inner.process(all=all, limit=limit, progress=progress))

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

    def evolve(self, note_id: str, *, dry_run: bool = False) -> Sequence[Revision]:
        """Link a note again and let it change its neighbours; see `AsyncMemory.evolve`."""
        return self._loop.run(self._inner.evolve(note_id, dry_run=dry_run))

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

    def search(
        self,
        question: str,
        *,
        k: int = 10,
        boxes: Sequence[str] | None = None,
        now: datetime | None = None,
        explain: bool = False,
        links: int = 0,
        reconstruct: bool | None = None,
        rewrite: bool | None = None,
        rerank: str | Reranker | None = None,
        **filters: Any,
    ) -> Sequence[Hit]:
        """Return the best notes for a question; see `AsyncMemory.search`."""
        return self._loop.run(
            self._inner.search(
                question, k=k, boxes=boxes, now=now, explain=explain, links=links, reconstruct=reconstruct,
                rewrite=rewrite, rerank=rerank, **filters,
            )
        )  # fmt: skip

    def recall(
        self,
        question: str,
        *,
        budget: int = 1000,
        boxes: Sequence[str] | None = None,
        now: datetime | None = None,
        reconstruct: bool | None = None,
        rewrite: bool | None = None,
        rerank: str | Reranker | None = None,
        **filters: Any,
    ) -> Context:
        """Return the best notes as cited text within a token budget; see `AsyncMemory.recall`."""
        return self._loop.run(
            self._inner.recall(
                question, budget=budget, boxes=boxes, now=now, reconstruct=reconstruct, rewrite=rewrite,
                rerank=rerank, **filters,
            )
        )  # fmt: skip

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

    def get(self, note_id: str) -> Note:
        """Return one note; see `AsyncMemory.get`."""
        return self._loop.run(self._inner.get(note_id))

    def by_source(self, source: str) -> Note | None:
        """Return the note that was added with this source; see `AsyncMemory.by_source`."""
        return self._loop.run(self._inner.by_source(source))

    def list(self, *, limit: int = 100, after: str | None = None, **filters: Any) -> Page:
        """Return notes a page at a time; see `AsyncMemory.list`."""
        return self._loop.run(self._inner.list(limit=limit, after=after, **filters))

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

    def close(self) -> None:
        """Wait for background work and release the directory; see `AsyncMemory.close`."""
        if self._owner:
            self._loop.close(self._inner.close())

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
