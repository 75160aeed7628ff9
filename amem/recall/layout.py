"""What recall knows of a box's notes at a glance: sessions, speakers, times and neighbours, as arrays.

A copy in memory of a few columns, brought up to date from the ledger at each search; another process's writes are
seen as well.
"""

from __future__ import annotations

import threading
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from amem.recall.words import has_time_word, is_question
from amem.render import MONTHS
from amem.store.matrix import Aligned, Growing

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from amem.store.ledger import Ledger
    from amem.store.queries import Glance

OFFSETS = (-2, -1, 1, 2)
"""Places in the session, before and after a turn, whose notes support it."""
NOBODY = -1
_POSTINGS = 4_000_000
"""Numbers of rows kept of a box's words, at 8 bytes each."""
_NUMBERS = ("rid", "speaker", "session", "position", "day", "month", "year", "hidden")
_SIGNS = ("asks", "time_word")
_MONTH_NUMBERS = {month.lower(): number for number, month in enumerate(MONTHS, start=1)}


class Columns:
    """What is known of notes, a column each, in the order they were accepted; they only grow."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.moments: list[datetime] = []
        self.speakers: dict[str, int] = {}
        self.sessions: dict[str, int] = {}
        self.numbers = Growing(len(_NUMBERS), np.int64)
        self.signs = Growing(len(_SIGNS), np.float64)

    def extend(self, glances: Sequence[Glance]) -> None:
        """Add notes that came after those it has."""
        if not glances:
            return
        self.ids += [glance.id for glance in glances]
        self.moments += [glance.occurred_at for glance in glances]
        self.numbers.extend([self._numbers(glance) for glance in glances])
        self.signs.extend([(is_question(glance.content), has_time_word(glance.content)) for glance in glances])

    def _numbers(self, glance: Glance) -> tuple[int, ...]:
        day = glance.occurred_at
        who = NOBODY if glance.speaker is None else self.speakers.setdefault(glance.speaker, len(self.speakers))
        where = NOBODY if glance.session_id is None else self.sessions.setdefault(glance.session_id, len(self.sessions))
        return (
            glance.rid, who, where, glance.position or 0, day.day, day.month, day.year, glance.hidden,
        )  # fmt: skip


class View:
    """Some notes of a box, in the order they were accepted; `rows` below are positions in that order."""

    def __init__(self, columns: Columns, rows: NDArray[np.int64] | None = None) -> None:
        """See all notes of the columns as they are now, or those of some of their rows, ascending."""
        some = slice(len(columns.ids)) if rows is None else rows
        self.ids = columns.ids[some] if isinstance(some, slice) else [columns.ids[row] for row in some]
        self.moments = columns.moments[some] if isinstance(some, slice) else [columns.moments[row] for row in some]
        number = dict(zip(_NUMBERS, np.ascontiguousarray(columns.numbers.values[some].T), strict=True))
        self.asks, self.time_word = np.ascontiguousarray(columns.signs.values[some].T)
        self.rids = number["rid"]
        self.dates = {unit: number[unit] for unit in ("day", "month", "year")}
        self.speakers, self.speaker = _used(list(columns.speakers), number["speaker"], all_of=rows is None)
        self.sessions, self.session = _used(list(columns.sessions), number["session"], all_of=rows is None)
        self.around = _around(self.session, number["position"], self.rids)
        self.aligned = Aligned(self.ids)

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def row_of(self) -> dict[str, int]:
        """The row of each id."""
        return {note_id: row for row, note_id in enumerate(self.ids)}

    @cached_property
    def by_id(self) -> NDArray[np.int64]:
        """Each row's place in the order of ids."""
        places = np.empty(len(self.ids), dtype=np.int64)
        places[sorted(range(len(self.ids)), key=self.ids.__getitem__)] = np.arange(len(self.ids))
        return places

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
        wanted = np.zeros(len(self) + 1, dtype=bool)  # the last place is the row "no such note"
        wanted[rows] = True
        for offset in OFFSETS:
            wanted[self.around[offset][rows]] = True
        return np.flatnonzero(wanted[:-1])


