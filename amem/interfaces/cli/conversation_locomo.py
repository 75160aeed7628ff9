"""Conversations from the LoCoMo file, for `amem import`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.errors import InputError
from amem.interfaces.cli.conversation_types import Conversation
from amem.interfaces.cli.shipped import benchmarks_module

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from benchmarks.datasets import locomo


def read(path: Path, *, sessions: int | None, sample: str | None) -> Conversation:
    """Read one conversation of a LoCoMo file.

    Raises:
        InputError: the file departs from the schema, or it has several conversations and none was chosen.
    """
    data: locomo.Locomo = benchmarks_module("datasets.locomo").load(path)
    chosen = data.conversation(sample) if sample is not None else _only(data.conversations)
    said = benchmarks_module("datasets.from_locomo").conversation(chosen)
    turns = [turn for some in list(said.sessions.values())[:sessions] for turn in some]
    return Conversation(benchmarks_module("datasets.notes").as_notes(turns), warnings=data.warnings)


def _only(conversations: Sequence[locomo.Conversation]) -> locomo.Conversation:
    if len(conversations) != 1:
        names = ", ".join(conversation.id for conversation in conversations) or "none"
        raise InputError(f"say which conversation to import: --conversation, one of {names}")
    return conversations[0]
