"""AsyncMemory: what becomes of a text, from `add` to `recall`. The page to read first.

`add` stores the raw note and its vector (`Worker.accept`), then takes notes window by window through the stages
(`Worker.build`, `ingest.pipeline`): keywords, tags and context; neighbours; links and evolution; one commit. `search`
and `recall` ask (`recall.asking`). The other verbs are in `amem/verbs`.
"""

from __future__ import annotations

import logging
from asyncio import to_thread
from typing import TYPE_CHECKING, Any

from amem.errors import InputError
from amem.filters import make_filter
from amem.ingest.pipeline import plan_evolution
from amem.ingest.vectors import apply
from amem.intake import NewNote, box_name, name_text, question_text
from amem.opening import load_settings, now_utc, open_rooms
from amem.recall.asking import RECALL_HITS, ask, packed
from amem.session.episodes import Episodes
from amem.session.facts import Facts
from amem.session.session import AsyncSession
from amem.upkeep.forget import finish
from amem.verbs.changing import Changing
from amem.verbs.keeping import Keeping
from amem.verbs.moving import Moving
from amem.verbs.reading import Reading
from amem.view import View, writes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime
    from pathlib import Path
    from types import TracebackType

    from pydantic import JsonValue

    from amem.embedding import Embedder
    from amem.ingest.worker import Progress, Run
    from amem.llm.protocol import LLM
    from amem.model import AddResult, Context, Hit, Revision, Trust
    from amem.recall.reranking import Reranker

log = logging.getLogger("amem")

_ALL = 2**31
"""More notes than any box has, and not more than a database can count."""


