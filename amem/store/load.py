"""Writing the lines of an export into an empty box: the same notes and the same history, under new numbers.

Everything is checked first, and written in one transaction, or nothing is.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, delete, insert, select

from amem.errors import InputError
from amem.store import binding, counts, held, rows, schema, sqlite, writes
from amem.store.lines import AccessLine, CallLine, HeldLine, LinkLine, NoteLine, RevisionLine, UsageLine
from amem.store.plan import LINK_FIELD
from amem.store.renumber import Numbers, renumbered_link, renumbered_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sqlalchemy import BindParameter, Connection, Table

    from amem.model import Note
    from amem.store.lines import Header, Line

_SOME: BindParameter[Any] = bindparam("some", expanding=True)
_note = schema.note.c
_SHOWN = 3


class Load:
    """The lines of one export, sorted by what they tell of."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self.notes: list[NoteLine] = []
        self.calls: list[CallLine] = []
        self.links: list[LinkLine] = []
        self.revisions: list[RevisionLine] = []
        self.accesses: list[AccessLine] = []
        self.held: list[HeldLine] = []
        self.usage: list[UsageLine] = []
        places: dict[type, list[Any]] = {
            NoteLine: self.notes, CallLine: self.calls, LinkLine: self.links, RevisionLine: self.revisions,
            AccessLine: self.accesses, HeldLine: self.held, UsageLine: self.usage,
        }  # fmt: skip
        for line in lines:
            places[type(line)].append(line)

    def write(
        self,
        connection: Connection,
        box: str,
        header: Header,
        render: Callable[[Note], str],
        *,
        full_text: bool,
    ) -> None:
        """Write everything into a box; vectors only where they were made as those of this ledger are.

        Raises:
            InputError: the box has notes, or the memory has one of these notes; nothing was stored.
        """
        _expect_room(connection, box, [line.note.id for line in self.notes])
        if not self.notes:
            return
        writes.ensure_box(connection, box, header.created_at)
        calls = self._write_calls(connection)
        rids = self._write_notes(connection, box, calls)
        if full_text:
            sqlite.put_fts(connection, box, {rids[line.note.id]: render(line.note) for line in self.notes})
        made_with = {key: value for key, value in binding.read_meta(connection).items() if key in binding.KEYS}
        self._write_vectors(connection, box, usable=header.embedding == made_with)
        links = self._write_links(connection, box, calls)
        revisions = self._write_revisions(connection, box, calls, links)
        accesses = [line.model_dump(exclude={"line"}) for line in self.accesses]
        _insert(connection, schema.access, accesses)
        for line in self.held:
            held.keep(connection, renumbered_plan(line.plan, links, revisions, box))
        for spent in self.usage:
            writes.add_usage(connection, box, spent.stage, spent.model, spent.usage)
        writes.raise_box(connection, box, "epoch")

    def _write_calls(self, connection: Connection) -> Numbers:
        plain = [line.model_dump(include={"stage", "model", "prompt", "created_at"}) for line in self.calls]
        numbers = Numbers((line.id for line in self.calls), _numbered(connection, schema.call, plain))
        shown = [
            {"call_id": numbers.known(line.id), "note_id": note_id, "version": version}
            for line in self.calls
            for note_id, version in line.shown
        ]
        _insert(connection, schema.call_shown, shown)
        return numbers

    def _write_notes(self, connection: Connection, box: str, calls: Numbers) -> dict[str, int]:
        values = [
            {
                **rows.note_row(line.note),
                "box": box,
                "source_key": line.source_key,
                "call_id": calls.of(line.call),
                "unlearned": line.unlearned,
            }
            for line in self.notes
        ]
        _insert(connection, schema.note, values)
        query = select(_note.id, _note.rid).where(_note.box == box)
        return {note_id: rid for note_id, rid in connection.execute(query)}  # noqa: C416 - rows are not pairs to mypy

    def _write_vectors(self, connection: Connection, box: str, *, usable: bool) -> None:
        blobs = {line.note.id: base64.b64decode(line.vector) for line in self.notes if line.vector and usable}
        size = 4 * counts.stored_dimension(connection) or len(next(iter(blobs.values()), b""))
        whole = {note_id: blob for note_id, blob in blobs.items() if len(blob) == size and size % 4 == 0}
        vectors = dict(zip(whole, rows.to_matrix(list(whole.values()), size // 4), strict=True))
        writes.put_vectors(connection, box, vectors, fresh=True)

    def _write_links(self, connection: Connection, box: str, calls: Numbers) -> Numbers:
        past = {_link_id(line) for line in self.revisions if line.field == LINK_FIELD}
        numbers = sorted(past | {line.id for line in self.links})
        mapped = Numbers(numbers, _reserved(connection, len(numbers), box, self.notes[0].note))
        values = [
            {
                **rows.link_row(line.link, calls.of(line.call)),
                "id": mapped.known(line.id),
                "box": box,
            }
            for line in self.links
        ]
        _insert(connection, schema.link, values)
        return mapped

    def _write_revisions(self, connection: Connection, box: str, calls: Numbers, links: Numbers) -> Numbers:
        made: dict[int, int] = {}
        for line in self.revisions:
            values = line.model_dump(include={"note_id", "field", "before", "after", "undone", "version", "created_at"})
            if line.field == LINK_FIELD:
                values |= {name: renumbered_link(values[name], links, box) for name in ("before", "after")}
            undoes = line.cause.undoes
            values |= {"box": box, "kind": line.cause.kind, "agent_id": line.cause.agent_id}
            values |= {"undoes": None if undoes is None else made[undoes]}
            (made[line.id],) = _numbered(connection, schema.revision, [{**values, "call_id": calls.of(line.call)}])
        causes = [
            {"revision_id": made[line.id], "note_id": note_id}
            for line in self.revisions
            for note_id in dict.fromkeys(line.cause.notes)
        ]
        _insert(connection, schema.revision_cause, causes)
        return Numbers(made, made.values())


def _link_id(line: RevisionLine) -> int:
    link = line.after or line.before
    assert isinstance(link, dict)
    return int(str(link["id"]))


def _expect_room(connection: Connection, box: str, ids: Sequence[str]) -> None:
    """Refuse a box that has notes, and notes that the memory has."""
    if connection.execute(select(_note.id).where(_note.box == box).limit(1)).first() is not None:
        raise InputError(f"the box {box!r} has notes; import into an empty one. Nothing was stored.")
    taken: list[tuple[str, str]] = []
    for some in rows.chunks(ids):
        query = select(_note.id, _note.box).where(_note.id.in_(_SOME))
        taken += [(note_id, where) for note_id, where in connection.execute(query, {"some": some})]
    if taken:
        named = ", ".join(f"{note_id} (box {where!r})" for note_id, where in taken[:_SHOWN])
        raise InputError(
            f"the memory has {len(taken)} of these notes already: {named}. Nothing was stored; "
            "import into another memory, or forget them first."
        )


def _insert(connection: Connection, table: Table, values: Sequence[dict[str, Any]]) -> None:
    if values:
        connection.execute(insert(table), list(values))


def _numbered(connection: Connection, table: Table, values: Sequence[dict[str, Any]]) -> Iterator[int]:
    """Insert rows one by one; yield the number that each is given."""
    statement = insert(table).returning(table.c.id)
    for row in values:
        yield int(connection.execute(statement, row).scalar_one())


def _reserved(connection: Connection, count: int, box: str, note: Note) -> Iterator[int]:
    """Yield new numbers of links, which no other link has or ever will have: also those that are gone keep theirs."""
    row = {
        "box": box, "source": note.id, "target": note.id, "relation": "", "reason": "", "strength": 0.0,
        "created_at": note.created_at,
    }  # fmt: skip
    for number in _numbered(connection, schema.link, [row] * count):
        connection.execute(delete(schema.link).where(schema.link.c.id == number))
        yield number