def _used(names: list[str], numbers: NDArray[np.int64], *, all_of: bool) -> tuple[list[str], NDArray[np.int64]]:
    """Return the names that notes of a view have, and each note's number among them; no name is -1.

    A name that only notes outside the view have must not count: it would change what is computed inside.
    """
    if all_of:
        return names, numbers
    used, renumbered = np.unique(numbers, return_inverse=True)
    nobody = int(len(used) > 0 and used[0] == NOBODY)
    return [names[number] for number in used[nobody:]], renumbered - nobody


def _around(
    session: NDArray[np.int64], positions: NDArray[np.int64], rids: NDArray[np.int64]
) -> dict[int, NDArray[np.int64]]:
    """Return for each offset the row that many places away in the same session, or -1.

    Places are counted among the notes of the view, so that a note outside it changes nothing.
    """
    order = np.lexsort((rids, positions, session))
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


class Postings:
    """Which notes hold a word, for words asked of late: speakers' names come in every other question."""

    def __init__(self, read: Callable[[Sequence[str]], list[NDArray[np.int64]]]) -> None:
        self._read = read
        self._known: dict[str, NDArray[np.int64]] = {}
        self._room = _POSTINGS

    def __call__(self, words: Sequence[str]) -> list[NDArray[np.int64]]:
        """Return the ledger rows that hold each word, ascending."""
        found = {word: self._known[word] for word in words if word in self._known}
        unknown = [word for word in dict.fromkeys(words) if word not in found]
        if unknown:
            fresh = dict(zip(unknown, self._read(unknown), strict=True))
            self._keep(fresh)
            found |= fresh
        return [found[word] for word in words]

    def _keep(self, fresh: dict[str, NDArray[np.int64]]) -> None:
        self._room -= sum(map(len, fresh.values()))
        if self._room < 0:
            self._known, self._room = {}, _POSTINGS
            return
        self._known |= fresh


class _Box:
    """One box's columns, the view of the notes that are not hidden, and what is known of words."""

    def __init__(self) -> None:
        self.state = (-1, -1)
        self.columns = Columns()
        self.default: View | None = None
        self.postings: Postings | None = None


class Layouts:
    """The layouts of all boxes of a ledger, each read at first use. Any thread may call it."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._lock = threading.Lock()
        self._boxes: dict[str, _Box] = {}

    def view(self, box: str, allowed: Collection[str] | None = None) -> View:
        """Return the notes of a box that are neither archived nor outdated, or those of `allowed`."""
        with self._lock:
            layout = self._boxes.setdefault(box, _Box())
            self._refresh(box, layout)
            columns = layout.columns
            if allowed is not None:
                wanted = set(allowed)
                rows = [row for row, note_id in enumerate(columns.ids) if note_id in wanted]
                return View(columns, np.array(rows, dtype=np.int64))
            if layout.default is None:
                here = columns.numbers.values[:, _NUMBERS.index("hidden")] == 0
                layout.default = View(columns, None if here.all() else np.flatnonzero(here))
            return layout.default

    def postings(self, box: str, words: Sequence[str]) -> list[NDArray[np.int64]]:
        """Return for each word the ledger rows of the box's notes that hold it, by its stem, ascending."""
        with self._lock:
            layout = self._boxes.setdefault(box, _Box())
            if layout.postings is None:
                layout.postings = Postings(partial(self._ledger.postings, box))
            found = layout.postings
        # What is read now may be newer than what the copy was begun for: then the next look begins another.
        return found(words)

    def _refresh(self, box: str, layout: _Box) -> None:
        """Read the notes that came since; whatever else this knows of a note changes with the box's epoch alone."""
        state = self._ledger.box_state(box)
        if state == layout.state:
            return
        if layout.state[1] != state[1]:
            layout.columns = Columns()
        known = layout.columns.numbers.values
        last = int(known[-1, 0]) if len(known) else -1
        news = sorted(self._ledger.glances(box, after_rid=last, after_revision=-1))
        if news or layout.state[1] != state[1]:
            layout.columns.extend(news)
            layout.default = None
        layout.postings = None
        layout.state = state
