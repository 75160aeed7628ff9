"""The graph of cues, tags and notes that reconstruction walks: read off the ledger, kept while nothing changes."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from amem.recall.cues import Cues

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from amem.recall.cues import Held, Vocabulary
    from amem.recall.layout import View
    from amem.store.ledger import Ledger

    State = tuple[int, int]
    Floats = NDArray[np.float64]
    Numbers = NDArray[np.int64]

SALIENT = 16
"""Words of a note without keywords that become its cues: those that fewest other notes hold."""
DAY = 86_400


class Graph:
    """Which cue or tag hangs on which note, and by how much: one row an edge, in order of notes."""

    def __init__(self, view: View, held: Sequence[Held], vocabulary: Vocabulary) -> None:
        # Not the view itself: whoever keeps graphs by view must be able to lose the view.
        self.ids, self.moments, self.speakers = view.ids, view.moments, view.speakers
        self.vocabulary = vocabulary
        self.days = np.array([moment.timestamp() / DAY for moment in view.moments])
        self.size = len(vocabulary.handles)
        words, others = _words(held, self.size), _others(held)
        self.note = np.concatenate([words.note, others.note])
        self.handle = np.concatenate([words.handle, others.handle])
        holders = np.bincount(self.handle, minlength=self.size)
        self.weight = np.concatenate([words.sim, others.sim]) / np.sqrt(1.0 + holders[self.handle])

    def to_notes(self, activation: Floats, decay: Floats) -> Floats:
        """Return what notes get from cues and tags."""
        sent = activation[self.handle] * self.weight * decay[self.note]
        got: Floats = np.bincount(self.note, weights=sent, minlength=len(self.ids)).astype(np.float64)
        return got

    def to_handles(self, activation: Floats, decay: Floats) -> Floats:
        """Return what cues and tags get from notes."""
        sent = activation[self.note] * self.weight * decay[self.note]
        got: Floats = np.bincount(self.handle, weights=sent, minlength=self.size).astype(np.float64)
        return got


class _Edges(NamedTuple):
    note: Numbers
    handle: Numbers
    sim: Floats


def _words(held: Sequence[Held], size: int) -> _Edges:
    """Return the edges of words: all keywords, and the most salient words of notes that have none."""
    counts = np.array([len(one.words) for one in held], dtype=np.int64)
    note = np.repeat(np.arange(len(held)), counts)
    handle = np.concatenate([np.zeros(0, dtype=np.int64), *(one.words for one in held)])
    given = np.repeat(np.array([one.given for one in held], dtype=bool), counts)
    rarity = np.log((1.0 + len(held)) / np.bincount(handle, minlength=size).clip(1))[handle]
    # Ties go to the word that stands first in the note: handle numbers depend on notes that may not be in the view.
    order = np.lexsort((np.arange(len(note)), -rarity, note))
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    place = np.empty(len(note), dtype=np.int64)
    place[order] = np.arange(len(note)) - starts
    best = rarity[order][starts] if len(note) else rarity
    sim = np.where(given, 1.0, rarity / np.maximum(best, 1e-9))
    kept = given | (place < SALIENT)
    return _Edges(note[kept], handle[kept], sim[kept])


def _others(held: Sequence[Held]) -> _Edges:
    """Return the edges of speakers, months, sessions and tags."""
    counts = np.array([len(one.others) for one in held], dtype=np.int64)
    handle = np.concatenate([np.zeros(0, dtype=np.int64), *(one.others for one in held)])
    return _Edges(np.repeat(np.arange(len(held)), counts), handle, np.ones(len(handle)))


class Graphs:
    """The graphs of a ledger's boxes, each made at first use. Any thread may call it."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._lock = threading.Lock()
        self._cues: dict[str, Cues] = {}
        self._graphs: WeakKeyDictionary[View, tuple[State, Graph]] = WeakKeyDictionary()

    def graph(self, box: str, view: View) -> Graph:
        """Return the graph of some notes of a box."""
        with self._lock:
            cues = self._cues.setdefault(box, Cues(self._ledger, box))
            known = self._graphs.get(view)
        state = cues.state()  # a view stays the same while what its notes are known for changes
        if known is None or known[0] != state:
            known = (state, Graph(view, *cues.of(view.ids)))
            with self._lock:
                self._graphs[view] = known
        return known[1]
