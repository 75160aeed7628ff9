"""Episodes: what called for action, what was done, how it ended, and what to do the next time."""

from __future__ import annotations

from asyncio import to_thread
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from amem.errors import EmbeddingError, InputError
from amem.filters import Filter, first_problem
from amem.ingest.vectors import embed
from amem.intake import When
from amem.model import Episode, Note, Outcome, Trust
from amem.recall.asking import ask
from amem.values import Frozen, Moment
from amem.view import writes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from amem.rooms import Rooms
    from amem.view import View

_MOST = 200
"""Episodes that a search by outcome looks through."""


class Told(Frozen):
    """An episode as it is told."""

    about: Episode
    occurred_at: When | None = None
    session_id: str | None = None
    sources: tuple[str, ...] = ()
    """Ids of the notes that tell of it."""
    trust: Trust = "user"


class KnownEpisode(Frozen):
    """An episode as it is remembered."""

    id: str
    trigger: str
    actions: tuple[str, ...]
    outcome: Outcome
    result: str
    lesson: str
    occurred_at: Moment
    sources: tuple[str, ...]
    text: str
    """It, in words."""
    score: float | None = None
    """Of a search."""
    box: str
    agent_id: str | None = None
    """Who went through it."""


class Episodes:
    """The episodes of one box."""

    def __init__(self, rooms: Rooms, view: View) -> None:
        self._rooms = rooms
        self._view = view
        self._box = view.box

    @writes
    async def add(
        self,
        trigger: str,
        actions: Sequence[str] = (),
        outcome: Outcome = "unknown",
        *,
        result: str = "",
        lesson: str = "",
        **more: Any,
    ) -> KnownEpisode:
        """Store an episode.

        Args:
            trigger: what called for action.
            actions: what was done, in order.
            outcome: `success`, `failure`, `mixed` or `unknown`.
            result: how it ended, in words.
            lesson: what to do the next time.
            more: `occurred_at`, `session_id`, `sources` (ids of notes that tell of it), `trust`.

        Raises:
            InputError: an argument is refused; nothing was stored.
        """
        try:
            about = Episode(trigger=trigger, actions=tuple(actions), outcome=outcome, result=result, lesson=lesson)
            told = Told(about=about, **more)
        except ValidationError as error:
            raise InputError(f"the episode is refused: {first_problem(error)}. Nothing was stored.") from error
        (stored,) = await self.add_all([told])
        return stored

    @writes
    async def add_all(self, told: Sequence[Told]) -> list[KnownEpisode]:
        """Store several episodes."""
        notes = [self._note(one) for one in told]
        try:
            vectors = await embed(self._rooms, [self._rooms.render(note) for note in notes])
        except EmbeddingError:
            vectors = {}  # words find them, and `process` embeds them later
        stored = await to_thread(self._rooms.ledger.accept, notes, [None] * len(notes), vectors)
        await to_thread(self._rooms.index.put, self._box, len(notes))
        return [known_episode(note) for note, _ in stored]

    async def search(
        self, trigger: str, *, k: int = 3, outcome: Outcome | None = None, now: datetime | None = None
    ) -> Sequence[KnownEpisode]:
        """Return the episodes whose trigger and course are most like what is at hand, the likest first.

        Args:
            trigger: what calls for action now.
            k: how many at most.
            outcome: only those that ended so.
            now: the present, where it is another one.
        """
        found = await search_episodes(self._rooms, [self._box], trigger, k=k if outcome is None else _MOST, now=now)
        return [episode for episode in found if outcome is None or episode.outcome == outcome][:k]

    def _note(self, told: Told) -> Note:
        now = self._rooms.now()
        return Note(
            id=self._rooms.new_id(), box=self._box, content=told.about.text, sources=told.sources,
            trust=told.trust, occurred_at=told.occurred_at or now, created_at=now, status="ready", about=told.about,
            metadata={} if told.session_id is None else {"session": told.session_id}, agent_id=self._view.agent_id,
        )  # fmt: skip


async def search_episodes(
    rooms: Rooms, boxes: Sequence[str], trigger: str, *, k: int, now: datetime | None = None
) -> list[KnownEpisode]:
    """Return the episodes of some boxes that are most like what is at hand; see `Episodes.search`."""
    moment = rooms.now() if now is None else now
    hits = await ask(rooms, boxes, trigger, k=k, given=Filter(kinds=("episode",)), now=moment)
    return [known_episode(hit.note, hit.score) for hit in hits]


def known_episode(note: Note, score: float | None = None) -> KnownEpisode:
    """Return an episode as it is remembered."""
    about = note.about
    assert isinstance(about, Episode)
    return KnownEpisode(
        id=note.id, trigger=about.trigger, actions=about.actions, outcome=about.outcome, result=about.result,
        lesson=about.lesson, occurred_at=note.occurred_at, sources=note.sources, text=about.text, score=score,
        box=note.box, agent_id=note.agent_id,
    )  # fmt: skip
