"""The loop of an agent with a memory: observe what is said, and ask what to know before answering."""

from __future__ import annotations

from asyncio import to_thread
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from amem.errors import EmbeddingError, InputError
from amem.ingest.gate import why_keep, why_skip
from amem.ingest.vectors import embed
from amem.intake import NewNote, question_text
from amem.model import Note
from amem.session.layers import VERBATIM, layers
from amem.session.router import SessionContext, route
from amem.values import Frozen, Moment
from amem.view import writes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from amem.ingest.worker import Raw, Run, Worker
    from amem.rooms import Rooms
    from amem.view import View

LOOK_BACK = 10
"""Turns among which a repeat is looked for."""
NEAR = 0.97
"""Cosine from which a turn says what the same speaker said before."""
UNDECIDED = "no rule speaks against it"
_TRACES = 200
_ALL = 2**31
"""More turns than any session has."""


class Observed(Frozen):
    """What became of a message."""

    note: Note
    """As it was stored: nothing that is observed is lost."""
    is_new: bool
    skipped: str | None = None
    """Why it is not worth building; it stays a raw note then."""
    kept: str | None = None
    """Why it is worth building, where the gate was asked."""
    handed_down: tuple[str, ...] = ()
    """Turns that overflowed from the buffer, and are being built into notes."""


class Trace(Frozen):
    """What one step of a session read and wrote."""

    at: Moment
    step: str
    """`observe`, `context`, `build`, where turns became notes, or `end`."""
    read: tuple[str, ...] = ()
    """Ids of what was looked at: what a context cites, what calls to a model were shown."""
    wrote: tuple[str, ...] = ()
    """Ids of what was stored, built, distilled, or changed by evolution."""
    remarks: tuple[str, ...] = ()
    """Why something was built or was not, or which layer failed."""


