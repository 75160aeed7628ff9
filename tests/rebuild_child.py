"""Rebuilds a memory until it kills itself while its third plan is committed; prints how many notes it was to do."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

from rebuild_support import model
from sqlalchemy import event

from amem.embedding import HashEmbedder
from amem.memory import AsyncMemory


async def main(place: str, prompts: str) -> None:
    plans = [0]

    def on_commit(_connection):
        if plans[0] == 3:
            os.kill(os.getpid(), signal.SIGKILL)

    memory = AsyncMemory.open(
        place, llm=model(), embedder=HashEmbedder(), chroma=False, similarity_floor=-1.0, window=2,
        prompts_overrides=prompts,
    )  # fmt: skip
    async with memory:
        ledger = memory._rooms.ledger
        event.listen(ledger.database.engine, "commit", on_commit)
        commit = ledger.commit

        def counted(plan, *given):
            plans[0] += 1
            return commit(plan, *given)

        ledger.commit = counted
        rebuilt = await memory.rebuild()
        plans[0] = 0  # closing is not what is to be killed
        print(len(rebuilt.built) + len(rebuilt.woven), flush=True)


asyncio.run(main(sys.argv[1], sys.argv[2]))
