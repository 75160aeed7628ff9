"""Drafts that make anew what a note has already: its build, or its links and the changes it brought to others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import JsonValue

from amem.changes import take_back
from amem.ingest.draft import Draft
from amem.ingest.plan import build_change, merge
from amem.model import Cause, Note, Revision, Skipped
from amem.store.commit import LINKED
from amem.store.plan import Call, Change, Plan, apply_change
from amem.store.rewind import SETS, taken_back

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from amem.errors import AmemError
    from amem.model import Link, MadeBy
    from amem.rooms import Rooms
    from amem.settings import Settings
    from amem.store.plan import PlannedLink

CONTEXT = "context"
FAR = 4096
"""Nearest notes looked at in search of earlier ones: beyond, none is near."""


class Whole(Draft):
    """A draft whose window is made anew whole, or not at all."""

    def leave(self, note: Note, error: AmemError) -> None:  # noqa: ARG002 - whichever note it is
        """Give the window up.

        Raises:
            AmemError: the error itself.
        """
        raise error


class Redraft(Draft):
    """A draft that may take off what lies on top of a text, and put it back on."""

    def __init__(self, rooms: Rooms, notes: Sequence[Note], *, rebuild: bool) -> None:
        super().__init__(rooms, notes, rebuild=rebuild)
        self._again: dict[MadeBy, int] = {}

    def put_back(self, revision: Revision, version: int | None) -> Change:
        """Return the change that makes a context again what a revision made of it, still by the same call."""
        fields = {CONTEXT: revision.after}
        call = None if revision.made_by is None else self._same_call(revision.made_by)
        return Change(
            note_id=revision.note_id, expected_version=version, fields=fields, cause=revision.cause, call=call
        )  # fmt: skip

    def _same_call(self, made: MadeBy) -> int:
        """Return the position of a call that was made long ago, so that what it made is still known to be its work."""
        if made not in self._again:
            self._again[made] = len(self._calls)
            stage = "evolve" if made.prompt.startswith("evolve@") else "link_evolve"
            self._calls.append(Call.model_validate({"stage": stage, **made.model_dump()}))
        return self._again[made]


class Rebuild(Redraft):
    """Builds notes anew, under what later notes made of them: that stays, and can still be taken back."""

    def __init__(self, rooms: Rooms, notes: Sequence[Note], histories: Mapping[str, Sequence[Revision]]) -> None:
        super().__init__(rooms, notes, rebuild=True)
        self._histories = histories
        self._undone: list[int] = []

    def built(self, note: Note, fields: dict[str, JsonValue], call: int) -> None:
        """Put what stage 1 made of a note in the place of its last build."""
        standing = [r for r in self._histories[note.id] if not r.undone and r.cause.undoes is None]
        last = {r.field: r.after for r in standing if r.cause.kind == "build"}
        for field in SETS:
            if field in fields:
                fields[field] = with_additions(note, field, fields[field], last.get(field), self.rooms.settings)
        above = _above_build([r for r in standing if r.field == CONTEXT])
        under = _under(note.context, above)
        if under is None or fields.get(CONTEXT) == under:
            fields.pop(CONTEXT, None)  # nobody knows what it would be without the changes above, or it stays the same
        self._builds[note.id] = (fields, call)
        self._put(note, above if CONTEXT in fields else [], fields, call)

    def fail(self, error: AmemError) -> None:
        """Leave every note as it is that was not built."""
        for note in self.window:
            if note.id not in self._builds:
                self._errors.setdefault(note.id, error)

    @property
    def errors(self) -> dict[str, AmemError]:
        """Why notes were not built, by id."""
        return dict(self._errors)

    def plan(self) -> Plan:
        """Return everything the draft wants to change; the state of the notes stays as it is."""
        given = {"changes": tuple(self.changes), "undone": tuple(self._undone), "failed": None, "whole": True}
        return super().plan().model_copy(update=given)

    def _put(self, note: Note, above: Sequence[Revision], fields: dict[str, JsonValue], call: int) -> None:
        """Take off what lies above the build, build, and put it back on."""
        for revision in reversed(above):
            cause = Cause(kind="rebuild", notes=revision.cause.notes, undoes=revision.id)
            before = {CONTEXT: revision.before}
            self.changes.append(Change(note_id=note.id, expected_version=note.version, fields=before, cause=cause))
        self.changes.append(build_change(note, fields, call))
        self.changes += [self.put_back(revision, note.version) for revision in above]
        self._undone += [revision.id for revision in above if revision.id is not None]
        self.notes[note.id] = apply_change(note, build_change(note, fields, call))


class Reweave(Whole, Redraft):
    """Links notes anew, in the place of links and changes that are taken back in the same plan.

    It sees notes without anything stale. Where it changes a context, those that other notes' stale changes made go back
    on top of it: their turn comes, and then they are taken off themselves.
    """

    reach = FAR

    def __init__(
        self, rooms: Rooms, notes: Sequence[Note], mine: Sequence[Revision], waiting: Sequence[Revision]
    ) -> None:
        """Take what is to be taken back with these notes, and all that is to be taken back, both oldest first."""
        self._mine = list(mine)
        self._waiting = list(waiting)
        self._taken = {revision.id for revision in mine}
        self._gone = Plan(box=notes[0].box, at=rooms.now())
        self._on_top: list[Change] = []
        self._stored: dict[str, Note] = {}
        self.lifted: list[Revision] = []
        """Stale changes that were taken off and put back on: they are revisions anew."""
        super().__init__(rooms, [self._without_stale(note) for note in notes], rebuild=False)

    def read(self, note_ids: Sequence[str]) -> dict[str, Note]:
        """Return notes as the model is to see them."""
        return {note_id: self._without_stale(note) for note_id, note in super().read(note_ids).items()}

    def may_meet(self, note: Note, other: Note) -> bool:
        """As when the note was added: its neighbours are those that were there before it."""
        return (other.created_at, other.id) < (note.created_at, note.id)

    def settle(self, there: Iterable[Link]) -> None:
        """Decide, once everything is proposed, what is taken back and what goes back on; `there` are links by now.

        Raises:
            StoreError: somebody took something of it back, or wrote over it, meanwhile.
        """
        touched = {r.note_id for r in self._mine if r.field == CONTEXT}
        touched |= {change.note_id for change in self.changes if CONTEXT in change.fields}
        self.lifted = [
            r for r in self._waiting if r.field == CONTEXT and r.note_id in touched and r.id not in self._taken
        ]
        off = sorted([*self._mine, *self.lifted], key=lambda revision: revision.id or 0)
        self._gone = take_back(self.rooms.ledger, self.box, off, self.rooms.now(), kind="rebuild")
        self.changes = [self._on_what_stays(change) for change in self.changes]
        versions = {change.note_id: change.expected_version for change in self._gone.changes}
        self._on_top = [self.put_back(revision, versions[revision.note_id]) for revision in self.lifted]
        self.links, old = not_linked_by(there, self._gone, self.links)
        self.skipped += old

    def plan(self) -> Plan:
        """Return the taking back and what comes in its place."""
        plan, gone = super().plan(), self._gone
        given = {
            "changes": (*gone.changes, *plan.changes, *self._on_top), "unlink": gone.unlink, "undone": gone.undone,
            "failed": None, "whole": True,
        }  # fmt: skip
        return plan.model_copy(update=given)

    def _without_stale(self, note: Note) -> Note:
        """Return a note as it would be without anything that is to be taken back; its version stays."""
        self._stored[note.id] = note
        return _without(note, [revision for revision in self._waiting if revision.note_id == note.id])

    def _on_what_stays(self, change: Change) -> Change:
        """Return a change with its words added to all that a note keeps, also to what is taken back only later."""
        settings = self.rooms.settings
        seen = self._without_stale(self._stored[change.note_id])
        stays = _without(self._stored[change.note_id], [r for r in self._mine if r.note_id == change.note_id])
        limits = {"keywords": settings.max_keywords, "tags": settings.max_tags}
        words: dict[str, JsonValue] = {}
        for field in limits.keys() & change.fields.keys():
            new = change.fields[field]
            added = [str(word) for word in new if word not in getattr(seen, field)] if isinstance(new, list) else []
            words[field] = list[JsonValue](merge(getattr(stays, field), added, limits[field]))
        return change.model_copy(update={"fields": {**change.fields, **words}})


def with_additions(note: Note, field: str, new: JsonValue, before: JsonValue, settings: Settings) -> JsonValue:
    """Return the words of a new build, and after them those that later notes added to the old one."""
    limit = settings.max_keywords if field == "keywords" else settings.max_tags
    old = before if isinstance(before, list) else []
    added = [word for word in getattr(note, field) if word not in old]
    words = [str(word) for word in new] if isinstance(new, list) else []
    return list[JsonValue](merge(words[: max(0, limit - len(added))], added, limit))


def not_linked_by(
    there: Iterable[Link], gone: Plan, links: Sequence[PlannedLink]
) -> tuple[list[PlannedLink], list[Skipped]]:
    """Leave out links between notes that are linked already, by one of those that are there and do not go."""
    going = {item.link_id for item in gone.unlink}
    pairs = {frozenset((link.source, link.target)) for link in there if link.id not in going}
    old = [planned for planned in links if frozenset((planned.link.source, planned.link.target)) in pairs]
    why = [Skipped(stage="link", what=f"{p.link.source} to {p.link.target}", why=LINKED) for p in old]
    return [planned for planned in links if planned not in old], why


def _without(note: Note, revisions: Sequence[Revision]) -> Note:
    """Return a note as it would be had some of its revisions, oldest first, never been made; its version stays."""
    values: dict[str, JsonValue] = note.model_dump(mode="json", include={CONTEXT, *SETS})
    for revision in reversed([revision for revision in revisions if revision.field in values]):
        before = taken_back(revision.field, values[revision.field], revision.before, revision.after)
        values[revision.field] = values[revision.field] if before is None else before[0]
    return Note.model_validate({**dict(note), **values})


def _above_build(standing: Sequence[Revision]) -> list[Revision]:
    """Return the changes of a context since its last build, oldest first."""
    built = [index for index, revision in enumerate(standing) if revision.cause.kind == "build"]
    return list(standing[built[-1] + 1 :] if built else standing)


def _under(now: str, above: Sequence[Revision]) -> JsonValue:
    """Return what a context is without the changes above its build, or None where they do not lead back to it."""
    value: JsonValue = now
    for revision in reversed(above):
        before = taken_back(CONTEXT, value, revision.before, revision.after)
        if before is None or revision.cause.kind != "evolve":
            return None
        value = before[0]
    return value


def windows(order: Sequence[str], bonds: Iterable[Sequence[str]], size: int) -> list[list[str]]:
    """Return the windows that ids fall into, in order: whoever shares a bond is together, up to `size` of them."""
    place = {note_id: index for index, note_id in enumerate(order)}
    groups = {note_id: [note_id] for note_id in order}
    for first, *others in bonds:
        for other in others:
            one, two = groups[first], groups[other]
            if one is not two:
                one += two
                groups.update(dict.fromkeys(two, one))
    cut: list[list[str]] = []
    for group in {id(group): group for group in groups.values()}.values():
        members = sorted(group, key=place.__getitem__)
        cut += [members[start : start + size] for start in range(0, len(members), size)]
    return cut
