"""Reconstruction (after MRAgent, arXiv 2606.06036): a question activates cues, and cues bring notes back.

Cues, tags and notes are a graph, read off the ledger. What the question names activates cues, never notes. Activation
then spreads along the edges, from cues to notes, from notes to their cues and tags, and from those to further notes.
An edge weighs sim * e^(-lambda * dt): how much the cue says about the note, less the longer the note is away from the
time the question is about (from now, where it names none). A cue on many notes says little: it is a hub, and every edge
of it is divided by the square root of their number. After each step activation is divided by its maximum, and what is
below theta then goes no further. No model is asked, and raw notes have cues as well.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from amem.model import Hit, PathStep
from amem.recall.cues import MONTH, SPEAKER, WORD, Handle, month_of, stem
from amem.recall.graph import DAY
from amem.recall.words import content_words, named

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from amem.filters import Filter
    from amem.recall.features import Question
    from amem.recall.graph import Graph
    from amem.recall.layout import View
    from amem.recall.timefocus import Span
    from amem.rooms import Rooms
    from amem.settings import Settings

    Floats = NDArray[np.float64]
    Numbers = NDArray[np.int64]

_SPEAKER_NAMED = 0.5
"""Activation of a speaker's cue; a word or a month has 1."""
_LATER = 0.5
"""What a note reached at the third level is worth, against one reached at the first."""
_DIGITS = 9
_YEAR = 365.2425


class Spread(NamedTuple):
    """How activation spreads."""

    decay: float
    """lambda, a day."""
    threshold: float
    """theta: activation below this share of the maximum goes no further."""
    levels: int
    """Edges at most between the question's cues and a note: 1 or 2 reach their notes, 3 further notes."""


class Asked(NamedTuple):
    """A cue that the question activates."""

    handle: int
    activation: float
    name: str
    why: str


class Wave(NamedTuple):
    """Activation after one step: all that arrived, as shares of the maximum, and what goes further."""

    arrived: Floats
    fired: Floats


class Reconstruction:
    """What a question brought back, and by which ways."""

    def __init__(self, graph: Graph, asked: Sequence[Asked], decay: Floats, waves: Sequence[Wave]) -> None:
        self._graph = graph
        self._asked = {one.handle: one for one in asked}
        self._decay = decay
        self._waves = waves
        self._shares = [wave.arrived * _LATER**i for i, wave in enumerate(waves[1::2])]
        reached = sum(self._shares, start=np.zeros(len(graph.ids)))
        self.scores: Floats = np.round(_normalised(reached), _DIGITS)
        """Activation of every note of the view, 0 to 1."""
        order = np.argsort(-self.scores, kind="stable")
        self.rows: Numbers = order[self.scores[order] > 0]
        """The notes that were reached, best first, of equal ones the one accepted first."""

    @property
    def onward(self) -> Floats:
        """Activation of the cues and tags that lead from the notes reached first to others; all 0 at one level."""
        return self._waves[2].fired if len(self._waves) > 2 else np.zeros(self._graph.size)

    def path(self, row: int) -> tuple[PathStep, ...]:
        """Return the strongest way from a cue of the question to a note."""
        if not self.scores[row]:
            return ()
        first, *later = (share[row] for share in self._shares)
        if not later or first >= later[0]:
            return (self._from_cue(row),)
        here = np.flatnonzero(self._graph.note == row)
        best = here[np.argmax(self._waves[2].fired[self._graph.handle[here]] * self._graph.weight[here])]
        handle = int(self._graph.handle[best])
        there = np.flatnonzero((self._graph.handle == handle) & (self._graph.note != row))
        notes = self._graph.note[there]
        sent = self._waves[1].fired[notes] * self._graph.weight[there] * self._decay[notes]
        if not sent.any():  # only its own activation came back to it
            return (self._from_cue(row),)
        before = int(notes[np.argmax(sent)])
        ids, shared = self._graph.ids, self._graph.vocabulary.handles[handle]
        step = PathStep(source=ids[before], target=ids[row], relation=shared.kind, reason=f"both have {shared}")
        return (self._from_cue(before), step)

    def _from_cue(self, row: int) -> PathStep:
        here = np.flatnonzero(self._graph.note == row)
        best = here[np.argmax(self._waves[0].fired[self._graph.handle[here]] * self._graph.weight[here])]
        cue = self._asked[int(self._graph.handle[best])]
        kind = self._graph.vocabulary.handles[cue.handle].kind
        return PathStep(source=f"cue:{cue.name}", target=self._graph.ids[row], relation=kind, reason=cue.why)


