"""Note ids: UUID version 7 (RFC 9562, section 5.7), so that ids sort by the time they were made."""

from __future__ import annotations

import os
import time
import uuid
from threading import Lock


def is_id(value: object) -> bool:
    """Whether a value could be a note's id; what no database can hold is none."""
    return isinstance(value, str) and value.isprintable()


class NoteIds:
    """Makes ids that grow, also within one millisecond and when the clock steps back."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._last = 0

    def __call__(self) -> str:
        """Return the next id."""
        with self._lock:
            stamp = max(time.time_ns() // 250, self._last + 1)  # 4,000 steps a millisecond fit 12 bits
            self._last = stamp
        milliseconds, rest = divmod(stamp, 4_000)
        value = (milliseconds & 0xFFFF_FFFF_FFFF) << 80 | 0x7 << 76 | (rest * 4096 // 4_000) << 64
        value |= 0b10 << 62 | int.from_bytes(os.urandom(8), "big") >> 2
        return str(uuid.UUID(int=value))
