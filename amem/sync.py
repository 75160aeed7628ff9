"""Memory: the same verbs without async, over one private event loop."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any, TypeVar

from amem.memory import AsyncMemory
from amem.opening import now_utc

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path
    from types import TracebackType

    from pydantic import JsonValue

    from amem.embedding import Embedder
    from amem.ingest.worker import Progress
    from amem.intake import NewNote
    from amem.llm.protocol import LLM
    from amem.model import AddResult, Context, Explanation, Hit, Link, Note, Page, Revision, Stats, Trust
    from amem.recall.reranking import Reranker
    from amem.store.erase import Receipt

T = TypeVar("T")


class _Loop:
    """One event loop in a thread of its own, so that it also works where a loop is running already."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="amem", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    @property
    def is_open(self) -> bool:
        return not self._loop.is_closed()

    def close(self) -> None:
        self.run(self._loop.shutdown_default_executor())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


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

    def box(self, name: str) -> Memory:
        """Return a view of one box; see `AsyncMemory.box`."""
        return Memory(self._inner.box(name), self._loop, owner=False)

    @property
    def name(self) -> str:
        """The name of this view's box."""
        return self._inner.name

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

    def evolve(self, note_id: str, *, dry_run: bool = False) -> Sequence[Revision]:
        """Link a note again and let it change its neighbours; see `AsyncMemory.evolve`."""
        return self._loop.run(self._inner.evolve(note_id, dry_run=dry_run))

    def undo(self, revision: int | Revision | None = None, *, caused_by: str | None = None) -> Sequence[Revision]:
        """Take changes back; see `AsyncMemory.undo`."""
        return self._loop.run(self._inner.undo(revision, caused_by=caused_by))

    def delete(self, note_id: str) -> Receipt:
        """Erase a note and what was learned from it; see `AsyncMemory.delete`."""
        return self._loop.run(self._inner.delete(note_id))

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

    def stats(self) -> Stats:
        """Return counts and costs; see `AsyncMemory.stats`."""
        return self._loop.run(self._inner.stats())

    def close(self) -> None:
        """Wait for background work and release the directory; see `AsyncMemory.close`."""
        if self._owner and self._loop.is_open:
            self._loop.run(self._inner.close())
            self._loop.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
