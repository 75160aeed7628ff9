"""Where text went (P6): which calls saw what was erased, or anything that came of it, and which revisions they made.

Text spreads through calls alone. A call is suspect if it was shown an erased note, or another note in a version that
holds something a suspect call wrote. What a call saw was committed before the call was, so that one walk over the
calls, in their order, finds all of them, however long the way.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import bindparam, func, select

from amem.store import rows, schema
from amem.store.rewind import SETS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from pydantic import JsonValue
    from sqlalchemy import BindParameter, Connection, RowMapping, Select

TOLD = (*SETS, "context")
"""Fields that models write, and that models are shown."""
NOT_TAUGHT = ("user", "undo", "rebuild")
"""Kinds of revisions that no note taught: the user's own, and those that follow what they undo."""
_AT_ONCE = 10_000
_SOME: BindParameter[Any] = bindparam("some", expanding=True)
_call, _shown, _cause, _revision = (
    schema.call.c, schema.call_shown.c, schema.revision_cause.c, schema.revision.c,
)  # fmt: skip


class Spread(NamedTuple):
    """Everything that has seen the text."""

    calls: set[int]
    first: int
    """The first of them; no row of an earlier call is concerned."""
    revisions: dict[int, RowMapping]
    """By id, in order: what those calls wrote, and what the erased notes brought about."""

    def holds(self, call_id: int | None) -> bool:
        """Whether a call is one of them."""
        return call_id in self.calls


def spread(connection: Connection, box: str, gone: Collection[str]) -> Spread:
    """Follow the text of the notes `gone` through all calls of their box."""
    caused = ids_of(connection, select(_cause.revision_id).where(_cause.note_id.in_(_SOME)), sorted(gone))
    suspects = _revisions(connection, caused)
    first = _first_call(connection, gone, suspects.values())
    walk = _Walk(connection, box, gone, first)
    walk.mark(suspects.values())
    for call_id, sights in _calls(connection, first):
        if any(walk.is_suspect(note_id, version) for note_id, version in sights):
            walk.add(call_id)
    suspects |= _revisions(connection, walk.written)
    return Spread(walk.calls, first, dict(sorted(suspects.items())))


def ids_of(connection: Connection, query: Select[Any], some: Sequence[Any]) -> list[Any]:
    """Return what a query for one column finds, sorted; its variable `some` stands for the given values."""
    found: set[Any] = set()
    for chunk in rows.chunks(some):
        found.update(connection.execute(query, {"some": chunk}).scalars())
    return sorted(found)


def _revisions(connection: Connection, ids: Sequence[int]) -> dict[int, RowMapping]:
    """Return the revisions that a note may have taught."""
    found: dict[int, RowMapping] = {}
    query = select(schema.revision).where(_revision.id.in_(_SOME), _revision.kind.not_in(NOT_TAUGHT))
    for some in rows.chunks(ids):
        found.update({row["id"]: row for row in connection.execute(query, {"some": some}).mappings()})
    return found


def _first_call(connection: Connection, gone: Collection[str], suspects: Iterable[RowMapping]) -> int:
    """Return the first call that may have seen anything; one after the last where there is none."""
    last = connection.execute(select(func.max(_call.id))).scalar() or 0
    found = [last + 1, *(row["call_id"] or 0 for row in suspects if row["field"] in TOLD)]
    query = select(func.min(_shown.call_id)).where(_shown.note_id.in_(_SOME))
    for some in rows.chunks(sorted(gone)):
        first = connection.execute(query, {"some": some}).scalar()
        found += [] if first is None else [first]
    return min(found)


def _calls(connection: Connection, first: int) -> Iterator[tuple[int, list[tuple[str, int]]]]:
    """Yield each call from the first one on, in order, with the notes it was shown and their versions."""
    query = select(_shown.call_id, _shown.note_id, _shown.version).where(_shown.call_id >= first)
    found = connection.execute(query.order_by(_shown.call_id).execution_options(yield_per=_AT_ONCE))
    for call_id, sights in groupby(found, key=lambda row: row[0]):
        yield call_id, [(note_id, version) for _, note_id, version in sights]


class _Walk:
    """A walk over the calls: which of them are suspect so far, and what came of it."""

    def __init__(self, connection: Connection, box: str, gone: Collection[str], first: int) -> None:
        self._connection = connection
        self._gone = frozenset(gone)
        self._trails: dict[str, _Trail] = {}
        self.calls: set[int] = set()
        self._made: defaultdict[int, list[tuple[int, str, str]]] = defaultdict(list)
        query = select(_revision.call_id, _revision.id, _revision.note_id, _revision.field, _revision.kind).where(
            _revision.box == box, _revision.call_id >= first
        )
        for call_id, key, note_id, field, kind in connection.execute(query):
            if kind not in NOT_TAUGHT:
                self._made[call_id].append((key, note_id, field))

    @property
    def written(self) -> list[int]:
        """The revisions that suspect calls made."""
        return [key for call_id in sorted(self.calls) for key, _, _ in self._made.get(call_id, ())]

    def is_suspect(self, note_id: str, version: int) -> bool:
        """Whether a call that was shown this version of a note was shown something suspect."""
        if note_id in self._gone:
            return True
        trail = self._trails.get(note_id)
        return trail is not None and trail.is_suspect(version)

    def add(self, call_id: int) -> None:
        """Take a call for suspect, with all it wrote."""
        self.calls.add(call_id)
        for key, note_id, field in self._made.get(call_id, ()):
            self._mark(key, note_id, field)

    def mark(self, revisions: Iterable[RowMapping]) -> None:
        """Take revisions for suspect, whichever call made them."""
        for row in revisions:
            self._mark(row["id"], row["note_id"], row["field"])

    def _mark(self, key: int, note_id: str, field: str) -> None:
        if field not in TOLD or note_id in self._gone:
            return
        if note_id not in self._trails:
            self._trails[note_id] = _Trail(self._connection, note_id)
        self._trails[note_id].mark(key)


class _Trail:
    """Which versions of one note hold something suspect."""

    def __init__(self, connection: Connection, note_id: str) -> None:
        query = (
            select(_revision.id, _revision.field, _revision.version, _revision.before, _revision.after)
            .where(_revision.note_id == note_id, _revision.field.in_(TOLD))
            .order_by(_revision.id)
        )
        self._steps = connection.execute(query).all()
        self._suspects: set[int] = set()
        self._versions: list[int] = []
        self._states: list[bool] = []

    def mark(self, key: int) -> None:
        """Take one revision for suspect."""
        self._suspects.add(key)
        self._versions, self._states = [], []

    def is_suspect(self, version: int) -> bool:
        """Whether any field, as it was in this version, holds what a suspect revision brought."""
        if not self._versions:
            self._replay()
        at = bisect_right(self._versions, version)
        return at > 0 and self._states[at - 1]

    def _replay(self) -> None:
        brought: dict[str, set[str]] = {field: set() for field in TOLD}
        held: dict[str, set[str]] = {field: set() for field in TOLD}
        for key, field, version, before, after in self._steps:
            held[field] = _pieces(after)
            if key in self._suspects:
                brought[field] |= held[field] - _pieces(before)
            self._versions.append(version or 0)
            self._states.append(any(held[name] & brought[name] for name in TOLD))


def _pieces(value: JsonValue) -> set[str]:
    """Return what a field holds, piece by piece: the words of a set, or a text as a whole."""
    if isinstance(value, list):
        return {str(word) for word in value}
    return {value} if isinstance(value, str) and value else set()
