"""What a run of the recall benchmark may be told."""

from __future__ import annotations

from datetime import datetime  # noqa: TC003 - pydantic reads the annotations at run time
from pathlib import Path  # noqa: TC003 - likewise
from typing import TYPE_CHECKING, Literal

from amem.errors import InputError
from amem.model import Frozen
from amem.recall import features
from amem.recall.search import CANDIDATES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem.settings import Settings

TUNING = ("conv-26", "conv-30", "conv-41")
"""The conversations whose questions chose the features and their weights; all others are for reporting."""
EVERYTHING = 1_000_000_000

SetName = Literal["tuning", "reporting", "all"]
IndexName = Literal["exact", "chroma"]


class Options(Frozen):
    """How a run differs from the plain one."""

    set: SetName = "tuning"
    now: datetime | None = None
    """What `last week` counts from; default: the conversation's last session."""
    candidates: int = CANDIDATES
    ablate: tuple[str, ...] = ()
    """Features that count for nothing; the others keep their weights."""
    index: IndexName = "exact"
    keep: Path | None = None
    """Where the notes of the turns are kept for another run; default: nowhere."""

    def takes(self, conversation: str) -> bool:
        """Whether a conversation's questions are asked."""
        return self.set == "all" or (conversation in TUNING) == (self.set == "tuning")

    @property
    def plain(self) -> bool:
        """Whether recall runs as it does for users."""
        return not self.ablate and self.candidates == CANDIDATES

    def weights(self) -> Mapping[str, float]:
        """Return the features' weights without those that are ablated.

        Raises:
            InputError: there is no such feature.
        """
        unknown = [name for name in self.ablate if name not in features.WEIGHTS]
        if unknown:
            raise InputError(f"there is no feature {', '.join(unknown)}; there are {', '.join(features.WEIGHTS)}")
        return {name: weight for name, weight in features.WEIGHTS.items() if name not in self.ablate}

    def settings(self, given: Settings) -> Settings:
        """Return settings for a memory of the benchmark's own: the user's embedding and tokenizer, and nothing else.

        No model is asked, and no database or server that the user's own notes are in is touched.
        """
        own = {"llm": None, "strategy": "raw", "database_url": None, "chroma_url": None}
        return given.model_copy(update=own | index_settings(self.index))


def index_settings(name: IndexName) -> dict[str, object]:
    """Return the settings that make even a small box be searched exactly, or through Chroma."""
    return {"chroma": False} if name == "exact" else {"chroma": True, "exact_up_to": 0}
