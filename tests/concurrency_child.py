"""A process with a whole memory, that writes to it or reads from it and says on its output what it did."""

from __future__ import annotations

import asyncio
import sys

from support import builds

from amem.embedding import HashEmbedder
from amem.memory import AsyncMemory
from amem.testing import ScriptedLLM


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def weaves(request):
    """Link the new note with the first neighbour, and let it change that one."""
    if not request.variables["neighbours"]:
        return {"links": [], "changes": []}
    new = request.variables["notes"][0]
    about = {"neighbour": 0, "because": [new["number"]], "context": f"Known from {new['text']}.", "keywords": []}
    link = {"source": new["number"], "targets": [0], "relation": "goes on", "reason": "bread"}
    return {"links": [link], "changes": [{**about, "tags": []}]}


async def write(memory: AsyncMemory, name: str, rounds: int) -> None:
    for number in range(rounds):
        result = await memory.add(f"bread {name} {number}", source=f"{name}{number}", session_id="shared")
        say("added", result.id, result.status, ",".join(item.why.partition(":")[0] for item in result.skipped))
        if number % 3 == 0:
            await memory.update(result.id, tags=[name])


async def read(memory: AsyncMemory, name: str, rounds: int) -> None:
    seen = 0
    for number in range(rounds):
        there = len((await memory.list(limit=1000)).notes)
        assert there >= seen, "a note that was there is gone"
        seen = there
        hits = await memory.search(f"bread {number}", k=20)
        assert len({hit.note.id for hit in hits}) == len(hits)
        say("found", len(hits))


async def main(directory: str, role: str, name: str, rounds: str) -> None:
    llm = ScriptedLLM({"note": builds, "link_evolve": weaves})
    memory = AsyncMemory.open(directory, llm=llm, embedder=HashEmbedder(), similarity_floor=-1.0, chroma=False)
    async with memory:
        await {"write": write, "read": read}[role](memory, name, int(rounds))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
