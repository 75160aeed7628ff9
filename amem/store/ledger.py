"""The ledger: the one truth about notes, links, revisions and vectors. Everything else can be rebuilt from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.store import binding, counts, erase, held, intent, queries, sqlite, writes
from amem.store import stale as made_before
from amem.store.accept import accept
from amem.store.commit import Commit
from amem.store.database import Database
from amem.store.erase_box import forget_box

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    import numpy as np
    from numpy.typing import NDArray
    from sqlalchemy import Connection

    from amem.filters import Filter
    from amem.model import Link, Note, Page, Revision, Stats
    from amem.store.held import Held
    from amem.store.lines import Header
    from amem.store.load import Load
    from amem.store.plan import Committed, Plan
    from amem.store.receipt import Receipt


_PAGE = 1000


class Ledger:
    """Notes and their history in one database; every method is one transaction."""

    def __init__(self, url: str, *, render: Callable[[Note], str]) -> None:
        self.database = Database(url)
        self.render = render
        self._made_with: dict[str, str] | None = None

    def close(self) -> None:
        """Close the database."""
        self.database.close()

    # -- what the vectors are made of ------------------------------------------------------------

    def bind_embedding(self, about: Mapping[str, str], *, rebind: bool = False) -> None:
        """Record what embeds the notes, or check that it is what embedded them so far.

        Args:
            about: the keys of `binding.KEYS`.
            rebind: open in spite of a difference, for a reindex: until `embed_anew`, nothing can be written.

        Raises:
            EmbeddingMismatch: the ledger's vectors come from something else, and `rebind` is false.
        """
        with self.database.writing() as connection:
            if not (rebind and binding.differences(connection, about)):
                binding.bind(connection, about)
        self._made_with = dict(about)

    @property
    def is_bound(self) -> bool:
        """Whether the vectors there are come from what embeds notes now."""
        with self.database.reading() as connection:
            return self._made_with is None or not binding.differences(connection, self._made_with)

    def stored_dimension(self) -> int:
        """Return the length of a stored vector, or 0 where there is none."""
        with self.database.reading() as connection:
            return counts.stored_dimension(connection)

    def embed_anew(self) -> int:
        """Drop all vectors and make the full text anew, since notes will be embedded in another way; return how many.

        From then on, what the ledger says of its vectors is true of those that are written, and there are no others.
        """
        with self.database.writing() as connection:
            binding.start_anew(connection, self._made_with)
            return self._reindex_words(connection)

    def reindex_words(self) -> int:
        """Make the full-text index anew from the notes; return how many there are."""
        with self.database.writing() as connection:
            binding.check(connection, self._made_with)
            return self._reindex_words(connection)

    def _reindex_words(self, connection: Connection) -> int:
        if not self.database.is_sqlite:
            return 0
        sqlite.clear_fts(connection)
        writes.raise_epochs(connection)  # what was looked up in the old index is no longer to be believed
        count = 0
        for stored in queries.all_notes(connection):
            for box in dict.fromkeys(note.box for note, _, _ in stored):
                sqlite.put_fts(connection, box, {rid: self.render(n) for n, rid, _ in stored if n.box == box})
            count += len(stored)
        return count

    def meta(self) -> dict[str, str]:
        """Return what the ledger says about itself."""
        with self.database.reading() as connection:
            return binding.read_meta(connection)

    # -- writing ----------------------------------------------------------------------------------

    def accept(
        self, notes: Sequence[Note], source_keys: Sequence[str | None], vectors: Mapping[str, np.ndarray]
    ) -> list[tuple[Note, bool]]:
        """Store raw notes durably; return each with whether it is new.

        A note whose source the box has seen before is not stored again: the stored one is returned. Notes of a
        session without a position get the next one. `vectors` is keyed by rendered text.

        Raises:
            InputError: a note wants a position that another note of its session has; nothing was stored.
        """
        keyed = list(zip(notes, source_keys, strict=True))
        with self.database.writing() as connection:
            binding.check(connection, self._made_with)
            return accept(connection, keyed, vectors, self.render, full_text=self.database.is_sqlite)

    def commit(
        self, plan: Plan, vectors: Mapping[str, np.ndarray], new: Sequence[tuple[Note, str | None]] = ()
    ) -> Committed:
        """Apply a plan in one transaction, by compare-and-swap on note versions.

        What no longer fits the ledger is dropped and reported: a change of a note that is gone or has moved on, a
        link that is there already, and all that came of a call which was shown a note that has been forgotten since.

        Args:
            plan: what is to change.
            vectors: rendered text to vector, for every text that the changes lead to.
            new: raw notes that come with it, each with the key of its source.

        Raises:
            NeedsVectors: a note moved on so that a text arises which has no vector; nothing was changed.
            GroundMoved: the plan wants all or nothing, and a part had to be dropped; nothing was changed.
        """
        with self.database.writing() as connection:
            binding.check(connection, self._made_with)
            if new:
                accept(connection, new, vectors, self.render, full_text=self.database.is_sqlite)
            return Commit(connection, plan, vectors, self.render, full_text=self.database.is_sqlite).run()

    def load(self, box: str, header: Header, lines: Load) -> None:
        """Write the lines of an export into an empty box; see `Load.write`."""
        with self.database.writing() as connection:
            binding.check(connection, self._made_with)
            lines.write(connection, box, header, self.render, full_text=self.database.is_sqlite)

    def forget(self, box: str, note_ids: Sequence[str] | None, *, dry_run: bool = False) -> Receipt:
        """Erase notes, or with None their whole box, and everything that came of them; or only say what would go.

        What the files still hold after that is cleaned by `cleaning.clean`.
        """
        full_text = self.database.is_sqlite
        with self.database.writing() as connection:
            binding.check(connection, self._made_with)
            if note_ids is None:
                receipt = forget_box(connection, box, full_text=full_text)
            else:
                receipt = erase.forget(connection, box, note_ids, self.render, full_text=full_text)
            if dry_run:
                connection.rollback()
        return receipt.model_copy(update={"dry_run": dry_run})

    def unfinished(self) -> intent.Intent:
        """Return what a forgetting has left to do; false where there is nothing."""
        with self.database.reading() as connection:
            return intent.read(connection)

    def held(self, box: str, key: int | None = None) -> list[Held]:
        """Return the plans of a box that wait for review, oldest first; or the one of that number."""
        with self.database.reading() as connection:
            return held.waiting(connection, box, key)

    def drop_held(self, box: str, key: int) -> bool:
        """Throw away a plan that waits for review; return whether there was one."""
        with self.database.writing() as connection:
            return held.drop(connection, box, key)

    def without_vector(self, box: str | None = None, *, limit: int | None = None) -> list[Note]:
        """Return the notes that have no vector: their embedding failed, or its text was forgotten."""
        with self.database.reading() as connection:
            return queries.without_vector(connection, box, limit=limit)

    def count_without_vector(self, box: str | None = None) -> int:
        """Return how many notes have no vector."""
        with self.database.reading() as connection:
            return counts.without_vector(connection, box)

    def any_note(self) -> Note | None:
        """Return some note, or None where there is none."""
        with self.database.reading() as connection:
            return next((stored.note for piece in queries.all_notes(connection) for stored in piece), None)

    def put_vectors(self, notes: Sequence[Note], vectors: Mapping[str, np.ndarray]) -> None:
        """Store vectors of notes by rendered text, where the notes still render to it."""
        with self.database.writing() as connection:
            binding.check(connection, self._made_with)
            current = queries.notes_by_id(connection, [note.id for note in notes])
            for box in dict.fromkeys(note.box for note in current.values()):
                texts = {i: self.render(note) for i, note in current.items() if note.box == box}
                writes.put_vectors(connection, box, {i: vectors[text] for i, text in texts.items() if text in vectors})

    def touch(self, accesses: Mapping[str, tuple[int, datetime]]) -> None:
        """Add to the access counts: by note, how many, and when the last was; versions stay as they are."""
        with self.database.writing() as connection:
            writes.touch(connection, accesses)

    # -- reading ----------------------------------------------------------------------------------

    def get(self, note_ids: Sequence[str], *, boxes: Sequence[str] | None = None) -> dict[str, Note]:
        """Return the notes that exist among `note_ids`, by id."""
        with self.database.reading() as connection:
            return queries.notes_by_id(connection, note_ids, boxes=boxes)

    def page(self, box: str, given: Filter, *, after: str | None, limit: int) -> Page:
        """Return one page of a box's notes, in the order they were accepted."""
        with self.database.reading() as connection:
            return queries.page(connection, box, given, after=after, limit=limit)

    def every(self, box: str, given: Filter) -> list[Note]:
        """Return all notes of a box that a filter lets through, in the order they were accepted."""
        found: list[Note] = []
        after: str | None = None
        with self.database.reading() as connection:
            while True:
                page = queries.page(connection, box, given, after=after, limit=_PAGE)
                found += page.notes
                after = page.next
                if after is None:
                    return found

    def pending(self, box: str | None, reasons: Sequence[str], *, limit: int | None = None) -> list[Note]:
        """Return notes that wait for an LLM, in the order they were accepted."""
        with self.database.reading() as connection:
            return queries.pending(connection, box, reasons, limit=limit)

    def links_of(self, note_ids: Sequence[str]) -> list[Link]:
        """Return all links that touch any of the notes."""
        with self.database.reading() as connection:
            return queries.links_of(connection, note_ids)

    def revisions(
        self,
        box: str,
        *,
        note_id: str | None = None,
        ids: Sequence[int] | None = None,
        caused_by: str | None = None,
    ) -> list[Revision]:
        """Return revisions of a box, oldest first."""
        with self.database.reading() as connection:
            return queries.revisions(connection, box, note_id=note_id, ids=ids, caused_by=caused_by)

    def session_turns(self, box: str, spans: Sequence[tuple[str, int, int]]) -> list[Note]:
        """Return notes of sessions by spans of positions, both ends included."""
        with self.database.reading() as connection:
            return queries.session_turns(connection, box, spans)

    def matching_ids(self, box: str, given: Filter) -> set[str]:
        """Return the ids of all notes a filter lets through."""
        with self.database.reading() as connection:
            return queries.matching_ids(connection, box, given)

    def box_state(self, box: str) -> tuple[int, int]:
        """Return (revision, epoch): the first grows with every text written, the second with all other changes."""
        with self.database.reading() as connection:
            return queries.box_state(connection, box)

    def last_turns(self, box: str, session_id: str, count: int) -> list[Note]:
        """Return the last notes of a session, in its order."""
        with self.database.reading() as connection:
            return queries.last_turns(connection, box, session_id, count)

    def glances(self, box: str, *, after_rid: int, after_revision: int) -> list[queries.Glance]:
        """Return what recall wants to know of the notes that are new or changed since."""
        with self.database.reading() as connection:
            return queries.glances(connection, box, after_rid=after_rid, after_revision=after_revision)

    def postings(self, box: str, words: Sequence[str]) -> list[NDArray[np.int64]]:
        """Return for each word the row ids of the notes that hold it, by its stem, ascending."""
        with self.database.reading() as connection:
            return queries.postings(connection, box, words)

    def evolved_contexts(self, note_ids: Sequence[str]) -> dict[str, str]:
        """Return the context of each note whose present context came from later notes."""
        with self.database.reading() as connection:
            return queries.evolved_contexts(connection, note_ids)

    def makers(self) -> list[tuple[str, str]]:
        """Return every (prompt, model) that made anything, in any box."""
        with self.database.reading() as connection:
            return made_before.made_by(connection)

    def stale(self, box: str, is_stale: made_before.IsStale) -> made_before.Found:
        """Return what in a box was made by prompts and models that are stale, and still shows."""
        with self.database.reading() as connection:
            return made_before.find(connection, box, is_stale)

    def stale_listed(self, box: str, is_stale: made_before.IsStale) -> made_before.Stale:
        """Return the same for people: notes, links and changes."""
        with self.database.reading() as connection:
            return made_before.listed(connection, made_before.find(connection, box, is_stale))

    def boxes(self) -> list[str]:
        """Return the names of all boxes."""
        with self.database.reading() as connection:
            return queries.boxes(connection)

    def stats(self, box: str, *, index: str) -> Stats:
        """Return counts and costs of a box."""
        with self.database.reading() as connection:
            return counts.stats(connection, box, index=index)
