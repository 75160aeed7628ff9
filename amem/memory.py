"""AsyncMemory: the verbs, and the order of the stages. The page to read first."""

from __future__ import annotations

import logging
from asyncio import to_thread
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amem import review
from amem.changes import edit, pinnable, repin, undo_plan
from amem.errors import EmbeddingError, InputError, NoteNotFound
from amem.filters import make_filter
from amem.ids import is_id
from amem.ingest.correcting import correct, correction
from amem.ingest.pipeline import plan_evolution
from amem.ingest.rebuild import rebuild, staleness
from amem.ingest.vectors import apply, embed_missing
from amem.ingest.worker import Run, Worker
from amem.intake import NewNote, box_name, name_text, question_text
from amem.model import DEFAULT_BOX, AddResult, as_utc
from amem.opening import load_settings, now_utc, open_rooms
from amem.recall.asking import RECALL_HITS, ask, packed
from amem.recall.explain import explain
from amem.session.episodes import Episodes
from amem.session.facts import Facts
from amem.session.session import AsyncSession
from amem.store.plan import GroundMoved
from amem.store.selecting import of_source
from amem.upkeep.forget import expired as past_retention
from amem.upkeep.forget import finish, forget, select
from amem.upkeep.keeping import Keeper
from amem.upkeep.tidying import tidy
from amem.view import View, writes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime
    from types import TracebackType
    from typing import Literal

    from pydantic import JsonValue

    from amem.changes import Which
    from amem.embedding import Embedder
    from amem.exporting.jsonl import Exported
    from amem.importing.bringing import Imported
    from amem.importing.formats import Format
    from amem.ingest.rebuild import Rebuilt
    from amem.ingest.worker import Accepted, Progress, Raw
    from amem.llm.protocol import LLM
    from amem.model import Context, Explanation, Hit, Link, Note, Page, Proposal, Reviewed, Revision, Stats, Trust
    from amem.recall.reranking import Reranker
    from amem.rooms import Rooms
    from amem.store.receipt import Receipt
    from amem.store.stale import Stale
    from amem.upkeep.tidying import Upkept

log = logging.getLogger("amem")

MAX_PAGE = 1000
_LONGEST_WAIT = 2**31
"""Seconds."""
_ALL = 2**31
"""More notes than any box has, and not more than a database can count."""


class AsyncMemory:
    """A memory, seen through one of its boxes. Open one with `AsyncMemory.open`."""

    def __init__(self, rooms: Rooms, box: str | View = DEFAULT_BOX, *, owner: bool = True) -> None:
        self._rooms = rooms
        self._view = View(box) if isinstance(box, str) else box
        self._box = self._view.box
        self._owner = owner
        self._worker = Worker(rooms)

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

    # -- writing ----------------------------------------------------------------------------------

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
            return await self._taken(raw, wait=wait, progress=progress)

    async def _taken(self, raw: Sequence[Raw], *, wait: bool, progress: Progress | None) -> Run:
        return await self._worked_on(await self._worker.accept(raw), wait=wait, progress=progress)

    async def _worked_on(self, accepted: Sequence[Accepted], *, wait: bool, progress: Progress | None) -> Run:
        rooms, error = self._rooms, None
        fresh = [item.note for item in accepted if item.is_new]
        embedded = all(item.embedded for item in accepted)
        results = {item.note.id: AddResult(note=item.note) for item in accepted}
        if rooms.raw or not fresh:
            await to_thread(rooms.index.put, self._box, len(fresh))
        elif wait:
            done, error = await self._worker.process(fresh, embedded=embedded, progress=progress)
            results |= {result.note.id: result for result in done}
        else:
            self._worker.in_background(fresh, embedded=embedded)
        return Run([_as_given(results[item.note.id], item) for item in accepted], error)

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
        committed = await apply(self._rooms, edit(note, given, at=self._rooms.now()))
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
        accepted = await correct(self._rooms, old, correction(old, content, given))
        with self._worker.holding([accepted.note]):
            (result,), error = await self._worked_on([accepted], wait=wait, progress=None)
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
                return (await apply(self._rooms, plan)).notes[note_id]
            except GroundMoved:  # somebody changed the note in between
                continue

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
        return list((await apply(self._rooms, plan)).revisions)

    async def stale(self, *, prompt: str | None = None, model: str | None = None) -> Stale:
        """Return what older wordings of the prompts made: notes they built, links, and changes to notes.

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
        anew. `undo(rebuilt.revisions)` takes all of it back.

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
                return (await apply(rooms, plan)).revisions
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
        return await review.accept(self._rooms, self._box, proposal)

    @writes
    async def reject(self, proposal: int) -> Reviewed:
        """Throw a proposal away.

        Raises:
            ProposalNotFound: nothing waits under that number in this box.
        """
        return await review.reject(self._rooms, self._box, proposal)

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
        return await tidy(self._rooms, self._box, dry_run=dry_run, limit=limit)

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

    async def _embed_missing(self) -> None:
        """Embed what has no vector: a failed embedder or a killed process left it, and words alone find it."""
        try:
            await embed_missing(self._rooms, self._box)
        except EmbeddingError as error:
            log.warning("some notes have no vector yet, and are found by their words: %s", error)

    # -- reading ----------------------------------------------------------------------------------

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
        """Return the notes linked with a note, in the order the links were made.

        Raises:
            NoteNotFound: there is no such note in this box.
        """
        others = [link.other(note_id) for link in await self.links(note_id)]
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

    def _moment(self, now: datetime | None) -> datetime:
        return self._rooms.now() if now is None else as_utc(now)

    def _boxes(self, boxes: Sequence[str] | None) -> Sequence[str]:
        if boxes is None:
            return [self._box]
        if not self._owner:
            raise InputError("a view of one box cannot search others; ask the memory itself")
        return [box_name(name) for name in dict.fromkeys(boxes)]

    # -- taking it elsewhere ----------------------------------------------------------------------

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
            format: `jsonl` comes back by `import_from` as it was, history included; `markdown` is to be read, and
                opens as an Obsidian vault.
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

        An export of amem comes back with the same ids and its whole history, into a box without notes. What comes from
        elsewhere is known by its source, so that it never comes in twice; `process` then builds and links it.

        Args:
            path: a file of `amem` or `mem0`, a vault of `basic-memory`, or the Chroma folder of `a-mem`.
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

    # -- closing ----------------------------------------------------------------------------------

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


def _as_given(result: AddResult, accepted: Accepted) -> AddResult:
    return result.model_copy(update={"is_new": accepted.is_new, "suspicions": accepted.suspicions})
