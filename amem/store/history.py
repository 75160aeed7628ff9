"""Whether a note's revisions lead from the raw note to what it is now."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from amem.store.plan import LINK_FIELD, REVISED
from amem.store.rewind import SETS, taken_back
from amem.values import canonical_json

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from pydantic import JsonValue

    from amem.model import Note

    Row = Mapping[str, Any]

_RAW: dict[str, object] = {"keywords": [], "tags": [], "context": ""}
"""What a raw note has where the caller gave nothing; what the caller gave is pinned."""


def faults(note: Note, revisions: Sequence[Row], links: Collection[int]) -> Iterator[tuple[str, object]]:
    """Yield (kind of problem, what is concerned).

    Args:
        note: as it is.
        revisions: its own, oldest first, with `before` and `after` as values.
        links: ids of the links that start at it.
    """
    now = note.model_dump(mode="json")
    pins = (row["before"] or () for row in revisions if row["field"] == "pinned")
    ever_pinned = {*note.pinned, *(name for names in pins for name in names)}
    for field in REVISED:
        chain = [row for row in revisions if row["field"] == field]
        start = _RAW[field] if field in _RAW and field not in ever_pinned else None
        if not _leads_up(chain, start, now[field]):
            yield "history", f"{note.id}.{field}"
    if not _goes_and_comes([row for row in revisions if row["field"] == "status"], archived=note.status == "archived"):
        yield "history", f"{note.id}.status"
    if not _links_stand([row for row in revisions if row["field"] == LINK_FIELD], links):
        yield "link_history", note.id
    for row in revisions:
        if row["box"] != note.box:
            yield "revision_box", row["id"]
    for key in _undone_wrongly(revisions):
        yield "undo", key
    if not _versions_fit(note.version, [row for row in revisions if row["field"] != LINK_FIELD]):
        yield "version", note.id


def _leads_up(chain: Sequence[Row], start: object, now: object) -> bool:
    """Whether each revision starts where the one before ended, and the last ends at the present value."""
    value = now if start is None and not chain else start
    if start is None and chain:
        value = chain[0]["before"]  # the caller gave it, and it is written nowhere else
    for row in chain:
        if canonical_json(row["before"]) != canonical_json(value):
            return False
        value = row["after"]
    return canonical_json(value) == canonical_json(now)


def _goes_and_comes(chain: Sequence[Row], *, archived: bool) -> bool:
    """Whether a note went to the archive and came back in turn, and is where it went last."""
    there: bool | None = None
    for row in chain:
        was, stays = row["before"] == "archived", row["after"] == "archived"
        if was == stays or there not in (None, was):
            return False
        there = stays
    return there in (None, archived)


def _links_stand(chain: Sequence[Row], links: Collection[int]) -> bool:
    """Whether links came and went in turn, and those that came last are there."""
    there: set[object] = set()
    for row in chain:
        link = row["before"] if row["after"] is None else row["after"]
        key = link["id"] if isinstance(link, dict) else None
        comes = row["before"] is None
        if comes == (key in there):
            return False
        there ^= {key}
    return there == set(links)


def _versions_fit(version: int, revisions: Sequence[Row]) -> bool:
    """Whether a note has come as far as its revisions say: each plan that left some has raised the version."""
    led_to = [found for row in revisions if (found := row.get("version")) is not None]
    moments = {row["created_at"] for row in revisions}
    in_order = all(earlier <= later for earlier, later in pairwise(led_to))
    return in_order and version > len(moments) and all(1 < reached <= version for reached in led_to)


def _undone_wrongly(revisions: Sequence[Row]) -> Iterator[int]:
    """Yield revisions that are marked undone and are not, or are and are not marked, or undo what is not there."""
    fields = {row["id"]: row["field"] for row in revisions}
    standing = {row["undoes"] for row in revisions if row["undoes"] is not None and not row["undone"]}
    for row in revisions:
        undoes_nothing = row["undoes"] is not None and fields.get(row["undoes"]) != row["field"]
        is_undone = row["id"] in standing
        marked_wrongly = is_undone != bool(row["undone"]) and (is_undone or not _left_no_trace(row, revisions))
        if undoes_nothing or marked_wrongly:
            yield row["id"]


def _left_no_trace(revision: Row, revisions: Sequence[Row]) -> bool:
    """Whether a revision can have been undone without a revision that says so: where it no longer showed.

    Then its undoing changed nothing. A word that it brought may have been taken out since, by somebody else.
    """
    later = (row for row in revisions if row["id"] > revision["id"] and row["field"] == revision["field"])
    return revision["field"] in SETS and any(_shows_not(revision, row["after"]) for row in later)


def _shows_not(revision: Row, value: JsonValue) -> bool:
    back = taken_back(revision["field"], value, revision["before"], revision["after"])
    return back is not None and canonical_json(back[0]) == canonical_json(value)
