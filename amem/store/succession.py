"""Who stands in whose place: links lead on to the note that stands where they led, and count for it as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from amem.store import queries, rows, schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import ColumnElement, Connection

    from amem.model import Link
    from amem.store.database import Database

_note = schema.note.c


def leading_links(database: Database, note_ids: Sequence[str]) -> list[Link]:
    """Return the links of some notes and of those whose place they took, each end led on to what stands there now.

    What summed notes up, or corrected one, so has their links, and undoing that gives them back: nothing is copied. A
    link between two notes one of which stands for the other leads nowhere.
    """
    with database.reading() as connection:
        stands = _taken_over(connection, note_ids)
        links = queries.links_of(connection, list(stands))
        ends = {end for link in links for end in (link.source, link.target)}
        stands |= _led_on(connection, ends - stands.keys())
    led = (link.model_copy(update={"source": stands[link.source], "target": stands[link.target]}) for link in links)
    return [link for link in led if link.source != link.target]


def _taken_over(connection: Connection, note_ids: Iterable[str]) -> dict[str, str]:
    """Return those whose place some notes took, through any number of steps, each with that note; and themselves."""
    stands = {note_id: note_id for note_id in note_ids}
    following = list(stands)
    while following:
        found = _pairs(connection, following, _note.superseded_by)
        following = [old for old in found if old not in stands]
        stands = {old: stands[new] for old, new in found.items()} | stands
    return stands


def _led_on(connection: Connection, note_ids: Iterable[str]) -> dict[str, str]:
    """Return for each note the one that stands in its place now, through any number of steps, or itself."""
    stands = {note_id: note_id for note_id in note_ids}
    following, passed = set(stands), set(stands)
    while following:
        later = _pairs(connection, sorted(following), _note.id)
        stands = {note_id: later.get(at, at) for note_id, at in stands.items()}
        following = set(later.values()) - passed
        passed |= following
    return stands


def _pairs(connection: Connection, ids: Sequence[str], by: ColumnElement[str]) -> dict[str, str]:
    """Return notes and what took their place, of those that are among some ids by one or the other."""
    found: dict[str, str] = {}
    for some in rows.chunks(ids):
        query = select(_note.id, _note.superseded_by).where(by.in_(some), _note.superseded_by.is_not(None))
        found |= {row.id: row.superseded_by for row in connection.execute(query)}
    return found
