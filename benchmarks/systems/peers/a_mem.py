"""The package a-mem of PyPI (an A-Mem that its users install), unchanged but for its embedder.

It is fed as A-Mem's authors feed theirs, turn by turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..lines import RANKED  # noqa: TID252 - in a wheel, this package has another name
from .process import Package, Peer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...datasets.conversation import Turn  # noqa: TID252 - likewise
    from ..protocol import Found, Query  # noqa: TID252 - likewise

PACKAGE = Package(
    name="a-mem",
    version="0.2.6",
    install=("--no-deps a-mem==0.2.6", "chromadb rank-bm25 nltk litellm scikit-learn openai"),
    imports="chromadb, rank_bm25, nltk, sklearn, openai",
    child="a_mem_child.py",
)
K = 10
"""Memories looked up for a question in A-Mem's own runs."""


class AMem(Peer):
    """The package a-mem."""

    async def add(self, turn: Turn) -> int:
        """Have a turn analysed, linked and evolved."""
        content = f"Speaker {turn.speaker}says : {turn.text}"
        return await self._taken(turn, content=content, time=f"{turn.at:%Y%m%d%H%M}")

    async def search(self, query: Query, budget: int) -> Found:
        """Pack the memories found, each with what the package knows of it, best first, as many as fit."""
        found = (await self._told(do="search", query=query.text, k=self._k))["found"]
        notes = {note["id"]: note for note in reversed(found) if note["id"] in self._turns}
        best = [name for name in dict.fromkeys(note["id"] for note in found) if name in notes]
        chosen, text = self._packed(best, lambda names: self._text(names, notes), budget)
        near = [note["id"] for note in found if not note["linked"] and note["id"] in self._turns]
        return self._found(text, chosen, near[:RANKED])

    def _text(self, names: Sequence[str], notes: dict[str, dict[str, Any]]) -> str:
        """Return memories as lines of a context; each says what the package's own text of it says."""
        lines = []
        for number, name in enumerate(sorted(names, key=lambda one: self._turns[one].position), start=1):
            turn, note = self._turns[name], notes[name]
            known = "; ".join(
                f"{field}: {_words(note[field])}" for field in ("context", "keywords", "tags") if note[field]
            )
            lines.append(" ".join(f"[{number}] {turn.at:%Y-%m-%d} {turn.speaker}: {turn.text} ({known})".split()))
        return "\n".join(lines)


def _words(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
