"""Items of a LangGraph store as notes of one box: found by key, put anew, deleted, listed and filtered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from amem.errors import InputError, NoteNotFound
from amem.filters import same_json
from amem.verbs.reading import MAX_PAGE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from amem.memory import AsyncMemory
    from amem.model import Note, Trust

_SOURCE = "langgraph:"
"""Before the key, in a note's source."""
_FIELD = "langgraph"
"""Field of a note's metadata that holds key and value."""


class Kept(NamedTuple):
    """An item as it stands."""

    key: str
    value: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    note_id: str


class Shelf:
    """The items of one box.

    What the box has from elsewhere, turns of a session or facts, say, is an item as well: its id is the key, and the
    value is `{"content": …}`.
    """

    def __init__(self, box: AsyncMemory) -> None:
        self._box = box

    async def get(self, key: str) -> Kept | None:
        """Return the item of a key."""
        first = await self._box.by_source(_SOURCE + key)
        if first is not None:
            return _kept(await self._current(first), first)
        note = await self._note(key)
        return None if note is None or _key(note) is not None else _kept(note, note)

    async def put(self, key: str, value: dict[str, Any], text: str, *, trust: Trust, wait: bool) -> None:
        """Store an item; one that is there already is superseded, and stays in the history."""
        given: dict[str, Any] = {"metadata": {_FIELD: {"key": key, "value": value}}, "trust": trust, "wait": wait}
        while not await self._is_put(key, value, text, given):
            pass  # somebody else has put or deleted it meanwhile: look again

    async def _is_put(self, key: str, value: dict[str, Any], text: str, given: dict[str, Any]) -> bool:
        first = await self._box.by_source(_SOURCE + key)
        if first is None:
            return (await self._box.add(text, source=_SOURCE + key, **given)).is_new
        current = await self._current(first)
        if same_json(_value(current), value) and current.content == text:
            return True
        try:
            await self._box.correct(current.id, text, **given)
        except InputError:
            again = await self._note(current.id)
            if again is not None and again.superseded_by is None:
                raise  # it is the value that is refused
            return False
        except NoteNotFound:
            return False
        return True

    async def delete(self, key: str) -> None:
        """Forget an item for good, with what stood under its key before; and the box, if nothing is left."""
        notes = await self._notes()
        ids = [note.id for note in notes if _key(note) == key or (note.id == key and _key(note) is None)]
        if not ids:
            return
        await self._box.forget(ids)
        if not (await self._box.list(limit=1, archived=True, outdated=True)).notes:
            await self._box.forget(whole_box=True)

    async def all(self) -> list[Kept]:
        """Return all items, in the order in which they were first put."""
        by_key: dict[str, list[Note]] = {}
        for note in await self._notes():
            key = _key(note)
            if key is not None or (note.superseded_by is None and note.status != "archived"):
                by_key.setdefault(note.id if key is None else key, []).append(note)
        return [_kept(_standing(notes), notes[0]) for notes in by_key.values()]

    async def of(self, note: Note) -> Kept:
        """Return the item that a note is."""
        key = _key(note)
        first = None if key is None else await self._box.by_source(_SOURCE + key)
        return _kept(note, first or note)

    async def _notes(self) -> list[Note]:
        page = await self._box.list(limit=MAX_PAGE, archived=True, outdated=True)
        notes = list(page.notes)
        while page.next is not None:
            page = await self._box.list(limit=MAX_PAGE, after=page.next, archived=True, outdated=True)
            notes += page.notes
        return notes

    async def _current(self, note: Note) -> Note:
        """Follow what took a note's place, as long as it stands under the same key; a summary, say, does not."""
        while note.superseded_by is not None:
            later = await self._note(note.superseded_by)
            if later is None or _key(later) != _key(note):
                break
            note = later
        return note

    async def _note(self, note_id: str) -> Note | None:
        try:
            return await self._box.get(note_id)
        except NoteNotFound:
            return None


def _standing(notes: Sequence[Note]) -> Note:
    """Return which of the notes of one key stands: what another took the place of does not, nor what was undone."""
    ids = {note.id for note in notes}
    left = [note for note in notes if note.superseded_by not in ids]
    return max(left, key=lambda note: note.status != "archived") if len(left) > 1 else left[0]


def _kept(note: Note, first: Note) -> Kept:
    key = _key(note)
    value = {"content": note.content} if key is None else _value(note)
    return Kept(note.id if key is None else key, value, first.created_at, note.created_at, note.id)


def _key(note: Note) -> str | None:
    item = note.metadata.get(_FIELD)
    return str(item["key"]) if isinstance(item, dict) and "key" in item and "value" in item else None


def _value(note: Note) -> dict[str, Any]:
    item = note.metadata[_FIELD]
    assert isinstance(item, dict)
    value = item["value"]
    assert isinstance(value, dict)
    return value


# -- filters over values, and over namespaces ---------------------------------------------------------


def fits(value: Any, wanted: Any) -> bool:
    """Whether a value is as a filter wants it: equal, or in the parts that are named, or by an operator such as `$gt`.

    Raises:
        InputError: an operator is unknown.
    """
    if isinstance(wanted, (list, tuple)):
        return isinstance(value, list) and len(value) == len(wanted) and all(map(fits, value, wanted))
    if not isinstance(wanted, dict):
        return same_json(value, wanted)
    if any(name.startswith("$") for name in wanted):
        return all(_compares(value, operator, other) for operator, other in wanted.items())
    return isinstance(value, dict) and all(fits(value.get(name), part) for name, part in wanted.items())


def _compares(value: Any, operator: str, other: Any) -> bool:
    if operator in ("$eq", "$ne"):
        return same_json(value, other) == (operator == "$eq")
    if operator not in ("$gt", "$gte", "$lt", "$lte"):
        raise InputError(f"the filter has {operator!r}; there are $eq, $ne, $gt, $gte, $lt and $lte")
    numbers = all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in (value, other))
    if not numbers and not (isinstance(value, str) and isinstance(other, str)):
        return False
    if operator in ("$gt", "$gte"):
        return bool(value > other or (operator == "$gte" and value == other))
    return bool(value < other or (operator == "$lte" and value == other))


Namespace = tuple[str, ...]


def listed(namespaces: Sequence[Namespace], op: Any) -> list[Namespace]:
    """Return the namespaces that fit the conditions of a `ListNamespacesOp`, cut to its depth, a page of them."""
    conditions = op.match_conditions or ()
    found = [space for space in namespaces if all(_matches(space, condition) for condition in conditions)]
    cut = sorted({space if op.max_depth is None else space[: op.max_depth] for space in found})
    return cut[op.offset : op.offset + op.limit]


def _matches(space: Namespace, condition: Any) -> bool:
    path = tuple(condition.path)
    if len(space) < len(path):
        return False
    part = space[: len(path)] if condition.match_type == "prefix" else space[len(space) - len(path) :]
    return all(want in ("*", have) for have, want in zip(part, path, strict=True))
