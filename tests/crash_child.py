"""Adds notes until it kills itself at a named step; prints the id of every note whose add returned."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

from sqlalchemy import event
from support import builds

from amem.embedding import HashEmbedder
from amem.memory import AsyncMemory
from amem.testing import ScriptedLLM

BEFORE = 3
"""Adds that return before the one that is killed."""


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class Fuse:
    """Burns down once it is lit: `step` names where, `armed` says that the doomed add has begun."""

    def __init__(self, step: str) -> None:
        self.step = step
        self.armed = False

    def at(self, step: str) -> None:
        if self.armed and step == self.step:
            die()


class DyingEmbedder(HashEmbedder):
    """Dies when it is to embed the raw text, the built text, or an evolved one."""

    def __init__(self, fuse: Fuse) -> None:
        super().__init__()
        self._fuse = fuse
        self._calls = 0

    async def embed(self, texts):
        if self._fuse.armed:
            self._calls += 1
            self._fuse.at({1: "before accept", 2: "before neighbours", 3: "before commit"}.get(self._calls, ""))
        return await super().embed(texts)


def weave(fuse: Fuse):
    def answer(request):
        fuse.at("while linking")
        new = request.variables["notes"][0]["number"]
        return {
            "links": [{"source": new, "targets": [0], "relation": "goes on", "reason": "bread"}],
            "changes": [
                {"neighbour": 0, "because": [new], "context": f"Seen by {new}.", "keywords": [], "tags": [f"t{new}"]}
            ],
        }

    return answer


async def main(place: str, step: str) -> None:
    fuse = Fuse(step)

    def build(request):
        fuse.at("while building")
        return builds(request)

    llm = ScriptedLLM({"note": build, "link_evolve": weave(fuse)})
    memory = AsyncMemory.open(
        place, llm=llm, embedder=DyingEmbedder(fuse), similarity_floor=-1.0, index_batch=4, max_tags=200
    )
    database = memory._rooms.ledger.database
    commits = [0]

    def on_commit(_connection):
        if fuse.armed:
            commits[0] += 1
            fuse.at(f"within commit {commits[0]}")

    event.listen(database.engine, "commit", on_commit)
    drain = memory._rooms.index.drain

    def dying_drain(*given, **named):
        fuse.at("after commit")
        done = drain(*given, **named)
        fuse.at("after index")
        return done

    memory._rooms.index.drain = dying_drain
    for number in range(BEFORE + 1):
        fuse.armed = number == BEFORE
        result = await memory.add(f"bread number {number}", source=f"m{number}")
        print(result.id, flush=True)
    die()


asyncio.run(main(sys.argv[1], sys.argv[2]))
