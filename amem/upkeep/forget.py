"""Forgetting (P6): choose notes, erase them with all that came of them, clean the files, look for them everywhere."""

from __future__ import annotations

from asyncio import to_thread
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from amem.errors import InputError, LedgerUnavailable
from amem.filters import Filter, make_filter
from amem.ids import is_id
from amem.store import selecting
from amem.store.cleaning import clean
from amem.store.tending import KEEP
from amem.upkeep.searching import Looked, search_for
from amem.values import Frozen, Moment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from amem.rooms import Rooms
    from amem.settings import Settings
    from amem.store.receipt import Receipt


class Selection(Frozen):
    """Which notes of a box are to be forgotten; what is given must hold, as in a search."""

    notes: tuple[str, ...] | None = None
    source: str | None = None
    given: Filter | None = None
    learned_before: Moment | None = None
    """Notes that were learned earlier, but for those that are to be kept."""
    whole_box: bool = False


def select(
    *, notes: Sequence[str] | None, source: str | None, whole_box: bool, filters: Mapping[str, Any]
) -> Selection:
    """Return what a caller wants to be forgotten.

    Raises:
        InputError: nothing is named, or the whole box and something besides; nothing was forgotten.
    """
    wanted = {name: value for name, value in filters.items() if value is not None}
    named = notes is not None or source is not None or bool(wanted)
    if whole_box == named:
        raise InputError(
            "say what to forget: notes, a source, a filter such as session_id or since, or the whole box and nothing"
            " besides. Nothing was forgotten."
        )
    if isinstance(notes, str):
        raise InputError("notes is one text; give a list of ids. Nothing was forgotten.")
    given = make_filter(**{**wanted, "archived": True, "outdated": True}) if wanted else None
    ids = None if notes is None else tuple(note_id for note_id in notes if is_id(note_id))
    return Selection(notes=ids, source=source, given=given, whole_box=whole_box)


def expired(settings: Settings, now: datetime) -> Selection:
    """Return what is past its retention.

    Raises:
        InputError: no retention is set.
    """
    if settings.retention_days is None:
        raise InputError("no retention is set: give retention_days (AMEM_RETENTION_DAYS). Nothing was forgotten.")
    return Selection(learned_before=now - timedelta(days=settings.retention_days))


async def forget(rooms: Rooms, box: str, wanted: Selection, *, dry_run: bool = False) -> Receipt:
    """Erase what is selected, and everything that came of it; then clean the files and look for it on every path."""
    return await to_thread(_forget, rooms, box, wanted, dry_run=dry_run)


def _forget(rooms: Rooms, box: str, wanted: Selection, *, dry_run: bool) -> Receipt:
    rooms.accesses.flush()
    ids = None if wanted.whole_box else _chosen(rooms, box, wanted)
    looked = Looked.before(rooms, box, ids)
    receipt = rooms.ledger.forget(box, ids, dry_run=dry_run)
    if dry_run or not receipt:
        return receipt
    unfinished = finish(rooms)
    searched = search_for(rooms, box, looked, receipt)
    return receipt.model_copy(update={"unfinished": unfinished, "searched": searched})


def _chosen(rooms: Rooms, box: str, wanted: Selection) -> list[str]:
    """Return the ids of the notes that are selected."""
    ledger = rooms.ledger
    found: set[str] | None = None if wanted.notes is None else set(wanted.notes)
    if wanted.source is not None:
        found = _both(found, selecting.from_source(ledger.database, box, wanted.source))
    if wanted.given is not None:
        found = _both(found, ledger.matching_ids(box, wanted.given))
    if wanted.learned_before is not None:
        kept = ledger.matching_ids(box, Filter(metadata={KEEP: True}, archived=True, outdated=True))
        found = _both(found, selecting.learned_before(ledger.database, box, wanted.learned_before)) - kept
    return sorted(found or ())


def _both(found: set[str] | None, more: set[str]) -> set[str]:
    return more if found is None else found & more


def finish(rooms: Rooms) -> tuple[str, ...]:
    """Do what a forgetting has left to do, and say what cannot be done yet, and why.

    A forgetting that was killed, or that met another process in its way, is thus taken up again.
    """
    with rooms.erasing:
        if not _is_left(rooms):
            return ()
        server = rooms.settings.chroma_url if rooms.settings.chroma else None
        return clean(rooms.ledger, rooms.vectors, rooms.directory, server, rooms.index.closed)


def _is_left(rooms: Rooms) -> bool:
    try:
        return bool(rooms.ledger.unfinished())
    except LedgerUnavailable:  # a damaged ledger says so wherever it is asked for notes; it can still be closed
        return False
