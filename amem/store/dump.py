"""Reading a box whole, or some of its notes with all that belongs to them, as the lines of an export."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, select

from amem.model import Cause, Usage
from amem.store import binding, held, queries, rows, schema
from amem.store.lines import AccessLine, CallLine, HeldLine, LinkLine, NoteLine, RevisionLine, UsageLine
from amem.store.plan import LINK_FIELD
from amem.store.renumber import Numbers, renumbered_link, renumbered_plan

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from datetime import datetime

    from sqlalchemy import BindParameter, Connection, RowMapping

    from amem.store.lines import Line

_SOME: BindParameter[Any] = bindparam("some", expanding=True)
_note, _call, _shown = schema.note.c, schema.call.c, schema.call_shown.c
_link, _revision = schema.link.c, schema.revision.c


def begun_at(connection: Connection, box: str) -> datetime | None:
    """Return when a box was made, or None where there is none."""
    moment: datetime | None = connection.execute(
        select(schema.box.c.created_at).where(schema.box.c.name == box)
    ).scalar()
    return moment


def embedding(connection: Connection) -> dict[str, str]:
    """Return what made the vectors."""
    return {key: value for key, value in binding.read_meta(connection).items() if key in binding.KEYS}


def closure(connection: Connection, box: str, note_ids: Collection[str]) -> set[str]:
    """Return notes with all that was distilled from them, and all that took the place of any, however long the way."""
    query = select(_note.id, _note.sources, _note.superseded_by).where(_note.box == box)
    found = connection.execute(query).all()
    successors = {note_id: successor for note_id, _, successor in found if successor is not None}
    distilled = [(note_id, sources) for note_id, sources, _ in found if sources]
    whole = set(note_ids)
    while True:
        more = {note_id for note_id, sources in distilled if not whole.isdisjoint(sources)}
        more |= {successors[note_id] for note_id in whole if note_id in successors}
        if more <= whole:
            return whole
        whole |= more


class Dump:
    """The lines about some notes of a box, or about all of them."""

    def __init__(self, connection: Connection, box: str, only: Collection[str] | None, *, vectors: bool) -> None:
        self._connection = connection
        self._box = box
        self._vectors = vectors
        query = select(_note.id).where(_note.box == box).order_by(_note.rid)
        self._ids = [i for i in connection.execute(query).scalars() if only is None or i in only]
        self._there = frozenset(self._ids)
        self._whole = only is None
        self._links = self._of_box(schema.link)
        self._links = [row for row in self._links if {row["source"], row["target"]} <= self._there]
        self._revisions = [row for row in self._of_box(schema.revision) if self._is_inside(row)]
        self._link_numbers = Numbers({row["id"] for row in self._links} | self._past_links())
        self._revision_numbers = Numbers(row["id"] for row in self._revisions)
        self._calls = self._called()
        self._call_numbers = Numbers(row["id"] for row in self._calls)

    def lines(self) -> Iterator[Line]:
        """Yield them, each kind in its order: notes as they were accepted, history as it happened."""
        yield from self._notes()
        yield from self._call_lines()
        yield from self._link_lines()
        yield from self._revision_lines()
        yield from self._accesses()
        yield from self._held()
        if self._whole:
            yield from self._usage()

    # -- what belongs to it -------------------------------------------------------------------------

    def _of_box(self, table: Any) -> list[RowMapping]:
        query = select(table).where(table.c.box == self._box).order_by(table.c.id)
        return list(self._connection.execute(query).mappings())

    def _is_inside(self, row: RowMapping) -> bool:
        if row["note_id"] not in self._there:
            return False
        link = row["after"] or row["before"] if row["field"] == LINK_FIELD else None
        return link is None or {link["source"], link["target"]} <= self._there

    def _past_links(self) -> set[int]:
        """Return the numbers of all links that ever were: their comings and goings speak of them."""
        return {(row["after"] or row["before"])["id"] for row in self._revisions if row["field"] == LINK_FIELD}

    def _called(self) -> list[RowMapping]:
        """Return the calls that made anything here, or were shown any of the notes."""
        ids = {row["call_id"] for row in (*self._links, *self._revisions)}
        for some in rows.chunks(self._ids):
            shown = select(_shown.call_id).where(_shown.note_id.in_(_SOME))
            built = select(_note.call_id).where(_note.id.in_(_SOME))
            for query in (shown, built):
                ids.update(self._connection.execute(query, {"some": some}).scalars())
        found: list[RowMapping] = []
        for some in rows.chunks(sorted(call_id for call_id in ids if call_id is not None)):
            query = select(schema.call).where(_call.id.in_(_SOME)).order_by(_call.id)
            found += self._connection.execute(query, {"some": some}).mappings()
        return found

    # -- lines --------------------------------------------------------------------------------------

    def _notes(self) -> Iterator[NoteLine]:
        for some in rows.chunks(self._ids):
            stored = queries.stored_notes(self._connection, some, self._box)
            keyed = select(_note.id, _note.source_key, _note.unlearned).where(_note.id.in_(_SOME))
            more = {note_id: rest for note_id, *rest in self._connection.execute(keyed, {"some": some})}
            vectors = self._vectors_of(some) if self._vectors else {}
            for note_id in some:
                source_key, unlearned = more[note_id]
                yield NoteLine(
                    note=stored[note_id].note,
                    source_key=source_key,
                    call=self._call_numbers.of(stored[note_id].call_id),
                    unlearned=unlearned,
                    vector=vectors.get(note_id),
                )

    def _vectors_of(self, ids: Sequence[str]) -> dict[str, str]:
        table = schema.vector.c
        query = select(table.note_id, table.data).where(table.note_id.in_(_SOME))
        found = self._connection.execute(query, {"some": ids})
        return {note_id: base64.b64encode(data).decode("ascii") for note_id, data in found}

    def _call_lines(self) -> Iterator[CallLine]:
        for some in rows.chunks(self._calls):
            query = select(_shown.call_id, _shown.note_id, _shown.version).where(_shown.call_id.in_(_SOME))
            shown: dict[int, list[tuple[str, int]]] = {}
            for call_id, note_id, version in self._connection.execute(query, {"some": [row["id"] for row in some]}):
                if note_id in self._there:
                    shown.setdefault(call_id, []).append((note_id, version))
            for row in some:
                sights = tuple(sorted(shown.get(row["id"], ())))
                about = {name: row[name] for name in ("stage", "model", "prompt", "created_at")}
                yield CallLine(id=self._call_numbers.known(row["id"]), shown=sights, **about)

    def _link_lines(self) -> Iterator[LinkLine]:
        for row in self._links:
            number = self._link_numbers.known(row["id"])
            yield LinkLine(id=number, link=rows.to_link(row, {}), call=self._call_numbers.of(row["call_id"]))

    def _revision_lines(self) -> Iterator[RevisionLine]:
        for some in rows.chunks(self._revisions):
            causes = rows.causes_of(self._connection, [row["id"] for row in some])
            for row in some:
                notes = tuple(note_id for note_id in causes.get(row["id"], ()) if note_id in self._there)
                undoes = self._revision_numbers.of(row["undoes"])
                plain = {name: row[name] for name in ("note_id", "field", "undone", "version", "created_at")}
                yield RevisionLine(
                    id=self._revision_numbers.known(row["id"]),
                    cause=Cause(kind=row["kind"], notes=notes, undoes=undoes, agent_id=row["agent_id"]),
                    call=self._call_numbers.of(row["call_id"]),
                    **plain,
                    **{name: self._value(row, name) for name in ("before", "after")},
                )

    def _value(self, row: RowMapping, name: str) -> Any:
        return renumbered_link(row[name], self._link_numbers) if row["field"] == LINK_FIELD else row[name]

    def _accesses(self) -> Iterator[AccessLine]:
        table = schema.access
        for some in rows.chunks(self._ids):
            query = select(table).where(table.c.note_id.in_(_SOME))
            found = {row["note_id"]: row for row in self._connection.execute(query, {"some": some}).mappings()}
            for note_id in some:
                if note_id in found:
                    yield AccessLine(**found[note_id])

    def _held(self) -> Iterator[HeldLine]:
        for waiting in held.waiting(self._connection, self._box):
            if held.spoken_of(waiting.plan) <= self._there:
                yield HeldLine(plan=renumbered_plan(waiting.plan, self._link_numbers, self._revision_numbers))

    def _usage(self) -> Iterator[UsageLine]:
        table = schema.usage
        query = select(table).where(table.c.box == self._box).order_by(table.c.stage, table.c.model)
        for row in self._connection.execute(query).mappings():
            spent = Usage(**{name: row[name] for name in schema.USAGE_SUMS})
            yield UsageLine(stage=row["stage"], model=row["model"], usage=spent)
