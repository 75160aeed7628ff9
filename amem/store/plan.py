"""A plan: every change one step of thinking wants, applied whole or, where the ground moved, reported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, JsonValue

from amem.model import Cause, Link, MadeBy, Note, Revision, Skipped, Stage, Usage
from amem.values import Frozen, Moment, canonical_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.model import Status

LINK_FIELD = "link"
#: Fields whose changes are kept as revisions; the rest of a change is bookkeeping.
REVISED = (
    "keywords",
    "tags",
    "context",
    "speaker",
    "occurred_at",
    "metadata",
    "valid_from",
    "valid_to",
    "superseded_by",
)
#: Fields with a history: also the status where a note goes to the archive or comes back, and pins where set as a whole.
HISTORIC = (*REVISED, "status", "pinned")
#: All that a plan may change: never what a note is, whose it is, or where it came from.
CHANGEABLE = frozenset({*HISTORIC, "pending_reason", "error"})


def _changeable(fields: dict[str, JsonValue]) -> dict[str, JsonValue]:
    fixed = fields.keys() - CHANGEABLE
    if fixed:
        msg = f"no plan may change {', '.join(sorted(fixed))}"
        raise ValueError(msg)
    return fields


class Call(Frozen):
    """One call to a model, and every note whose text it saw."""

    stage: Stage
    model: str
    prompt: str
    shown: tuple[str, ...]
    versions: tuple[int, ...] = ()
    """The version of each note that it was shown; 0 where it saw the turn alone, and nothing any model made of it.

    Empty: those that the notes have when the plan is committed.
    """

    @property
    def sights(self) -> dict[str, int | None]:
        """What it saw: each note's version, None where that is not known. Of two, the later one counts."""
        if not self.versions:
            return dict.fromkeys(self.shown)
        return dict(sorted(zip(self.shown, self.versions, strict=True)))


class Change(Frozen):
    """New values for one note."""

    note_id: str
    expected_version: int | None
    """Compare-and-swap: where the note has moved on, the change is dropped and reported. None skips the check."""
    fields: Annotated[dict[str, JsonValue], AfterValidator(_changeable)]
    """Field of Note to its new value as JSON. State fields (status and the like) leave no revision; pins add up."""
    cause: Cause
    call: int | None = None
    """Position in the plan's calls."""
    repin: tuple[str, ...] | None = None
    """All fields that are to be pinned from now on; the others are not, any more."""


class PlannedLink(Frozen):
    """A link to store; one with an id was there before and comes back as it was."""

    link: Link
    cause: Cause
    call: int | None = None


class Unlink(Frozen):
    """A link to remove."""

    link_id: int
    cause: Cause


class Plan(Frozen):
    """What is to change in one box, in one transaction."""

    box: str
    at: Moment
    calls: tuple[Call, ...] = ()
    changes: tuple[Change, ...] = ()
    links: tuple[PlannedLink, ...] = ()
    unlink: tuple[Unlink, ...] = ()
    undone: tuple[int, ...] = ()
    """Ids of revisions that this plan takes back."""
    revived: tuple[int, ...] = ()
    """Ids of revisions that stand again, since this plan takes back their undoing."""
    failed: Call | None = None
    """What the calls that failed were shown, as one call: the errors that the changes carry may quote it."""
    whole: bool = False
    """Apply all of it or nothing: raise GroundMoved where a part would be dropped."""
    spent: dict[str, Usage] = {}
    """What the thinking cost, by stage; added to the box's totals in the same transaction."""
    model: str = ""
    held: Plan | None = None
    """What waits for review instead of being done."""
    why: tuple[str, ...] = ()
    """Of a held plan: what is suspicious about the notes that brought it about."""
    settles: int | None = None
    """Number of the held plan that this is, now that it was accepted: it is taken off the list, or nothing is done."""
    agent_id: str | None = None
    """The agent whose plan it is, where its causes name none: through whose view it came, or whose notes it is of."""

    @property
    def caused_by(self) -> tuple[str, ...]:
        """The notes that bring its changes and links about, each once."""
        causes = (*(change.cause for change in self.changes), *(planned.cause for planned in self.links))
        return tuple(dict.fromkeys(note_id for cause in causes for note_id in cause.notes))

    def signed(self, cause: Cause) -> Cause:
        """Return a cause with the name of whose plan this is."""
        if self.agent_id is None or cause.agent_id is not None:
            return cause
        return cause.model_copy(update={"agent_id": self.agent_id})

    @property
    def bill(self) -> Plan:
        """The plan that changes nothing, and counts what the thinking cost."""
        return Plan(box=self.box, at=self.at, spent=self.spent, model=self.model)

    def made_by(self, call: int | None) -> MadeBy | None:
        """Return who stands behind the call at a position."""
        if call is None:
            return None
        made = self.calls[call]
        return MadeBy(model=made.model, prompt=made.prompt, shown=tuple(sorted(set(made.shown))))


