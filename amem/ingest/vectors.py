"""Applying a plan: embed the texts it leads to, then commit; re-embed where a note moved on meanwhile."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Callable
from typing import TYPE_CHECKING

from amem.store.plan import NeedsVectors, apply_change

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np

    from amem.model import Note
    from amem.rooms import Rooms
    from amem.store.plan import Committed, Plan


BATCH = 256

Progress = Callable[[str, int, int], None]
"""Called with what is being done ("embedding" or "indexing"), how much of it is done, and how much there is."""


async def embed(rooms: Rooms, texts: Iterable[str]) -> dict[str, np.ndarray]:
    """Return each distinct text's vector.

    Raises:
        EmbeddingError: the embedding model failed.
    """
    distinct = list(dict.fromkeys(texts))
    if not distinct:
        return {}
    return dict(zip(distinct, await rooms.embedder.embed(distinct), strict=True))


async def embed_missing(rooms: Rooms, box: str | None = None, *, progress: Progress | None = None) -> int:
    """Embed the notes that have no vector, batch by batch; return how many there were.

    Raises:
        EmbeddingError: the embedder fails; what was embedded so far is kept.
    """
    ledger, done = rooms.ledger, 0
    total = await to_thread(ledger.count_without_vector, box)
    while notes := await to_thread(ledger.without_vector, box, limit=BATCH):
        vectors = await embed(rooms, [rooms.render(note) for note in notes])
        await to_thread(ledger.put_vectors, notes, vectors)
        done += len(notes)
        if progress is not None:
            progress("embedding", done, max(done, total))
    return done


async def embed_those(rooms: Rooms, notes: Sequence[Note]) -> None:
    """Embed those of some stored notes that have no vector.

    Raises:
        EmbeddingError: the embedder fails.
    """
    there, _ = await to_thread(rooms.index.vectors, [note.id for note in notes])
    if lacking := [note for note in notes if note.id not in there]:
        vectors = await embed(rooms, [rooms.render(note) for note in lacking])
        await to_thread(rooms.ledger.put_vectors, lacking, vectors)


async def apply(
    rooms: Rooms,
    plan: Plan,
    vectors: Mapping[str, np.ndarray] | None = None,
    known: Mapping[str, Note] | None = None,
    new: Sequence[tuple[Note, str | None]] = (),
) -> Committed:
    """Commit a plan, and pass full batches on to Chroma; what waits in the outbox is found all the same.

    Args:
        rooms: where to.
        plan: what is to change.
        vectors: those made on the way, by rendered text.
        known: the notes that the plan changes, as they were when it was made; read from the ledger where not given.
        new: raw notes that come with the plan, each with the key of its source.

    Raises:
        EmbeddingError: a changed text could not be embedded; nothing was changed.
        GroundMoved: the plan wants all or nothing, and cannot have all; nothing was changed.
    """
    have = dict(vectors or {})
    if known is None:
        known = await to_thread(rooms.ledger.get, [change.note_id for change in plan.changes], boxes=[plan.box])
        known |= {note.id: note for note, _ in new}
    have |= await _missing(rooms, _texts_after(rooms, plan, known), have)
    while True:
        try:
            return await to_thread(_commit, rooms, plan, have, new)
        except NeedsVectors as moved:
            have |= await _missing(rooms, moved.texts, have)


def _commit(
    rooms: Rooms, plan: Plan, vectors: Mapping[str, np.ndarray], new: Sequence[tuple[Note, str | None]]
) -> Committed:
    committed = rooms.ledger.commit(plan, vectors, new)
    rooms.index.put(plan.box, 2 * len(plan.changes))  # one row from accept, one from here
    return committed


async def _missing(rooms: Rooms, texts: Iterable[str], have: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return await embed(rooms, (text for text in texts if text not in have))


def _texts_after(rooms: Rooms, plan: Plan, current: Mapping[str, Note]) -> list[str]:
    """Return the rendered texts that the plan leads to and that differ from today's."""
    after = dict(current)
    for change in plan.changes:
        if change.note_id in after:
            after[change.note_id] = apply_change(after[change.note_id], change)
    texts = {note_id: rooms.render(note) for note_id, note in after.items()}
    return [text for note_id, text in texts.items() if text != rooms.render(current[note_id])]
