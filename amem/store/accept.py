"""Accepting raw notes: what is new is stored, what was seen before is found, every turn gets its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from sqlalchemy import bindparam, select

from amem.errors import InputError
from amem.store import queries, rows, schema, sqlite, writes
from amem.store.prepared import PreparedFor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy as np
    from sqlalchemy import Connection

    from amem.model import Note

    Keyed = tuple[Note, str | None]

K = TypeVar("K")
V = TypeVar("V")

_note = schema.note.c
_KNOWN = PreparedFor(
    lambda keys: select(_note.source_key, _note.id).where(_note.box == bindparam("box"), _note.source_key.in_(keys))
)
_TAKEN = select(_note.position).where(
    _note.box == bindparam("box"),
    _note.session_id == bindparam("session_id"),
    _note.position.in_(bindparam("some", expanding=True)),
)


def accept(
    connection: Connection,
    notes: Sequence[Keyed],
    vectors: Mapping[str, np.ndarray],
    render: Callable[[Note], str],
    *,
    full_text: bool,
) -> list[tuple[Note, bool]]:
    """Store raw notes with their source keys; see `Ledger.accept`."""
    for box, moment in {note.box: note.created_at for note, _ in notes}.items():
        writes.ensure_box(connection, box, moment)
    seen = _seen(connection, notes)
    places = _Places(connection, [note for note, _ in notes])
    accepted: list[tuple[Note, bool]] = []
    fresh: list[Keyed] = []
    for note, key in notes:
        if key is not None and (note.box, key) in seen:
            accepted.append((seen[note.box, key], False))
            continue
        placed = places.place(note)
        if key is not None:
            seen[note.box, key] = placed
        fresh.append((placed, key))
        accepted.append((placed, True))
    rids = writes.insert_notes(connection, fresh)
    new = [(note, rid, render(note)) for (note, _), rid in zip(fresh, rids, strict=True)]
    for box in dict.fromkeys(note.box for note, _, _ in new):
        here = [(note.id, rid, text) for note, rid, text in new if note.box == box]
        if full_text:
            sqlite.put_fts(connection, box, {rid: text for _, rid, text in here})
        have = {note_id: vectors[text] for note_id, _, text in here if text in vectors}
        writes.put_vectors(connection, box, have, fresh=True)
    return accepted


def _seen(connection: Connection, notes: Sequence[Keyed]) -> dict[tuple[str, str], Note]:
    """Return the stored notes whose source is among the given ones, by box and source."""
    found: dict[tuple[str, str], str] = {}
    for box, keys in _grouped((note.box, key) for note, key in notes if key is not None).items():
        for key, note_id in _KNOWN.rows(connection, keys, box=box):
            found[box, key] = note_id
    stored = queries.notes_by_id(connection, list(found.values()))
    return {at: stored[note_id] for at, note_id in found.items()}


class _Places:
    """The places in sessions: a note without one gets the next, and no place is given twice."""

    def __init__(self, connection: Connection, notes: Sequence[Note]) -> None:
        self._connection = connection
        self._next: dict[tuple[str, str], int] = {}
        self._taken: dict[tuple[str, str], set[int]] = {}
        placed = [note for note in notes if note.position is not None]
        wanted = (((n.box, n.session_id), n.position) for n in placed if n.session_id is not None)
        for (box, session_id), positions in _grouped(wanted).items():
            taken = self._taken[box, session_id] = set()
            for some in rows.chunks(positions):
                about = {"box": box, "session_id": session_id, "some": some}
                taken.update(connection.execute(_TAKEN, about).scalars())

    def place(self, note: Note) -> Note:
        """Return the note with its place.

        Raises:
            InputError: the place that the note wants is taken.
        """
        if note.session_id is None:
            return note
        session = (note.box, note.session_id)
        taken = self._taken.setdefault(session, set())
        if session not in self._next:
            self._next[session] = writes.next_position(self._connection, *session)
        position = self._next[session] if note.position is None else note.position
        if position in taken:
            raise InputError(
                f"position {position} of session {note.session_id!r} is taken by another note; nothing was stored."
                " Leave the position out, or give the `source` of the message if it is the same one again."
            )
        taken.add(position)
        self._next[session] = max(self._next[session], position + 1)
        return note if note.position is not None else note.model_copy(update={"position": position})


def _grouped(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    grouped: dict[K, list[V]] = {}
    for key, value in pairs:
        grouped.setdefault(key, []).append(value)
    return grouped