class Committed(Frozen):
    """What a plan did."""

    notes: dict[str, Note] = {}
    """Every note that a change was meant for and applied to, as it is now."""
    revisions: tuple[Revision, ...] = ()
    links: tuple[Link, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    held: int | None = None
    """Number under which a part waits for review."""


class NeedsVectors(Exception):
    """The notes moved on while vectors were made; these texts want one before the plan can be applied."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        self.texts = texts
        super().__init__(f"{len(texts)} texts without a vector")


class GroundMoved(Exception):
    """A plan that wants all or nothing cannot have all; nothing was changed, and it is to be made anew."""

    def __init__(self, skipped: Sequence[Skipped]) -> None:
        self.skipped = tuple(skipped)
        super().__init__("; ".join(f"{item.what}: {item.why}" for item in skipped))


def status_of(pending_reason: JsonValue) -> Status:
    """Return the status of a note that comes out of the archive, which takes nothing from it but its status."""
    return "ready" if pending_reason is None else "pending"


def apply_change(note: Note, change: Change) -> Note:
    """Return `note` with the change's fields, validated, and its version raised; itself where nothing changes."""
    fields = dict(change.fields)
    if "pinned" in fields:  # two edits at once must not unpin each other's field
        pinned = fields["pinned"]
        fields["pinned"] = list(dict.fromkeys([*note.pinned, *(pinned if isinstance(pinned, list) else ())]))
    if change.repin is not None:
        fields["pinned"] = list(change.repin)
    if note.status == "archived" and fields.get("status", note.status) != "archived":
        fields["status"] = status_of(fields.get("pending_reason", note.pending_reason))
    changed = Note.model_validate({**dict(note), **fields, "version": note.version + 1})
    return note if all(_same(note, changed, field) for field in fields) else changed


def _same(before: Note, after: Note, field: str) -> bool:
    if field == "metadata":  # for Python, True equals 1
        return canonical_json(before.metadata) == canonical_json(after.metadata)
    return bool(getattr(before, field) == getattr(after, field))


def field_revisions(before: Note, after: Note, change: Change, plan: Plan) -> list[Revision]:
    """Return a revision for each revised field that really changed."""
    names = {field for field in REVISED if field in change.fields and not _same(before, after, field)}
    if before.status != after.status and "archived" in (before.status, after.status):
        names.add("status")
    if change.repin is not None and before.pinned != after.pinned:
        names.add("pinned")
    if not names:
        return []
    old, new = (note.model_dump(mode="json", include=names) for note in (before, after))
    made, cause = plan.made_by(change.call), plan.signed(change.cause)
    return [
        Revision(
            box=plan.box,
            note_id=after.id,
            field=field,
            before=old[field],
            after=new[field],
            cause=cause,
            made_by=made,
            created_at=plan.at,
        )
        for field in HISTORIC
        if field in names
    ]


def link_revision(plan: Plan, cause: Cause, before: Link | None, after: Link | None) -> Revision:
    """Return the revision that records a link's coming or going."""
    link = after or before
    assert link is not None
    return Revision(
        box=plan.box,
        note_id=link.source,
        field=LINK_FIELD,
        before=None if before is None else before.model_dump(mode="json", exclude={"made_by"}),
        after=None if after is None else after.model_dump(mode="json", exclude={"made_by"}),
        cause=plan.signed(cause),
        made_by=None if after is None else after.made_by,
        created_at=plan.at,
    )
