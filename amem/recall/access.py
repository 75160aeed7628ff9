"""Counting what users recall: kept in memory, written in batches, since a search should not wait for the disk."""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from amem.store.ledger import Ledger

BATCH = 256
"""Accesses that wait to be written; a crash loses so many counts at most, and nothing else."""


class AccessLog:
    """Accesses by users, on their way into the ledger. Any thread may call it."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()
        self._last: dict[str, datetime] = {}
        self._waiting = 0

    def note(self, note_ids: Sequence[str], at: datetime) -> bool:
        """Count one access to each note; return whether a batch has come together, and `flush` is due."""
        with self._lock:
            self._counts.update(note_ids)
            self._last.update(dict.fromkeys(note_ids, at))
            self._waiting += len(note_ids)
            return self._waiting >= BATCH

    def flush(self) -> None:
        """Write what waits."""
        with self._lock:
            counts, last = dict(self._counts), dict(self._last)
            self._counts.clear()
            self._last.clear()
            self._waiting = 0
        if counts:
            self._ledger.touch({note_id: (count, last[note_id]) for note_id, count in counts.items()})
