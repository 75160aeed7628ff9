"""What a file with a conversation holds, and ids for what has none."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from amem.values import canonical_json

if TYPE_CHECKING:
    from amem.intake import NewNote


@dataclass(frozen=True)
class Bad:
    """A line that cannot be read."""

    line: int
    problem: str


@dataclass(frozen=True)
class Conversation:
    """What a file holds."""

    notes: list[NewNote]
    bad: list[Bad] = field(default_factory=list)
    warnings: tuple[str, ...] = ()


class Sources:
    """Gives items without an id one that stays the same when the file grows or is imported again.

    It is made of the file's name, a hash of who said what when in which session, and, for items that say the same, a
    count. A line number is no part of it: a line put in at the top would make every later item a new one.
    """

    def __init__(self, stem: str) -> None:
        self._stem = stem
        self._seen: Counter[str] = Counter()

    def of(self, note: NewNote) -> str:
        """Return the id of the next item."""
        at = note.occurred_at and note.occurred_at.isoformat()
        said = canonical_json([note.session_id, note.speaker, at, note.content])
        digest = hashlib.sha256(said.encode()).hexdigest()[:16]
        self._seen[digest] += 1
        again = f"-{self._seen[digest]}" if self._seen[digest] > 1 else ""
        return f"{self._stem}#{digest}{again}"
