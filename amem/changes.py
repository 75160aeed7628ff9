"""Plans that no model makes: edits by the user, and taking changes back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from pydantic import JsonValue, ValidationError

from amem.errors import InputError, RevisionNotFound, UndoConflict
from amem.filters import first_problem
from amem.intake import NewNote
from amem.model import Cause, Link, Revision
from amem.store.plan import LINK_FIELD, Change, Plan, PlannedLink, Unlink
from amem.store.rewind import taken_back
from amem.store.rows import chunks

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from amem.model import Note
    from amem.store.ledger import Ledger

Which = int | Revision | Sequence[int | Revision]
"""One revision or several, by number or as they were returned."""
_PINNABLE = ("keywords", "tags", "context")
_LARGEST = 2**63


def edit(note: Note, given: Mapping[str, Any], *, at: datetime) -> Plan:
    """Return the plan of an edit by the user: the fields that are not None, pinned where a model could change them.

    Raises:
        InputError: a value has the wrong type.
    """
    wanted = {name: value for name, value in given.items() if value is not None}
    try:
        checked = NewNote.model_validate({"content": note.content, **wanted})
    except ValidationError as error:
        raise InputError(f"the edit is refused: {first_problem(error)}. Nothing was changed.") from error
    fields: dict[str, JsonValue] = checked.model_dump(mode="json", include=set(wanted))
    fields["pinned"] = [name for name in _PINNABLE if name in wanted]  # what was pinned before stays so
    change = Change(note_id=note.id, expected_version=None, fields=fields, cause=Cause(kind="user"))
    return Plan(box=note.box, at=at, changes=(change,))


def coming_in(note: Note) -> Change:
    """Return what brings a new note out of the archive: what can be taken back, so that it is there again."""
    cause = Cause(kind="supersede", notes=(note.id,))
    return Change(note_id=note.id, expected_version=note.version, fields={"status": "ready"}, cause=cause)


def succeeded(old: Note, new: Note) -> Change:
    """Return what puts a note in the place of another: that one held good until this one began, or never."""
    until = max(old.valid_from or old.occurred_at, new.valid_from or new.occurred_at)
    return Change(
        note_id=old.id,
        expected_version=old.version,
        fields={"superseded_by": new.id, "valid_to": until.isoformat()},
        cause=Cause(kind="supersede", notes=(new.id,)),
    )


def repin(note: Note, pinned: Iterable[str], *, at: datetime) -> Plan:
    """Return the plan after which exactly these fields of a note are pinned."""
    change = Change(note_id=note.id, expected_version=note.version, fields={}, cause=Cause(kind="user"))
    return Plan(box=note.box, at=at, changes=(_repinning(change, list(pinned)),), whole=True)


def pinnable(fields: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of fields that can be pinned, all of them where none is named.

    Raises:
        InputError: one cannot.
    """
    wanted = _PINNABLE if fields is None else tuple(dict.fromkeys([fields] if isinstance(fields, str) else fields))
    for name in wanted:
        if name not in _PINNABLE:
            raise InputError(f"{name!r} cannot be pinned; there are {', '.join(_PINNABLE)}. Nothing was changed.")
    return wanted


def _repinning(change: Change, pinned: JsonValue) -> Change:
    assert isinstance(pinned, list)
    return change.model_copy(update={"fields": {}, "repin": tuple(str(name) for name in pinned)})


def undo_plan(ledger: Ledger, box: str, revision: Which | None, caused_by: str | None, at: datetime) -> Plan:
    """Return the plan that takes back some revisions, or all that a note brought about elsewhere, newest first.

    It is applied whole or not at all (`GroundMoved`), and has to be made anew where the ground moved.

    Raises:
        InputError: neither or both of `revision` and `caused_by` are given.
        RevisionNotFound: there is no such revision in this box, or it was undone already.
        UndoConflict: later changes stand on a changed value.
    """
    if (revision is None) == (caused_by is None):
        raise InputError("give either a revision or caused_by, to say what to undo")
    if revision is None:
        wanted = [
            found for found in ledger.revisions(box, caused_by=caused_by)
            if found.cause.kind in {"evolve", "link", "supersede"} and not found.undone
        ]  # fmt: skip
    else:
        some = revision if isinstance(revision, Sequence) else [revision]
        wanted = _named(ledger, box, [one.id if isinstance(one, Revision) else one for one in some])
    return take_back(ledger, box, wanted, at)


def take_back(
    ledger: Ledger, box: str, revisions: Sequence[Revision], at: datetime, *, kind: Literal["undo", "rebuild"] = "undo"
) -> Plan:
    """Return the plan that takes back revisions, given oldest first, as part of an undo or of a rebuild.

    Raises:
        RevisionNotFound: the link that one of them made is gone.
        UndoConflict: later changes stand on a changed value.
    """
    return _TakingBack(ledger, box, revisions[::-1], kind).plan(at)


