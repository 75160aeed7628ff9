"""Plans that no model makes: edits by the user, and taking changes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import JsonValue, ValidationError

from amem.errors import InputError, RevisionNotFound, UndoConflict
from amem.filters import first_problem
from amem.intake import NewNote
from amem.model import Cause, Link, Revision, canonical_json
from amem.store.plan import LINK_FIELD, Change, Plan, PlannedLink, Unlink
from amem.store.rewind import SETS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from amem.model import Note
    from amem.store.ledger import Ledger

_PINNABLE = ("keywords", "tags", "context")


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


def undo_plan(ledger: Ledger, box: str, revision: int | Revision | None, caused_by: str | None, at: datetime) -> Plan:
    """Return the plan that takes back one revision, or all that a note brought about elsewhere, newest first.

    It is applied whole or not at all (`GroundMoved`), and has to be made anew where the ground moved.

    Raises:
        InputError: neither or both of `revision` and `caused_by` are given.
        RevisionNotFound: there is no such revision in this box, or it was undone already.
        UndoConflict: later changes stand on a changed value.
    """
    if (revision is None) == (caused_by is None):
        raise InputError("give either a revision or caused_by, to say what to undo")
    if caused_by is not None:
        wanted = [
            found for found in ledger.revisions(box, caused_by=caused_by)
            if found.cause.kind in {"evolve", "link"} and not found.undone
        ]  # fmt: skip
    else:
        wanted = [_one(ledger, box, revision.id if isinstance(revision, Revision) else revision)]
    return _TakingBack(ledger, box, wanted[::-1]).plan(at)


def _one(ledger: Ledger, box: str, revision: int | None) -> Revision:
    found = [] if revision is None else ledger.revisions(box, ids=[revision])
    if not found:
        raise RevisionNotFound(f"there is no revision {revision} in the box {box!r}")
    if found[0].undone:
        raise RevisionNotFound(f"revision {revision} was undone already; undo the undoing to bring it back")
    return found[0]


class _TakingBack:
    """The taking back of revisions, newest first."""

    def __init__(self, ledger: Ledger, box: str, wanted: Sequence[Revision]) -> None:
        self._ledger = ledger
        self._box = box
        self._wanted = wanted
        self._taken = {revision.id for revision in wanted}
        self._notes = ledger.get([r.note_id for r in wanted if r.field != LINK_FIELD], boxes=[box])
        self._values = {note_id: note.model_dump(mode="json") for note_id, note in self._notes.items()}

    def plan(self, at: datetime) -> Plan:
        """Return what takes them all back."""
        changes: list[Change] = []
        links: list[PlannedLink] = []
        unlink: list[Unlink] = []
        for revision in self._wanted:
            cause = Cause(kind="undo", notes=revision.cause.notes, undoes=revision.id)
            if revision.field != LINK_FIELD:
                changes.append(self._change(revision, cause))
            elif revision.after is None:
                links.append(PlannedLink(link=self._lost_link(revision), cause=cause))
            else:
                unlink.append(Unlink(link_id=Link.model_validate(revision.after).id or 0, cause=cause))
        return Plan(
            box=self._box,
            at=at,
            changes=tuple(changes),
            links=tuple(links),
            unlink=tuple(unlink),
            undone=tuple(revision.id for revision in self._wanted if revision.id is not None),
            revived=tuple(revision.cause.undoes for revision in self._wanted if revision.cause.undoes is not None),
            whole=True,
        )

    def _change(self, revision: Revision, cause: Cause) -> Change:
        field = revision.field
        values = self._values[revision.note_id]
        values[field] = self._value_before(revision, values[field])
        version = self._notes[revision.note_id].version
        return Change(note_id=revision.note_id, expected_version=version, fields={field: values[field]}, cause=cause)

    def _value_before(self, revision: Revision, now: JsonValue) -> JsonValue:
        """Return what the field becomes: sets lose what the revision added and regain what it removed."""
        before, after = revision.before, revision.after
        if revision.field in SETS and isinstance(now, list) and isinstance(before, list) and isinstance(after, list):
            kept = [word for word in now if word in before or word not in after]
            return kept + [word for word in before if word not in after and word not in kept]
        if canonical_json(now) != canonical_json(after):
            raise UndoConflict(revision.id or 0, self._later(revision))
        return before

    def _lost_link(self, revision: Revision) -> Link:
        link = Link.model_validate(revision.before)
        there = self._ledger.links_of([link.source])
        if any({other.source, other.target} == {link.source, link.target} for other in there):
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