class AsyncSession:
    """One conversation of an agent: it writes to one box, and may read others. `AsyncMemory.session` makes one.

    Turns are on disk as soon as they are observed; the last `session_buffer` of them stay verbatim, and what overflows
    is built into notes, a window at a time. A session that is opened again goes on where it stood.
    """

    def __init__(
        self, rooms: Rooms, worker: Worker, view: View, session_id: str, *, reads: Sequence[View] = ()
    ) -> None:
        self._rooms = rooms
        self._worker = worker
        self._view = view
        self._box = view.box
        self._views = (view, *reads)
        self._id = session_id
        self._traces: deque[Trace] = deque(maxlen=_TRACES)

    @property
    def id(self) -> str:
        """The session's id."""
        return self._id

    @property
    def trace(self) -> Sequence[Trace]:
        """What the last steps read and wrote, oldest first."""
        return tuple(self._traces)

    @writes
    async def observe(
        self, message: str | Mapping[str, Any] | NewNote, *, wait: bool = False, **common: Any
    ) -> Observed:
        """Store what was said, and hand the oldest turns down where the buffer overflows.

        Args:
            message: a text, a chat message (`role`, `content`, `name`), a mapping of `add`'s arguments, or a `NewNote`.
            wait: wait until turns that are handed down have been built; else that happens in the background.
            common: `add`'s arguments for a message that does not have them.

        Raises:
            InputError: the message is refused; nothing was stored.
        """
        new = self._view.signed(NewNote.of(message, **common)).model_copy(update={"session_id": self._id})
        (raw,) = self._worker.raw([new], self._box)
        vectors = await self._vectors(raw)
        why, keep = await to_thread(self._gate, raw, vectors)
        if why is not None:
            kept = raw.note.model_copy(update={"pending_reason": "raw", "error": f"skipped: {why}"})
            raw = raw._replace(note=kept)
        with self._worker.holding([raw.note]):
            (accepted,) = await self._worker.accept([raw], vectors)
        handed = await self._overflow(wait=wait)
        self._note("observe", wrote=[accepted.note.id], remarks=[word for word in (why, keep) if word])
        return Observed(
            note=accepted.note,
            is_new=accepted.is_new,
            skipped=why if accepted.is_new else None,
            kept=keep if accepted.is_new else None,
            handed_down=tuple(note.id for note in handed),
        )

    async def context(self, question: str, budget: int = 1000, *, now: datetime | None = None) -> SessionContext:
        """Return what to know before answering: the exchange under way, recent turns, facts, notes, episodes.

        A layer that fails is named in `layers` and left out, one that lacked something is named. Reading comes before
        writing: ask this before the answer is observed.

        Args:
            question: what is to be answered.
            budget: tokens that the text may have.
            now: the present, where it is another one.
        """
        rooms = self._rooms
        asked = question_text(question)
        moment = rooms.now() if now is None else now
        turns = await to_thread(rooms.ledger.last_turns, self._box, self._id, self._kept)
        asking = layers(rooms, self._views, asked, turns=turns, current=_current(turns), now=moment)
        found = await route(asking, budget=budget, tokenizer=rooms.tokenizer)
        read = [citation.note_id for citation in found.citations]
        counted = {view.box for view in self._views if not view.read_only}
        recalled = [cited.note_id for cited in found.citations if cited.via not in VERBATIM and cited.box in counted]
        if rooms.accesses.note(recalled, rooms.now()):
            await to_thread(rooms.accesses.flush)
        remarks = [f"{use.layer}: {use.failed or use.lacked}" for use in found.layers if use.failed or use.lacked]
        self._note("context", read=read, remarks=remarks)
        return found

    async def turns(self, limit: int | None = None) -> Sequence[Note]:
        """Return what was said, verbatim and in order: the last `limit` turns, or all.

        Raises:
            InputError: `limit` is negative.
        """
        if limit is not None and limit < 0:
            raise InputError(f"limit is {limit}; it must be 0 or more")
        count = _ALL if limit is None else min(limit, _ALL)
        return await to_thread(self._rooms.ledger.last_turns, self._box, self._id, count)

    @writes
    async def end(self) -> Sequence[str]:
        """Build what still waits in the buffer; return the ids of those turns."""
        waiting = await self._waiting()
        if waiting and not self._rooms.raw:
            self._built(await self._worker.process(waiting, gated=True))
        self._note("end", wrote=[note.id for note in waiting])
        return [note.id for note in waiting]

    @property
    def _kept(self) -> int:
        return self._rooms.settings.session_buffer + self._worker.window_size

    async def _vectors(self, raw: Raw) -> dict[str, np.ndarray]:
        try:
            return await embed(self._rooms, [raw.text])
        except EmbeddingError:
            return {}  # `accept` says so, and words find the turn

    def _gate(self, raw: Raw, vectors: Mapping[str, np.ndarray]) -> tuple[str | None, str | None]:
        """Say why a message is not worth building, or else why it is; neither where there is no gate."""
        settings = self._rooms.settings
        if settings.session_gate == "off" or settings.strategy == "paper":
            return None, None
        before = self._rooms.ledger.last_turns(self._box, self._id, LOOK_BACK)
        why = why_skip(raw.note, before) or self._nearly_known(raw, vectors)
        return why, None if why else why_keep(raw.note, before) or UNDECIDED

    def _nearly_known(self, raw: Raw, vectors: Mapping[str, np.ndarray]) -> str | None:
        if raw.text not in vectors:
            return None
        (near,) = self._rooms.index.similar(self._box, np.stack([vectors[raw.text]]), 1)
        alike = [note_id for note_id, cosine in near if cosine >= NEAR]
        found = self._rooms.ledger.get(alike, boxes=[self._box]).values()
        same = next((note for note in found if note.speaker == raw.note.speaker and note.about is None), None)
        return None if same is None else f"it says nearly the same as note {same.id}"

    async def _overflow(self, *, wait: bool) -> Sequence[Note]:
        """Hand the oldest turns down, a whole window of them, where more wait than the buffer holds."""
        if self._rooms.raw:
            return ()
        waiting = await self._waiting()
        size = self._worker.window_size
        if len(waiting) < self._rooms.settings.session_buffer + size:
            return ()
        oldest = waiting[:size]
        if wait:
            self._built(await self._worker.process(oldest, gated=True))
        else:
            self._worker.in_background(oldest, embedded=False, gated=True, then=self._built)
        return oldest

    async def _waiting(self) -> list[Note]:
        return [note for note in await self._worker.waiting(self._box, ["queued"]) if note.session_id == self._id]

    def _built(self, run: Run) -> None:
        """Note down what turns became: what was shown to the calls, what was written, and why."""
        shown = {i for result in run.results if result.note.made_by for i in result.note.made_by.shown}
        wrote = [result.id for result in run.results if result.built]
        wrote += [made for result in run.results for made in result.distilled]
        wrote += [revision.note_id for result in run.results for revision in result.evolved]
        why = {result.id: result.kept or result.note.error for result in run.results}
        remarks = [f"{note_id}: {reason}" for note_id, reason in why.items() if reason]
        self._note("build", read=sorted(shown), wrote=list(dict.fromkeys(wrote)), remarks=remarks)

    def _note(
        self, step: str, *, read: Sequence[str] = (), wrote: Sequence[str] = (), remarks: Sequence[str] = ()
    ) -> None:
        now = self._rooms.now()
        self._traces.append(Trace(at=now, step=step, read=tuple(read), wrote=tuple(wrote), remarks=tuple(remarks)))


def _current(turns: Sequence[Note]) -> int:
    """Return how many turns, from the end, are the exchange under way: the user's last one and what followed it."""
    for back, note in enumerate(reversed(turns), start=1):
        if note.trust == "user":
            return back
    return min(1, len(turns))