def reconstruct(
    graph: Graph, question: Question, *, now: datetime, spread: Spread, opened: Collection[int] | None = None
) -> Reconstruction:
    """Spread activation from the question's cues.

    Args:
        graph: the cues, tags and notes.
        question: what is asked.
        now: what dt runs from where the question names no time.
        spread: how far and how fast.
        opened: the only cues and tags that may lead from a note to others; None opens all.
    """
    asked = cues_of(question, graph)
    decay = np.exp(-spread.decay * _away(graph.days, question.focus, now))
    start = np.zeros(graph.size)
    for one in asked:
        start[one.handle] = max(start[one.handle], one.activation)
    waves = [Wave(start, start)]
    for level in range(spread.levels):
        onward = graph.to_handles if level % 2 else graph.to_notes
        arrived = np.round(_normalised(onward(waves[-1].fired, decay)), _DIGITS)
        fired = np.where(arrived >= spread.threshold, arrived, 0.0)
        if level % 2 and opened is not None:
            fired = np.where(np.isin(np.arange(graph.size), list(opened)), fired, 0.0)
        waves.append(Wave(arrived, fired))
    return Reconstruction(graph, asked, decay, waves)


def spread_of(settings: Settings) -> Spread:
    """Return how activation spreads by the settings."""
    return Spread(settings.reconstruct_decay, settings.reconstruct_threshold, settings.reconstruct_levels)


def recollection(
    rooms: Rooms, question: Question, now: datetime, opened: Mapping[str, Collection[Handle]] | None = None
) -> Callable[[str, View], Reconstruction]:
    """Return the arm: for a box and the notes of it that may be found, what the question brings back.

    Args:
        rooms: the memory's parts.
        question: what is asked.
        now: what dt runs from where the question names no time.
        opened: by box, the only tags and cues that lead from note to note; a box that is missing opens all.
    """

    def arm(box: str, view: View) -> Reconstruction:
        graph = rooms.graphs.graph(box, view)
        chosen = (opened or {}).get(box)
        numbers = None if chosen is None else [n for n in map(graph.vocabulary.find, chosen) if n is not None]
        return reconstruct(graph, question, now=now, spread=spread_of(rooms.settings), opened=numbers)

    return arm


def view_of(rooms: Rooms, box: str, given: Filter) -> View:
    """Return the notes of a box that a filter lets through."""
    restricted = given.restricts or given.includes_hidden
    return rooms.layouts.view(box, rooms.ledger.matching_ids(box, given) if restricted else None)


def remember(rooms: Rooms, box: str, question: Question, *, k: int, given: Filter, now: datetime) -> list[Hit]:
    """Return the `k` notes that cues alone bring back, best first, each with the way to it."""
    view = view_of(rooms, box, given)
    brought = recollection(rooms, question, now)(box, view)
    best = brought.rows[:k].tolist()
    notes = rooms.ledger.get([view.ids[row] for row in best], boxes=[box])
    return [
        Hit(
            note=notes[view.ids[row]],
            score=float(brought.scores[row]),
            via="reconstruction",
            path=brought.path(row),
        )
        for row in best
        if view.ids[row] in notes
    ]


def cues_of(question: Question, graph: Graph) -> list[Asked]:
    """Return the cues a question activates: its words, the speakers it names, the months it speaks of."""
    words = content_words(question.text, graph.speakers)
    names = named(question.text, graph.speakers)
    months = _months_meant(question.focus, graph.moments)
    meant = [
        *((Handle(WORD, stem(word)), 1.0, word, f"the question says {word!r}") for word in words),
        *((Handle(SPEAKER, name.casefold()), _SPEAKER_NAMED, name, f"the question names {name}") for name in names),
        *((Handle(MONTH, month), 1.0, month, f"the question is about {month}") for month in months),
    ]
    asked = []
    for handle, activation, name, why in meant:
        number = graph.vocabulary.find(handle)
        if number is not None and number < graph.size:  # the vocabulary may have grown since the graph was made
            asked.append(Asked(number, activation, name, why))
    return asked


def _months_meant(focus: Span | None, moments: Sequence[datetime]) -> list[str]:
    """Return the months of notes that a span of time touches, in order."""
    if focus is None:
        return []
    last = focus.end - timedelta(microseconds=1)
    first_month, last_month = 12 * focus.start.year + focus.start.month, 12 * last.year + last.month
    meant = set()
    for moment in moments:
        month = 12 * moment.year + moment.month
        late = (month - first_month) % 12 if focus.yearly else month - first_month
        if 0 <= late <= last_month - first_month:
            meant.add(month_of(moment))
    return sorted(meant)


def _away(days: Floats, focus: Span | None, now: datetime) -> Floats:
    """Return how many days each note is away from the time the question is about, less what all are away."""
    if not len(days):
        return days
    if focus is None:
        away = np.abs(now.timestamp() / DAY - days)
    else:
        start, end = focus.start.timestamp() / DAY, focus.end.timestamp() / DAY
        years = np.round((days - (start + end) / 2) / _YEAR) * _YEAR if focus.yearly else np.zeros(len(days))
        away = np.maximum(np.maximum(start + years - days, days - end - years), 0.0)
    nearest: Floats = away - away.min()  # a common factor changes nothing, and this one keeps e^-x from vanishing
    return nearest


def _normalised(values: Floats) -> Floats:
    top = float(values.max()) if len(values) else 0.0
    return values / top if top > 0 else values