def _named(ledger: Ledger, box: str, numbers: Sequence[int | None]) -> list[Revision]:
    """Return the revisions of these numbers, oldest first."""
    wanted = dict.fromkeys(number for number in numbers if number is not None and 0 < number < _LARGEST)
    found = {
        revision.id: revision for some in chunks(list(wanted)) for revision in ledger.revisions(box, ids=some)
    }  # fmt: skip
    for number in [number for number in numbers if number not in found]:
        raise RevisionNotFound(f"there is no revision {number} in the box {box!r}")
    back = {revision.cause.undoes for revision in found.values()}  # their undoing is undone first
    for number in [number for number, revision in found.items() if revision.undone and number not in back]:
        raise RevisionNotFound(f"revision {number} was undone already; undo the undoing to bring it back")
    return list(found.values())


class _TakingBack:
    """The taking back of revisions, newest first."""

    def __init__(self, ledger: Ledger, box: str, wanted: Sequence[Revision], kind: Literal["undo", "rebuild"]) -> None:
        self._ledger = ledger
        self._box = box
        self._wanted = wanted
        self._kind: Literal["undo", "rebuild"] = kind
        self._taken = {revision.id for revision in wanted if revision.id is not None}
        self._notes = ledger.get([r.note_id for r in wanted if r.field != LINK_FIELD], boxes=[box])
        self._values = {note_id: note.model_dump(mode="json") for note_id, note in self._notes.items()}
        sources = dict.fromkeys(r.note_id for r in wanted if r.field == LINK_FIELD)
        self._links = {link.id: link for link in ledger.links_of(list(sources))}

    def plan(self, at: datetime) -> Plan:
        """Return what takes them all back."""
        changes: list[Change] = []
        links: list[PlannedLink] = []
        unlink: list[Unlink] = []
        marks = self._marks()
        for revision in self._wanted:
            cause = Cause(kind=self._kind, notes=revision.cause.notes, undoes=revision.id)
            if revision.field != LINK_FIELD:
                changes.append(self._change(revision, cause))
            elif revision.after is None:
                links.append(PlannedLink(link=self._lost_link(revision), cause=cause))
            else:
                unlink.append(Unlink(link_id=self._made_link(revision), cause=cause))
        return Plan(
            box=self._box,
            at=at,
            changes=tuple(changes),
            links=tuple(links),
            unlink=tuple(unlink),
            undone=tuple(key for key, undone in marks.items() if undone),
            revived=tuple(key for key, undone in marks.items() if not undone),
            whole=True,
        )

    def _marks(self) -> dict[int, bool]:
        """Return whether each is undone afterwards: these revisions, those that they undid, those that these undid, ….

        A revision is undone as long as anything undoes it that stands itself; and whatever undoes it is newer.
        """
        known = {r.id: r for r in (*self._wanted, *self._around()) if r.id is not None}
        undoers: dict[int | None, list[int]] = {}
        for key, revision in known.items():
            undoers.setdefault(revision.cause.undoes, []).append(key)
        concerned, following = set(self._taken), [*self._taken]
        while following:
            undid = known[following.pop()].cause.undoes
            if undid in known and undid not in concerned:
                concerned.add(undid)
                following.append(undid)
        marks = {key: revision.undone for key, revision in known.items()}
        for key in sorted(concerned, reverse=True):
            marks[key] = key in self._taken or not all(marks[undoer] for undoer in undoers.get(key, ()))
        return {key: marks[key] for key in concerned}

    def _around(self) -> Iterator[Revision]:
        """Yield all revisions of the notes of which an undoing is taken back."""
        for note_id in dict.fromkeys(r.note_id for r in self._wanted if r.cause.undoes is not None):
            yield from self._ledger.revisions(self._box, note_id=note_id)

    def _change(self, revision: Revision, cause: Cause) -> Change:
        field = revision.field
        values = self._values[revision.note_id]
        values[field] = self._value_before(revision, values[field])
        change = Change(
            note_id=revision.note_id,
            expected_version=self._notes[revision.note_id].version,
            fields={field: values[field]},
            cause=cause,
        )
        if field == "pinned":
            return _repinning(change, values[field])
        return change

    def _value_before(self, revision: Revision, now: JsonValue) -> JsonValue:
        """Return what the field becomes: sets lose what the revision added and regain what it removed."""
        value = taken_back(revision.field, now, revision.before, revision.after)
        if value is None:
            raise UndoConflict(revision.id or 0, self._later(revision))
        return value[0]

    def _made_link(self, revision: Revision) -> int:
        """Return the id of the link that the revision made; from now on the pair is free."""
        link = self._links.pop(Link.model_validate(revision.after).id, None)
        if link is None or link.id is None:
            raise RevisionNotFound(f"the link that revision {revision.id} made is gone; nothing was changed")
        return link.id

    def _lost_link(self, revision: Revision) -> Link:
        link = Link.model_validate(revision.before)
        if any({other.source, other.target} == {link.source, link.target} for other in self._links.values()):
            raise UndoConflict(revision.id or 0, self._later(revision))
        return link

    def _later(self, revision: Revision) -> list[int]:
        """Return the later revisions of the same field, or of the same pair's link, that still stand."""
        return [
            later.id
            for later in self._ledger.revisions(self._box, note_id=revision.note_id)
            if later.id is not None
            and later.id > (revision.id or 0)
            and later.field == revision.field
            and not later.undone
            and later.id not in self._taken
        ]
