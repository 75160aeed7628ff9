"""What a run of the recall benchmark may be told."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from amem.errors import InputError
from amem.recall import features
from amem.recall.search import CANDIDATES
from amem.values import Frozen, Moment

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amem.settings import Settings

TUNING = ("conv-26", "conv-30", "conv-41")
"""The conversations whose questions chose the features and their weights; all others are for reporting."""
EVERYTHING = 1_000_000_000
"""More notes than any box has."""

SetName = Literal["tuning", "reporting", "all"]
IndexName = Literal["exact", "chroma"]


class Options(Frozen):
    """How a run differs from the plain one."""

    set: SetName = "tuning"
    now: Moment | None = None
    """What `last week` counts from; default: the conversation's last session."""
    candidates: int | None = CANDIDATES
    """Of each arm; None scores every note."""
    ablate: tuple[str, ...] = ()
    """Features that count for nothing; the others keep their weights."""
    reconstruct: bool = False
    """Rank by cues as well (docs/recall.md): fused with the features, and alone."""
    index: IndexName | None = None
    """How vectors are searched; default: exactly, but a memory that exists as its settings say."""
    keep: Path | None = None
    """Where the notes of the turns are kept for another run; default: nowhere."""

    def takes(self, conversation: str) -> bool:
        """Whether a conversation's questions are asked."""
        return self.set == "all" or (conversation in TUNING) == (self.set == "tuning")

    def weights(self) -> Mapping[str, float]:
        """Return the features' weights without those that are ablated.

        Raises:
            InputError: there is no such feature.
        """
        unknown = [name for name in self.ablate if name not in features.WEIGHTS]
        if unknown:
            raise InputError(f"there is no feature {', '.join(unknown)}; there are {', '.join(features.WEIGHTS)}")
        return {name: weight for name, weight in features.WEIGHTS.items() if name not in self.ablate}

    def limit(self) -> int:
        """Return the candidates of each arm, as a number."""
        return EVERYTHING if self.candidates is None else self.candidates

    def settings(self, given: Settings) -> Settings:
        """Return the user's settings as they serve a memory of the benchmark's own.

        No language model is asked, and no database or server that the user's own notes are in is touched.
        """
        own = {"llm": None, "strategy": "raw", "database_url": None, "chroma_url": None, "chroma": False}
        return given.model_copy(update=own | self.index_settings())

    def index_settings(self) -> dict[str, Any]:
        """Return the settings that let vectors be searched as was asked; a small box through Chroma as well."""
        if self.index is None:
            return {}
        return {"chroma": True, "exact_up_to": 0} if self.index == "chroma" else {"chroma": False}
