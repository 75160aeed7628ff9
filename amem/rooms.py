"""What one memory is made of: the parts that ingest and recall share, opened together and closed together."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from amem.runs import Runs

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from amem.embedding import Embedder
    from amem.llm.metering import Meter
    from amem.llm.protocol import LLM
    from amem.model import Note
    from amem.prompts import PromptSet
    from amem.recall.access import AccessLog
    from amem.recall.graph import Graphs
    from amem.recall.layout import Layouts
    from amem.settings import Settings
    from amem.store.ledger import Ledger
    from amem.store.outbox import LedgerVectors
    from amem.store.vectors import VectorIndex
    from amem.tokens import Tokenizer

_REPLY_BASE = 250
_REPLY_PER_NOTE = 150
"""Tokens: a note's fields take 60 to 100, its links and changes as many again."""


class Keeper(Protocol):
    """Something that goes on in the background until it is stopped."""

    async def stop(self) -> None:
        """Return when nothing of it goes on any more."""
        ...


@dataclass(frozen=True)
class Rooms:
    """The open parts of one memory."""

    directory: Path
    """Everything amem writes is in it."""
    settings: Settings
    ledger: Ledger
    vectors: LedgerVectors
    index: VectorIndex
    layouts: Layouts
    graphs: Graphs
    accesses: AccessLog
    embedder: Embedder
    tokenizer: Tokenizer
    prompts: PromptSet
    llm: LLM | None
    meter: Meter
    render: Callable[[Note], str]
    now: Callable[[], datetime]
    new_id: Callable[[], str]
    background: set[asyncio.Task[Any]] = field(default_factory=set)
    """Work that `add(wait=False)` left behind."""
    runs: Runs = field(default_factory=Runs)
    keepers: dict[str, Keeper] = field(default_factory=dict)
    """Upkeep in the background, by box."""
    erasing: threading.Lock = field(default_factory=threading.Lock)
    """Held while files are written without what was forgotten."""

    def reply_cap(self, notes: int) -> int:
        """Return the reply limit, in tokens, of a call about `notes` new notes."""
        return min(self.settings.max_tokens, _REPLY_BASE + _REPLY_PER_NOTE * notes)

    @property
    def raw(self) -> bool:
        """Whether notes are stored without asking a model."""
        return self.llm is None or self.settings.strategy == "raw"
