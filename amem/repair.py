"""Mending what is derived from the notes: full text, vectors and Chroma."""

from __future__ import annotations

from asyncio import to_thread
from typing import TYPE_CHECKING

from amem.ingest.vectors import Progress, embed, embed_missing
from amem.store import mend
from amem.store.doctor import doctor
from amem.values import Frozen

if TYPE_CHECKING:
    from amem.rooms import Rooms
    from amem.store.report import Report


class Reindexed(Frozen):
    """What a reindex did."""

    notes: int
    """Notes whose full text was indexed."""
    embedded: int
    """Notes that were embedded."""
    indexed: int | None
    """Vectors that Chroma was given; None where Chroma is switched off."""


async def reindex(rooms: Rooms, *, embed: bool = False, progress: Progress | None = None) -> Reindexed:
    """Make all that is derived from the notes anew; no language model is asked.

    Full text and Chroma come from the ledger alone; the embedder is asked only for notes that have no vector. With
    `embed`, or where the settings name another embedder or text form than the ledger's, every vector is dropped and
    made anew. That is done in one transaction with recording what the new vectors are made with, and before it the
    embedder has to embed one note: so the ledger never holds vectors of two kinds, and a run that is stopped leaves
    notes without a vector, which words still find. The next reindex goes on there; ask for no `embed` then.

    Args:
        rooms: opened with `rebind` where the embedder is another one.
        embed: make every vector anew.
        progress: told how far it is.

    Raises:
        EmbeddingError: the embedder fails. What was embedded so far is kept, and all notes are found by their words.
        IndexUnavailable: Chroma is held by another process, or fails; search goes on over the ledger's vectors.
    """
    ledger = rooms.ledger
    anew = embed or not await to_thread(lambda: ledger.is_bound)
    if anew:
        await _prove_embedder(rooms)
        notes = await to_thread(ledger.embed_anew)
    else:
        await to_thread(_mend_rows, rooms, await to_thread(doctor, ledger, rooms.vectors))
        notes = await to_thread(ledger.reindex_words)
    indexed = None if anew else await to_thread(_rebuild, rooms, progress)
    embedded = await embed_missing(rooms, progress=progress)
    if anew:
        indexed = await to_thread(_rebuild, rooms, progress)
    elif embedded:
        await to_thread(rooms.index.drain, force=True)
    return Reindexed(notes=notes, embedded=embedded, indexed=indexed)


async def repair(rooms: Rooms, report: Report, *, progress: Progress | None = None) -> Report:
    """Mend what a report names and can be mended without changing a note; return how things are afterwards.

    Raises:
        EmbeddingError: the embedder fails; everything else has been mended.
    """
    kinds = {problem.kind for problem in report.problems}
    if kinds & mend.WORDS:
        await to_thread(rooms.ledger.reindex_words)
    await to_thread(_mend_rows, rooms, report)
    if "index_damaged" in kinds:
        await to_thread(_rebuild, rooms, progress)
    elif kinds & mend.INDEX:
        await to_thread(rooms.index.drain, force=True)
    await embed_missing(rooms, progress=progress)
    return await to_thread(doctor, rooms.ledger, rooms.vectors, rooms.index)


async def _prove_embedder(rooms: Rooms) -> None:
    """Have one text embedded, before anything is dropped."""
    page = await to_thread(rooms.ledger.any_note)
    await embed(rooms, [rooms.render(page) if page is not None else "a text"])


def _mend_rows(rooms: Rooms, report: Report) -> None:
    if not report.healthy:
        with rooms.ledger.database.writing() as connection:
            mend.mend(connection, report.problems)


def _rebuild(rooms: Rooms, progress: Progress | None) -> int | None:
    if not rooms.settings.chroma or rooms.settings.max_collections == 0:
        return None
    told = None if progress is None else lambda done, total: progress("indexing", done, total)
    return rooms.index.rebuild(told)
