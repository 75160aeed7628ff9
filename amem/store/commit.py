"""Applying a plan: checked against the ledger as it stands, then written, all within the caller's transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import or_, select

from amem.model import Skipped
from amem.store import held, queries, rows, schema, sqlite, writes
from amem.store.plan import (
    LINK_FIELD,
    Committed,
    GroundMoved,
    NeedsVectors,
    apply_change,
    field_revisions,
    link_revision,
)
from amem.store.prepared import PreparedFor

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    import numpy as np
    from sqlalchemy import Connection

    from amem.model import Link, Note, Revision, Stage, Usage
    from amem.store.plan import Call, Change, Plan, PlannedLink

GONE = "the note is gone"
FORGOTTEN = "a note that the model was shown is gone"
CONFLICT = "conflict: it was changed by somebody else meanwhile"
LINKED = "linked already"
GONE_LINK = "the link is gone"
_FILED = ("speaker", "occurred_at", "status", "superseded_by")
"""Fields that Chroma keeps beside the vector, or by which a copy in memory hides a note, and that can change."""

_LINKED = PreparedFor(
    lambda ends: select(schema.link.c.source, schema.link.c.target).where(
        schema.link.c.source.in_(ends), schema.link.c.target.in_(ends)
    )
)


class Commit:
    """One plan on its way into the ledger."""

    def __init__(
        self,
        connection: Connection,
        plan: Plan,
        vectors: Mapping[str, np.ndarray],
        render: Callable[[Note], str],
        *,
        full_text: bool,
    ) -> None:
        self._connection = connection
        self._plan = plan
        self._vectors = vectors
        self._render = render
        self._full_text = full_text
        self._stored: dict[str, queries.Stored] = {}
        self._skipped: list[Skipped] = []
        self._there: dict[str, queries.Standing] = {}
        self._revisions: list[rows.Logged] = []
        self._call_ids: dict[int, int] = {}

    def run(self) -> Committed:
        """Apply what can be applied; see `Ledger.commit`."""
        plan = self._plan
        self._there = queries.standing(self._connection, self._spoken_of(), plan.box)
        kept = [index for index, call in enumerate(plan.calls) if self._still_knows(call)]
        self._stored = queries.stored_notes(self._connection, [c.note_id for c in plan.changes], plan.box)
        steps = [change for change in plan.changes if self._may_change(change, kept)]
        self._unlink()  # first: two notes may be linked anew in the place of an old link
        links = self._not_linked_yet([planned for planned in plan.links if self._may_link(planned, kept)])
        if plan.whole and self._skipped:
            raise GroundMoved(self._skipped)
        if plan.settles is not None and not held.drop(self._connection, plan.box, plan.settles):
            raise GroundMoved(self._skipped)
        after, revised = self._applied(steps)
        texts = self._moved(after)
        calls = [plan.calls[index] for index in kept]
        new_calls = writes.insert_calls(self._connection, calls, self._there, plan.at)
        self._call_ids = dict(zip(kept, new_calls, strict=True))
        self._revisions += [rows.Logged(item, self._call_id(call), version) for item, call, version in revised]
        self._write_notes(steps, after)
        self._index(texts)
        self._refile(after, texts)
        stored = self._write_links(links)
        writes.mark_undone(self._connection, plan.undone, undone=True)
        writes.mark_undone(self._connection, plan.revived, undone=False)
        revisions = writes.insert_revisions(self._connection, self._revisions)
        writes.settle_builders(self._connection, [*plan.undone, *plan.revived])
        for stage, usage in self._spent().items():
            writes.add_usage(self._connection, plan.box, stage, plan.model, usage)
        kept_back = self._hold()
        return Committed(
            notes=after,
            revisions=tuple(revisions),
            links=tuple(stored),
            skipped=tuple(self._skipped),
            held=kept_back,
        )

    def _hold(self) -> int | None:
        """Keep what waits for review, unless a note that its calls were shown has been forgotten since."""
        waits = self._plan.held
        if waits is None or not all(self._still_knows(call) for call in waits.calls):
            return None
        return held.keep(self._connection, waits)

    # -- what may be done ---------------------------------------------------------------------------

    def _spoken_of(self) -> list[str]:
        """Return all notes that links and calls speak of."""
        plan = self._plan
        ends = [end for planned in plan.links for end in (planned.link.source, planned.link.target)]
        calls = plan.calls if plan.failed is None else (*plan.calls, plan.failed)
        return list(dict.fromkeys([*ends, *(note_id for call in calls for note_id in call.shown)]))

    def _still_knows(self, call: Call) -> bool:
        """Whether nothing that the call was shown has been forgotten since."""
        for note_id, version in call.sights.items():
            now = self._there.get(note_id)
            if now is None or (version and version < now.unlearned):
                return False
        return True

    def _may_change(self, change: Change, kept: Sequence[int]) -> bool:
        stored = self._stored.get(change.note_id)
        if stored is None:
            why = GONE
        elif (change.call is not None and change.call not in kept) or self._quotes_the_forgotten(change):
            why = FORGOTTEN
        elif change.expected_version is not None and stored.note.version != change.expected_version:
            why = CONFLICT
        else:
            return True
        stage: Stage = "build" if change.cause.kind == "build" else "evolve"
        self._skipped.append(Skipped(stage=stage, what=f"change of note {change.note_id}", why=why))
        return False

    def _quotes_the_forgotten(self, change: Change) -> bool:
        """Whether the change carries an error of a call that may quote what has been forgotten since."""
        failed = self._plan.failed
        return failed is not None and change.fields.get("error") is not None and not self._still_knows(failed)

    def _may_link(self, planned: PlannedLink, kept: Sequence[int]) -> bool:
        link = planned.link
        if not (link.source in self._there and link.target in self._there):
            return self._no_link(link, GONE)
        if planned.call is not None and planned.call not in kept:
            return self._no_link(link, FORGOTTEN)
        return link.source != link.target or self._no_link(link, "a note is not linked to itself")

    def _not_linked_yet(self, links: Sequence[PlannedLink]) -> list[PlannedLink]:
        ends = [end for planned in links for end in (planned.link.source, planned.link.target)]
        there = {frozenset(pair) for pair in _pairs(self._connection, list(dict.fromkeys(ends)))}
        new: list[PlannedLink] = []
        for planned in links:
            pair = frozenset((planned.link.source, planned.link.target))
            if pair in there:
                self._no_link(planned.link, LINKED)
                continue
            there.add(pair)
            new.append(planned)
        return new

    def _no_link(self, link: Link, why: str) -> bool:
        self._skipped.append(Skipped(stage="link", what=f"{link.source} to {link.target}", why=why))
        return False

    # -- what becomes of the notes ------------------------------------------------------------------

    def _applied(self, changes: Iterable[Change]) -> tuple[dict[str, Note], list[tuple[Revision, int | None, int]]]:
        after: dict[str, Note] = {}
        revised: list[tuple[Revision, int | None, int]] = []
        for change in changes:
            old = after.get(change.note_id, self._stored[change.note_id].note)
            new = apply_change(old, change)
            revisions = field_revisions(old, new, change, self._plan)
            revised += [(revision, change.call, new.version) for revision in revisions]
            if change.cause.kind == "build" and change.call is not None:
                new = new.model_copy(update={"made_by": self._plan.made_by(change.call)})
            after[change.note_id] = new
        return after, revised

    def _moved(self, after: Mapping[str, Note]) -> dict[str, str]:
        """Return the texts that are to be indexed anew; all of them need a vector."""
        texts = {note_id: self._render(note) for note_id, note in after.items()}
        moved = {i: text for i, text in texts.items() if text != self._render(self._stored[i].note)}
        missing = tuple(text for text in moved.values() if text not in self._vectors)
        if missing:
            raise NeedsVectors(missing)
        return moved

    # -- writing ------------------------------------------------------------------------------------

    def _spent(self) -> Mapping[str, Usage]:
        """Return what the plan cost; a box that was forgotten meanwhile does not come back for its bill."""
        plan = self._plan
        known = self._stored or self._there or not plan.spent or writes.has_box(self._connection, plan.box)
        return plan.spent if known else {}

    def _call_id(self, call: int | None) -> int | None:
        return None if call is None else self._call_ids[call]

    def _write_notes(self, steps: Sequence[Change], after: Mapping[str, Note]) -> None:
        builders = {c.note_id: self._call_ids[c.call] for c in steps if c.call is not None and c.cause.kind == "build"}
        writes.update_notes(
            self._connection,
            [
                (note, builders.get(note_id, self._stored[note_id].call_id))
                for note_id, note in after.items()
                if note is not self._stored[note_id].note
            ],
        )

    def _index(self, texts: Mapping[str, str]) -> None:
        if self._full_text:
            sqlite.put_fts(self._connection, self._plan.box, {self._stored[i].rid: text for i, text in texts.items()})
        writes.put_vectors(self._connection, self._plan.box, {i: self._vectors[text] for i, text in texts.items()})

    def _refile(self, notes: Mapping[str, Note], texts: Collection[str]) -> None:
        """Have Chroma and caches notice changes that are in no text: when, who, and whether hidden.

        Args:
            notes: as they are now.
            texts: those of them of which Chroma is told anyway.
        """
        filed = {i: (self._stored[i].note, note) for i, note in notes.items()}
        told = [i for i, (old, new) in filed.items() if any(getattr(old, f) != getattr(new, f) for f in _FILED)]
        writes.enqueue(self._connection, self._plan.box, [i for i in told if i not in texts])
        if any(_seen_otherwise(*filed[i]) for i in told):
            writes.raise_box(self._connection, self._plan.box, "epoch")

    def _write_links(self, links: Sequence[PlannedLink]) -> list[Link]:
        calls = [
            self._call_id(planned.call) if planned.link.id is None else self._first_call(planned.link)
            for planned in links
        ]
        ids = writes.insert_links(self._connection, [(p.link, call) for p, call in zip(links, calls, strict=True)])
        made = rows.made_by(self._connection, [c for p, c in zip(links, calls, strict=True) if p.link.id is not None])
        stored = []
        for planned, link_id, call in zip(links, ids, calls, strict=True):
            who = self._plan.made_by(planned.call) if call not in made else made[call]
            stored.append(planned.link.model_copy(update={"id": link_id, "made_by": who}))
            self._revisions.append(rows.Logged(link_revision(self._plan, planned.cause, None, stored[-1]), call, None))
        return stored

    def _first_call(self, link: Link) -> int | None:
        """Return the call that made a link which is now coming back: forgetting must still find it."""
        table = schema.revision.c
        query = (
            select(table.after, table.call_id)
            .where(table.note_id == link.source, table.field == LINK_FIELD)
            .order_by(table.id)
        )
        for after, call_id in self._connection.execute(query):
            if after is not None and after["id"] == link.id:
                return None if call_id is None else int(call_id)
        return None

    def _unlink(self) -> None:
        plan = self._plan
        causes = {item.link_id: item.cause for item in plan.unlink}
        for link in writes.take_links(self._connection, plan.box, list(causes)):
            assert link.id is not None
            self._revisions.append(rows.Logged(link_revision(plan, causes.pop(link.id), link, None), None, None))
        self._skipped += [Skipped(stage="link", what=f"removal of link {link_id}", why=GONE_LINK) for link_id in causes]


def _seen_otherwise(old: Note, new: Note) -> bool:
    """Whether a search sees a note otherwise; that it is ready now makes no difference to one."""
    return _as_seen(old) != _as_seen(new)


def _as_seen(note: Note) -> tuple[object, ...]:
    return note.speaker, note.occurred_at, note.status == "archived", note.superseded_by is None


def _pairs(connection: Connection, ends: Sequence[str]) -> list[tuple[str, str]]:
    """Return the links between any of the notes, and with more of them than fit one question, some others."""
    if len(ends) <= rows.IN_LIMIT:
        return _LINKED.rows(connection, ends)
    table = schema.link.c
    found: list[tuple[str, str]] = []
    for some in rows.chunks(ends):
        query = select(table.source, table.target).where(or_(table.source.in_(some), table.target.in_(some)))
        found += [(source, target) for source, target in connection.execute(query)]
    return found
