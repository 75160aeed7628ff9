"""What the vector index asks of the ledger: vectors, the rows Chroma has still to be told, and who has a collection."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, delete, func, insert, select, update

from amem.store import queries, rows, schema
from amem.store.chroma import collection_name
from amem.store.prepared import Prepared

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from amem.store.database import Database


_vector = schema.vector.c
_SINCE = Prepared(
    select(_vector.note_id, _vector.data, _vector.revision)
    .where(_vector.box == bindparam("wanted"), _vector.revision > bindparam("known"))
    .order_by(_vector.revision, _vector.note_id)
)


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """One thing to tell Chroma; `vector` is None where the note has none any more, or is gone."""

    seq: int
    box: str
    note_id: str
    vector: np.ndarray | None
    filters: dict[str, str | int | float | bool]


class LedgerVectors:
    """The ledger as a source of vectors."""

    def __init__(self, database: Database, dimension: int) -> None:
        self._database = database
        self.dimension = dimension

    def box_state(self, box: str) -> tuple[int, int]:
        """Return (revision, epoch): the first grows with every vector written, the second with every deletion."""
        with self._database.reading() as connection:
            return queries.box_state(connection, box)

    def vectors_since(self, box: str, revision: int) -> tuple[list[str], np.ndarray, int]:
        """Return ids and vectors written after `revision`, oldest first, and the revision they lead up to."""
        with self._database.reading() as connection:
            # The box's own revision comes first: it may have grown for vectors that were written again since.
            reached, _ = queries.box_state(connection, box)
            found = _SINCE.rows(connection, wanted=box, known=revision)
        matrix = rows.to_matrix([row[1] for row in found], self.dimension)
        return [row[0] for row in found], matrix, max([reached, revision, *(row[2] for row in found)])

    def vectors_of(self, note_ids: Sequence[str]) -> tuple[list[str], np.ndarray]:
        """Return the vectors that exist among `note_ids`, in that order."""
        table = schema.vector.c
        found: dict[str, bytes] = {}
        with self._database.reading() as connection:
            for some in rows.chunks(list(note_ids)):
                query = select(table.note_id, table.data).where(table.note_id.in_(some))
                found.update(connection.execute(query).all())
        there = [note_id for note_id in note_ids if note_id in found]
        return there, rows.to_matrix([found[note_id] for note_id in there], self.dimension)

    def has_at_most(self, box: str, limit: int) -> bool:
        """Whether a box has no more than `limit` vectors."""
        table = schema.vector.c
        query = select(table.revision).where(table.box == box).order_by(table.revision).offset(limit).limit(1)
        with self._database.reading() as connection:
            return connection.execute(query).first() is None

    def outbox(self, box: str | None = None, *, limit: int | None = None) -> list[OutboxRow]:
        """Return what waits, oldest first."""
        out, note, vector = schema.outbox, schema.note, schema.vector
        query = (
            select(
                out.c.seq,
                out.c.box,
                out.c.note_id,
                vector.c.data,
                note.c.agent_id,
                note.c.session_id,
                note.c.speaker,
                note.c.status,
                note.c.occurred_at,
            )
            .select_from(
                out.outerjoin(vector, vector.c.note_id == out.c.note_id).outerjoin(note, note.c.id == out.c.note_id)
            )
            .order_by(out.c.seq)
            .limit(limit)
        )
        if box is not None:
            query = query.where(out.c.box == box)
        with self._database.reading() as connection:
            found = connection.execute(query).all()
        return [
            OutboxRow(
                seq=row.seq,
                box=row.box,
                note_id=row.note_id,
                vector=None if row.data is None else rows.to_matrix([row.data], self.dimension)[0],
                filters=_filters(row),
            )
            for row in found
        ]

    def outbox_sizes(self, box: str | None = None) -> dict[str, int]:
        """Return how many rows wait, for each box with any, or for `box` alone."""
        table = schema.outbox.c
        query = select(table.box, func.count()).group_by(table.box).order_by(table.box)
        if box is not None:
            query = query.where(table.box == box)
        with self._database.reading() as connection:
            return dict(connection.execute(query).all())

    def boxes(self) -> list[str]:
        """Return all boxes that have vectors, those with the most first."""
        table = schema.vector.c
        query = select(table.box).group_by(table.box).order_by(func.count().desc(), table.box)
        with self._database.reading() as connection:
            return list(connection.execute(query).scalars())

    def outbox_done(self, box: str, seqs: Sequence[int], *, holes: int = 0) -> int:
        """Forget rows that Chroma has taken, or that no collection wants; return the holes in the box's collection."""
        table = schema.box
        with self._database.writing() as connection:
            for some in rows.chunks(list(seqs)):
                connection.execute(delete(schema.outbox).where(schema.outbox.c.seq.in_(some)))
            if holes:
                connection.execute(update(table).where(table.c.name == box).values(holes=table.c.holes + holes))
            return connection.execute(select(table.c.holes).where(table.c.name == box)).scalar() or 0

    def collections(self) -> dict[str, str]:
        """Return the Chroma collection of each box that has one, the oldest box first."""
        table = schema.box.c
        query = (
            select(table.name, table.collection)
            .where(table.collection.is_not(None))
            .order_by(table.created_at, table.name)
        )
        with self._database.reading() as connection:
            return dict(connection.execute(query).all())

    def claim_collection(self, box: str, limit: int) -> str | None:
        """Return the box's collection, giving it one where fewer than `limit` boxes have one; first come.

        Chroma knows nothing of a new one, so all the box's vectors are put into the outbox with it.
        """
        table, out, vector = schema.box, schema.outbox, schema.vector
        with self._database.writing() as connection:
            there = connection.execute(select(table.c.collection).where(table.c.name == box)).scalar()
            if there is not None:
                return str(there)
            taken = connection.execute(select(func.count()).where(table.c.collection.is_not(None))).scalar_one()
            if taken >= limit:
                return None
            name = collection_name(box)
            connection.execute(update(table).where(table.c.name == box).values(collection=name, holes=0))
            connection.execute(delete(out).where(out.c.box == box))
            every = select(vector.c.box, vector.c.note_id).where(vector.c.box == box).order_by(vector.c.revision)
            connection.execute(insert(out).from_select(["box", "note_id"], every))
            return name

    def release_collections(self, boxes: Sequence[str] | None = None) -> None:
        """Take the collections from `boxes`, or from all; what waits for them stays."""
        table = schema.box
        query = update(table).values(collection=None)
        with self._database.writing() as connection:
            for some in [None] if boxes is None else rows.chunks(list(boxes)):
                connection.execute(query if some is None else query.where(table.c.name.in_(some)))


def filter_value(name: str) -> str:
    """Return what stands for a name in Chroma's filter fields: it can be compared, and tells nothing."""
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _filters(row: object) -> dict[str, str | int | float | bool]:
    named = {name: getattr(row, name) for name in ("agent_id", "session_id", "speaker")}
    values: dict[str, str | int | float | bool | None] = {
        name: None if value is None else filter_value(value) for name, value in named.items()
    }
    values["status"] = getattr(row, "status", None)
    moment = getattr(row, "occurred_at", None)
    if moment is not None:
        values["occurred_at"] = moment.timestamp()
    return {name: value for name, value in values.items() if value is not None}
