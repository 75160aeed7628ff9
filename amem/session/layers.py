"""What the layers of an agent's memory hold for a question, each as lines that fit into a prompt."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from amem.filters import Filter
from amem.model import DEFAULT_BOX
from amem.recall.asking import ask
from amem.session.asked import AskedOnce
from amem.session.episodes import search_episodes
from amem.session.facts import search_facts

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from datetime import datetime

    from amem.model import Note
    from amem.rooms import Rooms
    from amem.session.episodes import KnownEpisode
    from amem.session.facts import KnownFact
    from amem.settings import LayerName
    from amem.view import View

    _Owned = Note | KnownFact | KnownEpisode

VERBATIM = ("working", "buffer")
"""Layers that show the conversation itself: what they show was not recalled."""
SHARES: dict[LayerName, float] = {"working": 0.2, "buffer": 0.2, "facts": 0.15, "notes": 0.35, "episodes": 0.1}
"""Of the budget, for each layer, where the settings say nothing else."""
_NOTES = 40
_FACTS = 8
_EPISODES = 3
_RECENT_WHOLE = 400
"""Characters up to which a turn is never shortened."""


@dataclass(frozen=True)
class Item:
    """One line that a layer offers."""

    note_id: str
    text: str
    short: str | None = None
    """The same in fewer words, where the whole does not fit."""
    box: str = DEFAULT_BOX
    agent_id: str | None = None
    """Who learned it."""


def _nothing() -> None:
    return None


@dataclass(frozen=True)
class Layer:
    """One layer: what it is called, how its part of the text begins, what it holds, the most important first."""

    name: str
    heading: str
    share: float
    """Of the budget, as far as others want it too."""
    read: Callable[[], Awaitable[Sequence[Item]]]
    backwards: bool = False
    """Whether the most important stands last in the text: the latest turn ends the conversation."""
    lacks: Callable[[], str | None] = _nothing
    """What it had to do without, when it was read."""


def layers(
    rooms: Rooms, views: Sequence[View], question: str, *, turns: Sequence[Note], current: int, now: datetime
) -> list[Layer]:
    """Return the layers of a session, the fastest first.

    Args:
        rooms: of the memory.
        views: what it reads, its own box first.
        question: what is to be known.
        turns: the session's last turns, in order.
        current: how many of them, from the end, belong to the exchange under way.
        now: the present.
    """
    asked = AskedOnce(rooms.embedder)
    rooms = replace(rooms, embedder=asked)
    working, recent = turns[len(turns) - current :], turns[: len(turns) - current]
    shown = {note.id for note in turns}
    boxes = list(dict.fromkeys(view.box for view in views))
    lines = _Lines(views[0])

    async def of_working() -> list[Item]:
        return [lines.turn(note) for note in reversed(working)]

    async def of_recent() -> list[Item]:
        return [lines.turn(note) for note in reversed(recent)]

    async def of_facts() -> list[Item]:
        return [lines.fact(fact) for fact in await search_facts(rooms, boxes, question, k=_FACTS, now=now)]

    async def of_notes() -> list[Item]:
        hits = await ask(rooms, boxes, question, k=_NOTES + len(shown), given=Filter(kinds=("note",)), now=now)
        return [lines.memory(hit.note) for hit in hits if hit.note.id not in shown][:_NOTES]

    async def of_episodes() -> list[Item]:
        found = await search_episodes(rooms, boxes, question, k=_EPISODES, now=now)
        return [lines.episode(episode) for episode in found]

    def by_words() -> str | None:
        return (
            None if asked.failed is None else f"searched by words only: {type(asked.failed).__name__}: {asked.failed}"
        )

    share = SHARES | rooms.settings.session_shares
    return [
        Layer("working", "Now:", share["working"], of_working, backwards=True),
        Layer("buffer", "Before, in this conversation:", share["buffer"], of_recent, backwards=True),
        Layer("facts", "Known facts:", share["facts"], of_facts, lacks=by_words),
        Layer("notes", "Remembered:", share["notes"], of_notes, lacks=by_words),
        Layer("episodes", "Earlier experience:", share["episodes"], of_episodes, lacks=by_words),
    ]


class _Lines:
    """How memories read; of those that the session's own agent did not learn in its own box, it says whose they are."""

    def __init__(self, home: View) -> None:
        self._home = home

    def turn(self, note: Note) -> Item:
        who = f"{_line(note.speaker)}: " if note.speaker else ""
        long = len(note.content) > _RECENT_WHOLE
        return self._item(note, note.id, f"{who}{_line(note.content)}", _summary(note, who) if long else None)

    def memory(self, note: Note) -> Item:
        who = f" {_line(note.speaker)}" if note.speaker else ""
        head = f"{note.occurred_at:%Y-%m-%d}{who}{self._whose(note)}: "
        return self._item(note, note.id, f"{head}{_line(note.content)}", _summary(note, head))

    def fact(self, fact: KnownFact) -> Item:
        until = "" if fact.until is None else f" until {fact.until:%Y-%m-%d}"
        unsure = "" if not fact.contradicts else " (contradicted by another statement)"
        text = f"{_line(fact.text)} (since {fact.since:%Y-%m-%d}{until}){self._whose(fact)}{unsure}"
        return self._item(fact, fact.id, text)

    def episode(self, episode: KnownEpisode) -> Item:
        text = f"{episode.occurred_at:%Y-%m-%d}{self._whose(episode)} {_line(episode.text)}"
        return self._item(episode, episode.id, text)

    def _item(self, what: _Owned, note_id: str, text: str, short: str | None = None) -> Item:
        return Item(note_id, text, short, what.box, what.agent_id)

    def _whose(self, what: _Owned) -> str:
        box = [_line(what.box)] if what.box != self._home.box else []
        agent = [f"by {_line(what.agent_id)}"] if what.agent_id and what.agent_id != self._home.agent_id else []
        return f" ({', '.join(box + agent)})" if box or agent else ""


def _summary(note: Note, head: str) -> str | None:
    """Return what a model said the note is about, where that is shorter than the note."""
    context = _line(note.context)
    return f"{head}{context}" if context and len(context) < len(note.content) else None


def _line(text: str) -> str:
    """Fold line breaks: no text may begin a line that looks like another one's."""
    return " ".join(text.split())
