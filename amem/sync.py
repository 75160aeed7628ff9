"""Memory: the same verbs without async, over one private event loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from amem.memory import AsyncMemory
from amem.opening import now_utc
from amem.sync_loop import Loop
from amem.sync_session import Session, SyncEpisodes, SyncFacts
from amem.sync_verbs import SyncVerbs

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
    from amem.model import (
        AddResult,
        Context,
        Hit,
        Revision,
        Trust,
    )
    from amem.recall.reranking import Reranker

T = TypeVar("T")


class Memory(SyncVerbs):
    """A memory, seen through one of its boxes; each verb is that of `AsyncMemory`."""

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
        return cls(inner, Loop())

    def box(self, name: str, *, agent_id: str | None = None, read_only: bool = False) -> Memory:
        """Return a view of one box; see `AsyncMemory.box`."""
        return Memory(self._inner.box(name, agent_id=agent_id, read_only=read_only), self._loop, owner=False)

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

    def evolve(self, note_id: str, *, dry_run: bool = False) -> Sequence[Revision]:
        """Link a note again and let it change its neighbours; see `AsyncMemory.evolve`."""
        return self._loop.run(self._inner.evolve(note_id, dry_run=dry_run))

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
