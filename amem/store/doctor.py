"""The doctor: every invariant of the ledger, and of what is derived from it, looked at; nothing is changed."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, get_args

from sqlalchemy import BigInteger, String, and_, cast, func, null, or_, select, type_coerce
from sqlalchemy.exc import DatabaseError

from amem.errors import LedgerUnavailable
from amem.model import Cause
from amem.store import held, schema, sqlite
from amem.store.audit import audit
from amem.store.counts import usual_dimension
from amem.store.database import stored_version
from amem.store.report import KINDS, Problem, Report, problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from sqlalchemy import ColumnElement, Connection, Select

    from amem.store.audit import Finding
    from amem.store.database import Database
    from amem.store.ledger import Ledger
    from amem.store.outbox import LedgerVectors
    from amem.store.vectors import VectorIndex


def doctor(ledger: Ledger, vectors: LedgerVectors, index: VectorIndex | None = None) -> Report:
    """Look at everything that must hold.

    Args:
        ledger: the ledger.
        vectors: its vectors, with the size they should have.
        index: compares Chroma with the ledger as well, where Chroma is open here or can be opened; one that is not
            open yet is looked at from a child process first.
    """
    database, full_text = ledger.database, ledger.database.is_sqlite
    problems = [*_looked(lambda: _made_otherwise(ledger))]
    if full_text:
        problems += _looked(lambda: _damaged_file(database))
        problems += _looked(lambda: _lost_references(database))
        problems += _damaged_words(database)
    problems += _looked(lambda: _schema(database))
    with suppress(LedgerUnavailable), database.reading() as connection:
        problems += _looked(lambda: _gathered(_relations(connection)))
        problems += _looked(lambda: _gathered(held.faults(connection)))
        problems += _looked(lambda: _gathered(_of_each_note(connection, ledger, vectors)))
    how = "not looked at"
    if index is not None:
        problems += _looked(lambda: [problem("unfinished")] if ledger.unfinished() else [])
        index.distrust()
        problems += _gathered(_differences(vectors, index))
        problems += [] if index.damage is None else [problem("index_damaged", detail=index.damage)]
        how = "; ".join(dict.fromkeys(index.how(box) for box in vectors.boxes())) or "empty"
    notes, boxes = _counts(database)
    return Report(notes=notes, boxes=boxes, problems=tuple(dict.fromkeys(problems)), checked=tuple(KINDS), index=how)


def _of_each_note(connection: Connection, ledger: Ledger, vectors: LedgerVectors) -> Iterator[Finding]:
    """Yield what is wrong with notes; a provider's embedder does not know its dimension before it was asked."""
    dimension = vectors.dimension or usual_dimension(connection)
    yield from audit(connection, ledger.render, dimension, full_text=ledger.database.is_sqlite)


def _looked(look: Callable[[], list[Problem]]) -> list[Problem]:
    """Return what a look finds; that it cannot be had is a finding, and hinders no other look."""
    try:
        return look()
    except LedgerUnavailable as error:
        return [problem("damaged", detail=str(error))]
    except DatabaseError as error:  # within a transaction of ours, where it has not been dressed up yet
        return [problem("damaged", detail=str(error.orig))]


def _gathered(findings: Iterable[Finding]) -> list[Problem]:
    """Return one problem for each kind and box."""
    found: dict[tuple[str, str | None], list[object]] = {}
    for kind, box, what in findings:
        found.setdefault((kind, box), []).append(what)
    return [problem(kind, names, box=box) for (kind, box), names in found.items()]


# -- the database as a whole ------------------------------------------------------------------------------


def _counts(database: Database) -> tuple[int, int]:
    with suppress(LedgerUnavailable), database.reading() as connection:
        notes, boxes = (
            connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in (schema.note, schema.box)
        )
        return notes, boxes
    return 0, 0


def _made_otherwise(ledger: Ledger) -> list[Problem]:
    return [] if ledger.is_bound else [problem("embedding")]


def _damaged_file(database: Database) -> list[Problem]:
    with database.reading() as connection:
        found = sqlite.damage(connection)
    return [problem("damaged", found)] if found else []


def _lost_references(database: Database) -> list[Problem]:
    with database.reading() as connection:
        found = sqlite.lost_references(connection)
    return [problem("reference", found)] if found else []


def _damaged_words(database: Database) -> list[Problem]:
    try:
        with database.writing() as connection:  # FTS5 checks itself by way of an INSERT
            sqlite.check_fts(connection)
    except LedgerUnavailable as error:
        return [problem("fts_damaged", detail=str(error))]
    return []


def _schema(database: Database) -> list[Problem]:
    with database.reading() as connection:
        found = stored_version(connection)
    return [] if found == schema.HEAD else [problem("schema", [found])]


# -- relations between tables -----------------------------------------------------------------------------


