"""What chosen prompts and models made in a box, as far as it still shows: what a rebuild would make anew."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import and_, or_, select

from amem.model import Link, Note, Revision
from amem.store import queries, rows, schema, written
from amem.store.plan import LINK_FIELD
from amem.store.rewind import taken_back
from amem.values import Frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pydantic import JsonValue
    from sqlalchemy import ColumnElement, Connection, RowMapping

    from amem.store.written import Written

    IsStale = Callable[[str, str], bool]
    """Whether what a prompt (by label) and a model made is stale."""

_call, _note, _revision, _link = schema.call.c, schema.note.c, schema.revision.c, schema.link.c
_WOVEN = ("link", "evolve")


class Stale(Frozen):
    """What older wordings of the prompts made in a box, or another model. Archived and pending notes are left out."""

    notes: tuple[Note, ...] = ()
    """Notes that they built, in the order they were accepted."""
    links: tuple[Link, ...] = ()
    revisions: tuple[Revision, ...] = ()
    """Changes to notes that later notes brought about, and that still show."""
    memories: tuple[Note, ...] = ()
    """Notes, facts and episodes that they wrote whole: distilled from turns, or summing notes up."""

    def __len__(self) -> int:
        return len(self.notes) + len(self.links) + len(self.revisions) + len(self.memories)

    @property
    def makers(self) -> dict[tuple[str, str], int]:
        """How much there is by prompt (its label) and model, the most first."""
        counts: dict[tuple[str, str], int] = {}
        groups = (self.notes, self.links, self.revisions, self.memories)
        for made in (item.made_by for group in groups for item in group):
            assert made is not None
            key = (made.prompt, made.model)
            counts[key] = counts.get(key, 0) + 1
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


class Found(NamedTuple):
    """What is stale, and the notes that have to be taken through the stages again for it."""

    notes: list[Note]
    """To be built anew."""
    revisions: list[Revision]
    """To be taken back, oldest first: changes, and the makings of links."""
    weavers: list[Note]
    """The notes that brought the revisions about: to be linked anew."""
    written: list[Written]
    """What was distilled or summed up, and is to be so again."""
    kept: list[tuple[Note, str]]
    """What was distilled or summed up, and is to stay as it is, with the reason."""


def made_by(connection: Connection) -> list[tuple[str, str]]:
    """Return every (prompt, model) that a call was ever recorded with."""
    query = select(_call.prompt, _call.model).distinct().order_by(_call.prompt, _call.model)
    return [(prompt, model) for prompt, model in connection.execute(query)]


def find(connection: Connection, box: str, is_stale: IsStale) -> Found:
    """Find what stale calls made in a box."""
    makers = [pair for pair in made_by(connection) if is_stale(*pair)]
    if not makers:
        return Found([], [], [], [], [])
    stale = or_(*(and_(_call.prompt == prompt, _call.model == model) for prompt, model in makers))
    notes = _notes(connection, box, stale)
    revisions = _showing(connection, box, _standing(connection, box, stale))
    causes = dict.fromkeys(note_id for revision in revisions for note_id in revision.cause.notes)
    weavers = _ready(connection, box, list(causes))
    there = {note.id for note in weavers}
    whole = written.find(connection, box, stale)
    mine = [revision for revision in revisions if there.intersection(revision.cause.notes)]
    return Found(notes, mine, weavers, whole.written, whole.kept)


def listed(connection: Connection, found: Found) -> Stale:
    """Return what was found, for people."""
    links = [*found.revisions, *(revision for item in found.written for revision in item.links)]
    ids = [int(str(r.after["id"])) for r in links if r.field == LINK_FIELD and isinstance(r.after, dict)]
    changes = tuple(revision for revision in found.revisions if revision.field != LINK_FIELD)
    memories = (*(note for item in found.written for note in item.memories), *(note for note, _ in found.kept))
    return Stale(
        notes=tuple(found.notes), links=tuple(_links(connection, ids)), revisions=changes, memories=memories
    )  # fmt: skip


def _notes(connection: Connection, box: str, stale: ColumnElement[bool]) -> list[Note]:
    query = (
        select(_note.id)
        .join(schema.call, _call.id == _note.call_id)
        .where(_note.box == box, _note.status == "ready", _call.stage == "build", stale)
        .order_by(_note.rid)
    )
    return list(queries.notes_by_id(connection, connection.execute(query).scalars().all()).values())


def _standing(connection: Connection, box: str, stale: ColumnElement[bool]) -> list[Revision]:
    """Return the changes and the makings of links that were not taken back since, oldest first."""
    query = (
        select(_revision.id)
        .join(schema.call, _call.id == _revision.call_id)
        .where(_revision.box == box, _revision.kind.in_(_WOVEN), _revision.undone.is_(False), stale)
        .where(_call.stage.not_in(written.WHOLE))
        .order_by(_revision.id)
    )
    found: list[Revision] = []
    for some in rows.chunks(connection.execute(query).scalars().all()):
        found += queries.revisions(connection, box, ids=some)
    return found


def _showing(connection: Connection, box: str, revisions: Sequence[Revision]) -> list[Revision]:
    """Return, oldest first, those that taking back would change something: no field the user pinned, no older text."""
    ids = dict.fromkeys(revision.note_id for revision in revisions)
    notes = queries.notes_by_id(connection, list(ids), boxes=[box])
    values: dict[str, dict[str, JsonValue]] = {}
    newest_first = [r for r in reversed(revisions) if r.field == LINK_FIELD or _shows(r, notes, values)]
    return newest_first[::-1]


def _shows(revision: Revision, notes: Mapping[str, Note], values: dict[str, dict[str, JsonValue]]) -> bool:
    note, field = notes.get(revision.note_id), revision.field
    if note is None or field in note.pinned:
        return False
    now = values.setdefault(note.id, note.model_dump(mode="json"))
    before = taken_back(field, now[field], revision.before, revision.after)
    if before is None or before[0] == now[field]:
        return False
    now[field] = before[0]
    return True


def _ready(connection: Connection, box: str, ids: Sequence[str]) -> list[Note]:
    order: dict[str, int] = {}
    for some in rows.chunks(ids):
        query = select(_note.id, _note.rid).where(_note.id.in_(some), _note.status == "ready")
        order.update(connection.execute(query).all())
    return list(queries.notes_by_id(connection, sorted(order, key=order.__getitem__), boxes=[box]).values())


def _links(connection: Connection, ids: Sequence[int]) -> list[Link]:
    found: list[RowMapping] = []
    for some in rows.chunks(ids):
        found += connection.execute(select(schema.link).where(_link.id.in_(some)).order_by(_link.id)).mappings().all()
    made = rows.made_by(connection, (row["call_id"] for row in found))
    return [rows.to_link(row, made) for row in found]