class AsyncMemory(Reading, Changing, Keeping, Moving):
    """A memory, seen through one of its boxes. Open one with `AsyncMemory.open`."""

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
    ) -> AsyncMemory:
        """Open the memory in directory `path`, creating it where it does not exist; no key is needed yet.

        Args:
            path: the directory; everything amem writes is in it.
            llm: a litellm model name, or any `amem.LLM`; without one, notes are stored raw.
            embedder: instead of the one that the settings name.
            now: gives the present moment.
            new_id: gives the next note's id.
            settings: fields of `amem.Settings`.

        Raises:
            SettingsError: a setting is unknown or has a bad value.
            EmbeddingMismatch: the memory was made with another embedding.
            LedgerUnavailable: the directory or its database cannot be opened.
        """
        loaded, custom = load_settings(llm, settings)
        return cls(open_rooms(path, loaded, llm=custom, embedder=embedder, now=now, new_id=new_id))

    def box(self, name: str, *, agent_id: str | None = None, read_only: bool = False) -> AsyncMemory:
        """Return a view that sees and touches nothing but the box `name`; closing it closes nothing.

        Args:
            name: of the box; a view has its own only.
            agent_id: who writes through it: each note says so, and none can say another.
            read_only: every verb that writes is refused, and what is recalled is not counted as an access.

        Raises:
            InputError: that is no name, or more than this view may do itself.
        """
        box, agent = box_name(name), None if agent_id is None else name_text("agent_id", agent_id)
        view = View(box, agent, read_only) if self._owner else self._view.narrowed(box, agent, read_only=read_only)
        return AsyncMemory(self._rooms, view, owner=False)

    @property
    def facts(self) -> Facts:
        """The box's facts: `add`, `list`, `search`."""
        return Facts(self._rooms, self._view)

    @property
    def episodes(self) -> Episodes:
        """The box's episodes: `add`, `search`."""
        return Episodes(self._rooms, self._view)

    def session(
        self, session_id: str, *, agent_id: str | None = None, reads: Sequence[AsyncMemory] = ()
    ) -> AsyncSession:
        """Return the loop of an agent in one conversation: `observe(message)` and `context(question)`.

        Args:
            session_id: the conversation.
            agent_id: who is in it.
            reads: views of other boxes of this memory, which `context` reads as well; it writes to none of them.

        Raises:
            InputError: a view is of another memory, or this one writes in another agent's name.
        """
        agent = None if agent_id is None else name_text("agent_id", agent_id)
        view = self._view.narrowed(self._box, agent, read_only=False)
        if any(other._rooms is not self._rooms for other in reads):  # noqa: SLF001 - its own kind
            raise InputError("a session reads boxes of its own memory only")
        others = [other._view for other in reads]  # noqa: SLF001 - its own kind
        return AsyncSession(self._rooms, self._worker, view, name_text("session_id", session_id), reads=others)

    @writes
    async def add(
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
        """Remember `content`: it is on disk before any model is asked, and stays `pending` if the model fails.

        Args:
            content: the text, kept byte for byte.
            speaker: who said it.
            occurred_at: when it happened (a moment or ISO 8601 text; naive means UTC); default: now.
            session_id: the conversation it belongs to.
            agent_id: the agent that saw it.
            position: its place in the session, from 0; default: after the last one.
            source: the caller's id of the message; one seen before returns the note that is there.
            trust: how far its text may be believed; lower trust never changes notes of higher trust.
            keywords: given ones are pinned: no model changes them. Likewise `tags` and `context`.
            tags: see `keywords`.
            context: see `keywords`.
            metadata: any JSON.
            wait: False returns once the raw note is stored; the rest happens in the background.
            strict: raise the model's error after storing, instead of returning it in the result.

        Raises:
            InputError: an argument is refused; nothing was stored.
            LLMError: only with `strict`.
        """
        new = NewNote.of(
            content, speaker=speaker, occurred_at=occurred_at, session_id=session_id, agent_id=agent_id,
            position=position, source=source, trust=trust, keywords=keywords, tags=tags, context=context,
            metadata=metadata,
        )  # fmt: skip
        (result,), error = await self._add([new], wait=wait, progress=None)
        if strict and error is not None:
            raise error
        return result

    @writes
    async def add_many(
        self,
        items: Iterable[str | Mapping[str, Any] | NewNote],
        *,
        wait: bool = True,
        progress: Progress | None = None,
        **common: Any,
    ) -> Sequence[AddResult]:
        """Remember many texts or messages: all are on disk before any model is asked.

        Args:
            items: texts, chat messages (`role`, `content`, `name`), mappings of `add`'s arguments, or `NewNote`s.
            wait: False returns once the raw notes are stored.
            progress: called after each window.
            common: `add`'s arguments for items that do not have them.

        Raises:
            InputError: an item is refused, with its position; nothing was stored.
        """
        new = await to_thread(_new_notes, list(items), common)
        return (await self._add(new, wait=wait, progress=progress)).results

    async def _add(self, new: Sequence[NewNote], *, wait: bool, progress: Progress | None) -> Run:
        new = [self._view.signed(item) for item in new]
        # One text is not worth a thread.
        one = len(new) == 1
        raw = self._worker.raw(new, self._box) if one else await to_thread(self._worker.raw, new, self._box)
        with self._worker.holding([item.note for item in raw]):
            accepted = await self._worker.accept(raw)
            return await self._worker.build(self._box, accepted, wait=wait, progress=progress)

    @writes
    async def process(
        self,
        *,
        all: bool = False,
        limit: int | None = None,
        progress: Progress | None = None,
    ) -> Sequence[AddResult]:
        """Finish notes that are pending because they were queued or their call failed; with `all`, raw ones too.

        Args:
            all: also take notes that were stored raw.
            limit: at most this many notes.
            progress: called after each window.
        """
        if limit is not None and limit < 0:
            raise InputError(f"limit is {limit}; it must be 0 or more")
        await self._worker.settled()
        await to_thread(finish, self._rooms)
        await self._embed_missing()
        reasons = ("queued", "failed", "raw") if all else ("queued", "failed")
        most = None if limit is None else min(limit, _ALL)
        waiting = await self._worker.waiting(self._box, reasons, most)
        return (await self._worker.process(waiting, progress=progress)).results if self._rooms.llm else []

    @writes
    async def evolve(self, note_id: str, *, dry_run: bool = False) -> Sequence[Revision]:
        """Link a note again and let it change its neighbours; with `dry_run`, only say what would change.

        Raises:
            NoteNotFound: there is no such note in this box.
            LLMError: the call failed; nothing was changed.
        """
        note = await self.get(note_id)
        plan, changes = await plan_evolution(self._rooms, note)
        if dry_run:
            await apply(self._rooms, plan.bill)
            return changes
        return list((await apply(self._rooms, self._view.by(plan))).revisions)

    async def search(
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
        """Return the `k` best notes for a question, best first, and after them those that links lead to, if asked.

        Args:
            question: what is asked, in any words; no query syntax.
            k: how many notes at most.
            boxes: search these boxes instead of this view's one (only on a memory, not on a box view).
            now: what "last week" in the question counts from; default: the present.
            explain: say of each hit how its score came about.
            links: how many notes more, at most, links from the `k` may bring in.
            reconstruct: let cues bring back notes besides similarity; None asks the settings.
            rewrite: let the language model split the question into simpler ones first; likewise.
            rerank: `none`, `llm`, `litellm:<model>`, or a `Reranker` of your own, for the final order; likewise.
            filters: `agent_id`, `session_id`, `speaker`, `tags`, `since`, `until`, `as_of`, `metadata`,
                `kinds`, `archived`, `outdated`.

        Raises:
            InputError: `k` or `links` is negative, or a filter is unknown or of the wrong type.
        """
        if k < 0 or links < 0:
            raise InputError(f"k is {k} and links is {links}; both must be 0 or more")
        rooms = self._rooms
        given = make_filter(**filters)
        hits = await ask(
            rooms, self._boxes(boxes), question_text(question), k=k, given=given, now=self._moment(now),
            explain=explain, links=links, reconstruct=reconstruct, rewrite=rewrite, rerank=rerank,
        )  # fmt: skip
        await self._accessed([hit.note.id for hit in hits])
        return hits

    async def recall(
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
        """Return the best notes for a question as text of at most `budget` tokens that cites each of them.

        Notes that links lead to may take a share of the budget (settings `recall_links`, `recall_links_share`); the
        other arguments are those of `search`.

        Raises:
            InputError: the budget is negative, or a filter is unknown or of the wrong type.
        """
        if budget < 0:
            raise InputError(f"the budget is {budget} tokens; it must be 0 or more")
        rooms = self._rooms
        given = make_filter(**filters)
        moment = self._moment(now)
        found = await ask(
            rooms, self._boxes(boxes), question_text(question), k=RECALL_HITS, given=given, now=moment,
            reconstruct=reconstruct, rewrite=rewrite, rerank=rerank,
        )  # fmt: skip
        context = await packed(rooms, found, budget=budget, given=given, now=moment)
        await self._accessed([cited.note_id for cited in context.citations])
        return context

    async def _accessed(self, note_ids: Sequence[str]) -> None:
        if not self._view.read_only and self._rooms.accesses.note(note_ids, self._rooms.now()):
            await to_thread(self._rooms.accesses.flush)

    async def close(self) -> None:
        """Wait for what is being added, in the background too, and release the directory; a box view closes nothing."""
        if not self._owner:
            return
        rooms = self._rooms
        while rooms.keepers:
            _, keeper = rooms.keepers.popitem()
            await keeper.stop()
        await rooms.runs.close()
        await self._worker.settled()
        await to_thread(rooms.accesses.flush)
        await to_thread(rooms.index.end)
        for problem in await to_thread(finish, rooms):
            log.warning("a forgetting is not finished: %s", problem)
        await to_thread(rooms.ledger.close)
        if rooms.llm is not None and hasattr(rooms.llm, "aclose"):
            await rooms.llm.aclose()

    async def __aenter__(self) -> AsyncMemory:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _new_notes(items: Sequence[str | Mapping[str, Any] | NewNote], common: Mapping[str, Any]) -> list[NewNote]:
    """Validate items; thousands of them take longer than the event loop should stand still."""
    new = []
    for index, item in enumerate(items):
        try:
            new.append(NewNote.of(item, **common))
        except InputError as error:
            raise InputError(f"item {index}: {error}") from error
    return new
