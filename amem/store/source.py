"""What the vector index asks of the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np


class WaitingRow(Protocol):
    """A note that Chroma has still to be told of."""

    @property
    def seq(self) -> int:
        """Its place in the outbox; grows, and is never used twice."""
        ...

    @property
    def box(self) -> str:
        """The note's box."""
        ...

    @property
    def note_id(self) -> str:
        """The note; it may wait more than once."""
        ...

    @property
    def vector(self) -> np.ndarray | None:
        """Its vector in the ledger now; None where it has none any more, and Chroma must drop it."""
        ...

    @property
    def filters(self) -> Mapping[str, str | int | float | bool]:
        """Its filter fields (`amem.store.codec.FILTER_FIELDS`), without those it does not have."""
        ...


class VectorSource(Protocol):
    """The ledger, as the vector index sees it. Each method is one transaction, and any thread may call it."""

    def box_state(self, box: str) -> tuple[int, int]:
        """Return (revision, epoch): one grows with every vector written, the other with every one removed."""
        ...

    def vectors_since(self, box: str, revision: int) -> tuple[list[str], np.ndarray, int]:
        """Return ids and vectors written after `revision`, and the revision that they lead up to."""
        ...

    def vectors_of(self, note_ids: Sequence[str]) -> tuple[list[str], np.ndarray]:
        """Return the vectors that exist among `note_ids`, in that order."""
        ...

    def has_at_most(self, box: str, limit: int) -> bool:
        """Whether a box has no more than `limit` vectors."""
        ...

    def outbox(self, box: str | None = None, *, limit: int | None = None) -> Sequence[WaitingRow]:
        """Return what waits, oldest first."""
        ...

    def outbox_sizes(self, box: str | None = None) -> dict[str, int]:
        """Return how many rows wait, for each box with any, or for `box` alone."""
        ...

    def outbox_done(self, box: str, seqs: Sequence[int], *, holes: int = 0) -> int:
        """Forget rows of a box that Chroma has taken, or that no collection wants.

        `holes` are places in the graph of the box's collection that became useless by it. Return how many it has had
        since it was claimed.
        """
        ...

    def boxes(self) -> list[str]:
        """Return all boxes that have vectors, those with the most first."""
        ...

    def collections(self) -> dict[str, str]:
        """Return the collection of each box that has one, in a lasting order."""
        ...

    def claim_collection(self, box: str, limit: int) -> str | None:
        """Return the box's collection, giving it one where fewer than `limit` boxes have one.

        A new one gets a name that was never used before (`amem.store.chroma.collection_name`), and in the same
        transaction the box's waiting rows are replaced by a new one for each of its vectors: Chroma knows none.
        """
        ...

    def release_collections(self, boxes: Sequence[str] | None = None) -> None:
        """Take the collections from `boxes`, or from all; what waits for them stays."""
        ...
