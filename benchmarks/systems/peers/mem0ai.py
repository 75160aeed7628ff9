"""The package mem0ai of PyPI (mem0, open source), with all that it can have without a network.

Its model and its embedder are reached through the run's own door. Two of its three ways to find a memory want data that
it would download (spaCy's model, fastembed's BM25): it searches by embeddings alone, as for anybody who has not
installed them. This file is not called mem0: the package would be hidden by it from the process that runs beside it.
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
    name="mem0ai",
    version="2.2.1",
    install=("mem0ai==2.2.1",),
    imports="mem0, qdrant_client, openai",
    child="mem0ai_child.py",
)
K = 20
"""Memories looked up for a question: the package's own default."""


class Mem0(Peer):
    """The package mem0ai: facts that a model takes out of each turn."""

    async def add(self, turn: Turn) -> int:
        """Have the facts taken out of a turn, on the day on which it was said."""
        content = f"{turn.speaker}: {turn.text}"
        return await self._taken(turn, content=content, day=f"{turn.at:%Y-%m-%d}", at=turn.at.isoformat())

    async def search(self, query: Query, budget: int) -> Found:
        """Pack the facts found, best first, as many as fit; each stands for the turn that it was taken from."""
        found = (await self._told(do="search", query=query.text, k=self._k))["found"]
        facts = {fact["id"]: fact for fact in found if fact["turn"] in self._turns}
        chosen, text = self._packed(list(facts), lambda names: self._text(names, facts), budget)
        of = [facts[name]["turn"] for name in facts]
        return self._found(text, [facts[name]["turn"] for name in chosen], list(dict.fromkeys(of))[:RANKED])

    def _text(self, names: Sequence[str], facts: dict[str, dict[str, Any]]) -> str:
        """Return facts as lines of a context, in the order in which they were learned."""
        ordered = sorted(names, key=lambda name: self._turns[facts[name]["turn"]].position)
        turns = [self._turns[facts[name]["turn"]] for name in ordered]
        return "\n".join(
            " ".join(f"[{number}] {turn.at:%Y-%m-%d} {turn.speaker}: {facts[name]['text']}".split())
            for number, (name, turn) in enumerate(zip(ordered, turns, strict=True), start=1)
        )
