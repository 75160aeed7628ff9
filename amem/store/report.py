"""What the doctor says: problems, each with what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from amem.values import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterable

_REINDEX = "`amem reindex` mends it; no note is changed."
_BACKUP = "Restore a backup, or delete the notes named and add them again."
_SHOWN = 5


class Kind(NamedTuple):
    """A kind of problem: its sentence, to which the names of what is concerned are added, and what mends it."""

    what: str
    repair: str


KINDS: dict[str, Kind] = {
    "damaged": Kind(
        "The database file is damaged",
        "Restore a backup; `sqlite3 ledger.db .recover` saves what can still be read of this one.",
    ),
    "schema": Kind("The database says that it has another schema than it was opened with", "Use a newer amem."),
    "embedding": Kind(
        "The vectors were made by another embedding model, or from other texts",
        "Use the settings that they were made with, or run `amem reindex` to embed every note anew.",
    ),
    "unfinished": Kind(
        "A forgetting whose files have still to be written anew: they may hold what was erased",
        "It goes on at the next opening, or with `amem process`, once no other process has the memory open.",
    ),
    "box_missing": Kind("Boxes that notes are filed in and that are not listed", _REINDEX),
    "reference": Kind("Rows that refer to something which does not exist", _REINDEX),
    "unreadable": Kind("Notes with a value that no note can have", _BACKUP),
    "status": Kind("Notes that are ready and yet wait, or wait for no reason", _BACKUP),
    "version": Kind("Notes whose version is lower than their history, or whose revisions are out of order", _BACKUP),
    "source": Kind("Notes that are filed under a source which is not theirs", _BACKUP),
    "position": Kind("Sessions in which two turns have the same position", _BACKUP),
    "superseded": Kind("Notes that are superseded by a note which is not in their box", _BACKUP),
    "history": Kind("Notes whose revisions do not lead up to what they are now", _BACKUP),
    "undo": Kind("Revisions whose undoing is not as it is said to be", _BACKUP),
    "revision_box": Kind("Revisions that are in another box than their note", _BACKUP),
    "revision_value": Kind("Revisions with a value that no revision can have", _BACKUP),
    "link_value": Kind("Links with a value that no link can have", _REINDEX),
    "link_dangling": Kind("Links that lead to a note which does not exist", _REINDEX),
    "link_box": Kind("Links between notes of different boxes, or filed in another box than their notes", _REINDEX),
    "link_self": Kind("Links of a note with itself", _REINDEX),
    "link_twice": Kind("Links of notes that are linked already", _REINDEX),
    "link_history": Kind("Notes whose links are not those that their revisions tell of", _BACKUP),
    "shown": Kind("Notes that a call is said to have seen and that do not exist", _REINDEX),
    "cause": Kind("Notes that are said to have caused a change and that do not exist", _REINDEX),
    "held": Kind(
        "Proposals for review that cannot be read, or that speak of notes which are not there",
        "`amem reindex` mends it, by throwing them away; no note is changed.",
    ),
    "held_note": Kind("Proposals for review that forgetting would not find by all their notes", _REINDEX),
    "access": Kind("Access counts of notes that do not exist", _REINDEX),
    "fts_damaged": Kind("The full-text index is damaged", _REINDEX),
    "fts_missing": Kind("Notes that are not in the full-text index", _REINDEX),
    "fts_differs": Kind("Notes whose full text is another one than theirs", _REINDEX),
    "fts_orphan": Kind("Rows of the full-text index without a note", _REINDEX),
    "vector_missing": Kind("Notes without a vector, found by their words only", _REINDEX),
    "vector_orphan": Kind("Vectors without a note", _REINDEX),
    "vector_size": Kind("Vectors of the wrong size", _REINDEX),
    "vector_length": Kind("Vectors that are not of length 1", _REINDEX),
    "vector_box": Kind("Vectors that are filed in another box than their note", _REINDEX),
    "box_revision": Kind("Boxes whose revision is behind their vectors", _REINDEX),
    "outbox_box": Kind("Rows of the outbox that belong to no box", _REINDEX),
    "collection": Kind("Boxes that share a Chroma collection", _REINDEX),
    "index_damaged": Kind("Chroma cannot be used, and search goes on exactly over the ledger's vectors", _REINDEX),
    "index_differs": Kind("Notes of which Chroma knows another vector than theirs", _REINDEX),
    "index_missing": Kind("Notes that Chroma should know and does not", _REINDEX),
    "index_ghost": Kind("Notes that Chroma knows and that are not in the ledger", _REINDEX),
}


class Problem(Frozen):
    """Something that should never be, and what mends it."""

    kind: str
    """One of `KINDS`."""
    what: str
    repair: str
    box: str | None = None
    ids: tuple[str, ...] = ()
    """What is concerned: ids of notes, links or revisions, or rows."""


class Report(Frozen):
    """What was looked at and what was found."""

    notes: int
    boxes: int
    problems: tuple[Problem, ...] = ()
    checked: tuple[str, ...] = ()
    """The kinds of problems that were looked for."""
    index: str = "not looked at"
    """How search works, or why Chroma was not looked at."""

    @property
    def healthy(self) -> bool:
        """Whether nothing was found."""
        return not self.problems


def problem(kind: str, names: Iterable[object] = (), *, box: str | None = None, detail: str = "") -> Problem:
    """Return a problem of a kind, with the names of what is concerned."""
    ids = tuple(str(name) for name in names)
    what = KINDS[kind].what + (f" (box {box!r})" if box is not None else "")
    named = detail or ", ".join(ids[:_SHOWN]) + (f" and {len(ids) - _SHOWN} more" if len(ids) > _SHOWN else "")
    return Problem(kind=kind, what=f"{what}: {named}" if named else what, repair=KINDS[kind].repair, box=box, ids=ids)
