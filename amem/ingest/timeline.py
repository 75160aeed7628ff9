"""One statement after another: which of them holds when, and which nobody can put in order. No IO."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from amem.filters import Filter
from amem.model import TRUST_RANK, Cause, Fact, Note
from amem.store.plan import Change, apply_change
from amem.values import Frozen, Moment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

ALL_FACTS = Filter(kinds=("fact",), outdated=True)
Policy = Literal["newest", "keep_both", "ask"]
"""What a statement does to another one that it cannot hold beside: end it, leave it, or wait for review."""


class Settled(Frozen):
    """What a new statement means for those that are there."""

    repeats: str | None = None
    """The fact that says the same; then nothing is to be stored."""
    ends: tuple[Change, ...] = ()
    """Facts that hold until another one begins: others, or the new one itself where it was learned late."""
    contested: tuple[str, ...] = ()
    """Facts that contradict it and that nothing puts in order."""


def said_of(note: Note) -> Fact:
    """Return what a fact says."""
    assert isinstance(note.about, Fact)
    return note.about


def folded(term: str) -> str:
    """Return a term as it is compared: without case and spacing."""
    return " ".join(term.casefold().split())


def same_question(one: Fact, other: Fact) -> bool:
    """Whether two facts answer the same question: of the same subject, in the same respect."""
    return (folded(one.subject), folded(one.predicate)) == (folded(other.subject), folded(other.predicate))


def begins(note: Note) -> Moment:
    """Return when a fact began to hold, as far as it is known."""
    return note.valid_from or note.occurred_at


def ever_held(note: Note) -> bool:
    """Whether a fact held for any time; one that was wrong from the beginning did not."""
    return note.valid_to is None or note.valid_to > begins(note)


def settle(new: Note, known: Sequence[Note], policy: Policy) -> Settled:
    """Put a new fact among those that answer the same question, whether they hold still or held once.

    Where a subject has one object at a time, the facts of different moments follow each other: each holds until the
    next begins, in whatever order they were learned. Those of one moment contradict each other, and so do those where
    the one that would end the other is trusted less.
    """
    fact = said_of(new)
    alike = [note for note in known if same_question(said_of(note), fact) and ever_held(note)]
    for note in alike:
        if folded(said_of(note).object) == folded(fact.object) and _holds(note, begins(new)):
            return Settled(repeats=note.id)
    rivals = [note for note in alike if fact.single and said_of(note).single]
    if policy == "keep_both":
        return Settled(contested=tuple(note.id for note in rivals if _holds(note, begins(new))))
    before = [note for note in rivals if begins(note) < begins(new) and _holds(note, begins(new))]
    after = sorted((note for note in rivals if begins(note) > begins(new)), key=begins)
    contested = [note.id for note in rivals if begins(note) == begins(new)]
    contested += [note.id for note in before if TRUST_RANK[note.trust] > TRUST_RANK[new.trust]]
    ends = [_end(note, new) for note in before if note.id not in contested]
    later = next((note for note in after if TRUST_RANK[note.trust] >= TRUST_RANK[new.trust]), None)
    if later is not None:
        ends.append(_end(new, later))
    return Settled(ends=tuple(ends), contested=tuple(dict.fromkeys(contested)))


def settle_all(new: Sequence[Note], known: Sequence[Note], policy: Policy) -> tuple[list[Note], list[Change]]:
    """Put facts of one window among those that are known, one after another; repeats are left out.

    Returns:
        The facts that are news, and what becomes of them and of others.
    """
    there = {note.id: note for note in known}
    news: list[Note] = []
    changes: list[Change] = []
    for note in new:
        settled = settle(note, list(there.values()), policy)
        if settled.repeats is not None:
            continue
        news.append(note)
        there[note.id] = note
        for change in settled.ends:
            there[change.note_id] = apply_change(there[change.note_id], change.model_copy(update={"call": None}))
        changes += settled.ends
    versions = {note.id: note.version for note in (*known, *news)}
    return news, [change.model_copy(update={"expected_version": versions[change.note_id]}) for change in changes]


def _holds(note: Note, moment: Moment) -> bool:
    return begins(note) <= moment and (note.valid_to is None or note.valid_to > moment)


def _end(note: Note, by: Note) -> Change:
    fields: dict[str, JsonValue] = {"valid_to": begins(by).isoformat(), "superseded_by": by.id}
    cause = Cause(kind="supersede", notes=(by.id, *by.sources))
    return Change(note_id=note.id, expected_version=note.version, fields=fields, cause=cause)