def _relations(connection: Connection) -> Iterator[Finding]:
    for kind, query in (*_of_links(), *_of_notes(), *_of_revisions(), *_of_calls(), *_of_vectors(), *_of_boxes()):
        for box, what in connection.execute(query):
            yield kind, box, what


def _of_links() -> Iterator[tuple[str, Select[Any, Any]]]:
    link, source, target = schema.link, schema.note.alias(), schema.note.alias()
    ends = link.outerjoin(source, source.c.id == link.c.source).outerjoin(target, target.c.id == link.c.target)
    links = select(link.c.box, link.c.id).select_from(ends).order_by(link.c.id)
    yield "link_dangling", links.where(or_(source.c.id.is_(None), target.c.id.is_(None)))
    yield "link_box", links.where(or_(source.c.box != link.c.box, target.c.box != link.c.box))
    yield "link_value", links.where(or_(~link.c.strength.between(0.0, 1.0), _out_of_time(link.c.created_at)))
    yield "link_self", links.where(link.c.source == link.c.target)
    other = schema.link.alias()
    same = or_(
        and_(other.c.source == link.c.source, other.c.target == link.c.target),
        and_(other.c.source == link.c.target, other.c.target == link.c.source),
    )
    yield "link_twice", select(link.c.box, link.c.id).join(other, and_(same, other.c.id < link.c.id)).distinct()


def _of_notes() -> Iterator[tuple[str, Select[Any, Any]]]:
    note, newer = schema.note, schema.note.alias()
    succession = note.outerjoin(newer, and_(newer.c.id == note.c.superseded_by, newer.c.box == note.c.box))
    yield (
        "superseded",
        select(note.c.box, note.c.id)
        .select_from(succession)
        .where(note.c.superseded_by.is_not(None), newer.c.id.is_(None)),
    )
    place = (note.c.box, note.c.session_id, note.c.position)
    twice = select(note.c.box, note.c.session_id).group_by(*place).having(func.count() > 1)
    yield "position", twice.where(note.c.session_id.is_not(None), note.c.position.is_not(None))


def _of_revisions() -> Iterator[tuple[str, Select[Any, Any]]]:
    revision = schema.revision.c
    kinds = get_args(Cause.model_fields["kind"].annotation)
    wrong = or_(revision.kind.not_in(kinds), _out_of_time(revision.created_at))
    yield "revision_value", select(revision.box, revision.id).where(wrong).order_by(revision.id)


def _out_of_time(column: ColumnElement[Any]) -> ColumnElement[bool]:
    """Whether a moment is none that Python knows, and could not even be read."""
    ends = (datetime(1, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC))
    first, last = (schema.Micros().process_bind_param(end, None) for end in ends)
    return ~type_coerce(column, BigInteger).between(first, last)


def _of_calls() -> Iterator[tuple[str, Select[Any, Any]]]:
    owned = (("shown", schema.call_shown), ("cause", schema.revision_cause), ("access", schema.access))
    for kind, table in owned:
        without_note = table.outerjoin(schema.note, schema.note.c.id == table.c.note_id)
        nobody = cast(null(), String)
        missing = select(nobody, table.c.note_id).select_from(without_note).where(schema.note.c.id.is_(None))
        yield kind, missing.distinct()


def _of_vectors() -> Iterator[tuple[str, Select[Any, Any]]]:
    vector, note, box, out = schema.vector, schema.note, schema.box, schema.outbox
    alone = vector.outerjoin(note, note.c.id == vector.c.note_id)
    yield "vector_orphan", select(vector.c.box, vector.c.note_id).select_from(alone).where(note.c.id.is_(None))
    behind = select(box.c.name, box.c.name).join(vector, vector.c.box == box.c.name)
    yield "box_revision", behind.where(vector.c.revision > box.c.revision).distinct()
    homeless = out.outerjoin(box, box.c.name == out.c.box)
    yield "outbox_box", select(out.c.box, out.c.seq).select_from(homeless).where(box.c.name.is_(None))


def _of_boxes() -> Iterator[tuple[str, Select[Any, Any]]]:
    note, box, other = schema.note, schema.box, schema.box.alias()
    homeless = note.outerjoin(box, box.c.name == note.c.box)
    yield "box_missing", select(note.c.box, note.c.box).select_from(homeless).where(box.c.name.is_(None)).distinct()
    shared = box.join(other, and_(other.c.collection == box.c.collection, other.c.name != box.c.name))
    yield "collection", select(box.c.name, box.c.name).select_from(shared).distinct()


# -- Chroma -------------------------------------------------------------------------------------------------


def _differences(vectors: LedgerVectors, index: VectorIndex) -> Iterator[Finding]:
    for box in vectors.collections():
        difference = index.difference(box)
        if difference is not None:
            yield from (("index_missing", box, note_id) for note_id in difference.missing)
            yield from (("index_ghost", box, note_id) for note_id in difference.ghosts)
            yield from (("index_differs", box, note_id) for note_id in difference.differing)
