"""What recall knows of a box's notes at a glance: sessions, speakers, times and neighbours, as arrays.

A copy in memory of a few columns, brought up to date from the ledger at each search; another process's writes are
seen as well.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from amem.recall.words import has_time_word, is_question
from amem.render import MONTHS

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from numpy.typing import NDArray

    from amem.store.ledger import Ledger
    from amem.store.queries import Glance

OFFSETS = (-2, -1, 1, 2)
"""Places in the session, before and after a turn, whose notes support it."""
NOBODY = -1
_MONTH_NUMBERS = {month.lower(): number for number, month in enumerate(MONTHS, start=1)}


class View:
    """Some notes of a box, in the order they were accepted; `rows` below are positions in that order."""

    def __init__(self, glances: Sequence[Glance]) -> None:
        self.ids = [glance.id for glance in glances]
        self.rids = np.array([glance.rid for glance in glances], dtype=np.int64)
        self.moments = [glance.occurred_at for glance in glances]
        self.dates = {
            "day": np.array([moment.day for moment in self.moments], dtype=np.int64),
            "month": np.array([moment.month for moment in self.moments], dtype=np.int64),
            "year": np.array([moment.year for moment in self.moments], dtype=np.int64),
        }
        self.asks = np.array([is_question(glance.content) for glance in glances], dtype=float)
        self.time_word = np.array([has_time_word(glance.content) for glance in glances], dtype=float)
        self.row_of = {note_id: row for row, note_id in enumerate(self.ids)}
        self.speakers, self.speaker = _numbered([glance.speaker for glance in glances])
        self.sessions, self.session = _numbered([glance.session_id for glance in glances])
        self.around = _around(self.session, [glance.position or 0 for glance in glances], self.rids)

    def __len__(self) -> int:
        return len(self.ids)

    def rows(self, rids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows of those ledger rows that are in the view."""
        wanted = rids
        at = np.searchsorted(self.rids, wanted)
        inside = at < len(self.rids)
        at, wanted = at[inside], wanted[inside]
        found: NDArray[np.int64] = at[self.rids[at] == wanted]
        return found

    def rows_dated(self, word: str) -> NDArray[np.int64]:
        """Return the rows whose date, written out as `8 May 2023`, holds a word."""
        if word.isdecimal() and len(word) <= 4:
            unit, value = ("day", int(word)) if len(word) <= 2 else ("year", int(word))
        elif word in _MONTH_NUMBERS:
            unit, value = "month", _MONTH_NUMBERS[word]
        else:
            return np.zeros(0, dtype=np.int64)
        return np.flatnonzero(self.dates[unit] == value)

    def widened(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return rows and the rows around them in their sessions, each once, in order."""
        wide = np.unique(np.concatenate([rows, *(self.around[k][rows] for k in OFFSETS)]))
        return wide[wide >= 0]


def _numbered(names: Sequence[str | None]) -> tuple[list[str], NDArray[np.int64]]:
    """Return the distinct names and each one's number; no name is -1."""
    distinct = sorted({name for name in names if name is not None})
    number = {name: i for i, name in enumerate(distinct)}
    return distinct, np.array([NOBODY if name is None else number[name] for name in names], dtype=np.int64)


def _around(
    session: NDArray[np.int64], positions: Sequence[int], rids: NDArray[np.int64]
) -> dict[int, NDArray[np.int64]]:
    """Return for each offset the row that many places away in the same session, or -1.

    Places are counted among the notes of the view, so that a note outside it changes nothing.
    """
    order = np.lexsort((rids, np.asarray(positions, dtype=np.int64), session))
    sorted_session = session[order]
    around = {}
    for offset in OFFSETS:
        other = np.full(len(order), NOBODY, dtype=np.int64)
        step = abs(offset)
        if len(order) > step:
            same = (sorted_session[step:] == sorted_session[:-step]) & (sorted_session[step:] != NOBODY)
            low, high = order[:-step][same], order[step:][same]
            here, there = (high, low) if offset < 0 else (low, high)
            other[here] = there
        around[offset] = other
    return around


class _Box:
    """One box's glances, by row id, and the view of those that are not archived."""

    def __init__(self) -> None:
        self.state = (-1, -1)
        self.glances: dict[int, Glance] = {}
        self.default: View | None = None


class Layouts:
    """The layouts of all boxes of a ledger, each read at first use. Any thread may call it."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._lock = threading.Lock()
        self._boxes: dict[str, _Box] = {}

    def view(self, box: str, allowed: Collection[str] | None = None) -> View:
        """Return the notes of a box that are not archived, or those of `allowed`."""
        with self._lock:
            layout = self._boxes.setdefault(box, _Box())
            self._refresh(box, layout)
            if allowed is not None:
                wanted = set(allowed)
                return View([glance for _, glance in sorted(layout.glances.items()) if glance.id in wanted])
            if layout.default is None:
                layout.default = View([g for _, g in sorted(layout.glances.items()) if not g.archived])
            return layout.default

    def _refresh(self, box: str, layout: _Box) -> None:
        state = self._ledger.box_state(box)
        if state == layout.state:
            return
        revision, epoch = layout.state
        if epoch != state[1]:
            layout.glances.clear()
            revision = -1
        last = max(layout.glances, default=-1)
        layout.glances.update(
            (glance.rid, glance) for glance in self._ledger.glances(box, after_rid=last, after_revision=revision)
        )
        layout.state = state
        layout.default = None
