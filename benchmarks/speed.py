"""What `add`, `search` and a start cost: `python -m benchmarks.speed`.

`add` is measured as a whole: ledger, revisions, links, evolutions, full text, vectors and Chroma's batches counted
in, with a language model that answers at once and vectors that cost nothing. The scripted model links three
neighbours and evolves two of them on every add.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from amem.memory import AsyncMemory
from amem.testing import ScriptedLLM

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.llm.protocol import Request

WORDS_PER_NOTE = 40
VOCABULARY = 5000
DIMENSION = 384


class RandomEmbedder:
    """Vectors that cost nothing: 384 seeded random numbers a text."""

    name = "random"
    fingerprint = "random-384"
    dimension = DIMENSION

    def __init__(self) -> None:
        self._random = np.random.default_rng(7)

    async def embed(self, texts: Sequence[str]) -> np.ndarray:
        """Return one unit vector a text."""
        matrix = self._random.standard_normal((len(texts), DIMENSION), dtype=np.float32)
        unit: np.ndarray = matrix / np.linalg.norm(matrix, axis=1, keepdims=True)
        return unit


def _build(request: Request) -> dict[str, Any]:
    turns: Any = request.variables["turns"]
    fields = {"keywords": ["one", "two", "three"], "tags": ["topic"], "context": "One sentence of context."}
    return {"notes": [{"turn": turn["number"], **fields} for turn in turns]}


def _weave(request: Request) -> dict[str, Any]:
    """Link the new note with three neighbours, and evolve two of them."""
    shown: Any = request.variables["neighbours"]
    new: Any = request.variables["notes"]
    source = new[0]["number"]
    links = [
        {"source": source, "targets": [target], "relation": "continues", "reason": "the same plan"}
        for target in range(min(3, len(shown)))
    ]
    changes = [
        {"neighbour": i, "because": [source], "context": f"Seen again, {len(shown[i]['context'])}.", "keywords": [],
         "tags": []}
        for i in range(min(2, len(shown)))
    ]  # fmt: skip
    return {"links": links, "changes": changes}


def _texts(count: int, seed: int) -> list[str]:
    random = np.random.default_rng(seed)
    return [" ".join(f"word{number}" for number in random.zipf(1.3, WORDS_PER_NOTE) % VOCABULARY) for _ in range(count)]


async def _fill(memory: AsyncMemory, count: int) -> None:
    """Put `count` ready notes into the box, without a model."""
    for start in range(0, count, 1000):
        items = [
            {"content": text, "keywords": ["k"], "tags": ["t"], "context": "c", "speaker": "AB"[at % 2],
             "session_id": f"s{(start + at) // 25}"}
            for at, text in enumerate(_texts(min(1000, count - start), seed=start + 1))
        ]  # fmt: skip
        await memory.add_many(items)


async def _add_cost(box_size: int, adds: int, *, chroma: bool) -> dict[str, float]:
    """Return CPU and wall milliseconds of one add, median over `adds`, at a box of `box_size` notes."""
    llm = ScriptedLLM({"note": _build, "link_evolve": _weave})
    settings: dict[str, Any] = {"similarity_floor": -1.0, "chroma": chroma}
    with tempfile.TemporaryDirectory() as place:
        async with AsyncMemory.open(place, embedder=RandomEmbedder(), strategy="raw", **settings) as memory:
            await _fill(memory, box_size)
        async with AsyncMemory.open(place, llm=llm, embedder=RandomEmbedder(), **settings) as memory:
            texts = _texts(adds + 20, seed=99)
            for text in texts[:20]:  # the first ones open Chroma and fill caches
                await memory.add(text)
            cpu, wall = [], []
            began = time.process_time()
            for text in texts[20:]:
                at, clock = time.process_time(), time.perf_counter()
                result = await memory.add(text)
                cpu.append((time.process_time() - at) * 1e3)
                wall.append((time.perf_counter() - clock) * 1e3)
                assert len(result.links) == 3
            mean = (time.process_time() - began) * 1e3 / adds
    return {"cpu_median": statistics.median(cpu), "cpu_mean": mean, "wall_median": statistics.median(wall)}


async def _search_cost(box_size: int, searches: int, *, chroma: bool) -> dict[str, float]:
    """Return wall and CPU milliseconds of one search for nine words at a box of `box_size` notes."""
    random = np.random.default_rng(3)
    with tempfile.TemporaryDirectory() as place:
        async with AsyncMemory.open(place, embedder=RandomEmbedder(), strategy="raw", chroma=chroma) as memory:
            await _fill(memory, box_size)
            cpu, wall = [], []
            for _ in range(searches + 10):
                question = " ".join(f"word{number}" for number in random.zipf(1.3, 9) % VOCABULARY)
                at, clock = time.process_time(), time.perf_counter()
                await memory.search(question, k=10)
                cpu.append((time.process_time() - at) * 1e3)
                wall.append((time.perf_counter() - clock) * 1e3)
    cpu, wall = cpu[10:], wall[10:]  # the first ones fill caches
    return {
        "cpu_p50": statistics.median(cpu), "wall_p50": statistics.median(wall),
        "wall_p95": statistics.quantiles(wall, n=20)[-1],
    }  # fmt: skip


def _process_cpu(*command: str) -> float:
    """Return the CPU seconds of a whole process, the median of five."""
    import resource

    spent = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - our own interpreter
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return statistics.median(spent)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--adds", type=int, default=1000, help="adds measured at each box size")
    parser.add_argument("--searches", type=int, default=500, help="searches measured at each box size")
    parser.add_argument("--small", type=int, default=1000, help="notes in the small box")
    parser.add_argument("--large", type=int, default=20_000, help="notes in the large box")
    parser.add_argument("--no-chroma", action="store_true", help="search exactly over the ledger's vectors")
    given = parser.parse_args()
    python, amem = sys.executable, str(Path(sys.executable).with_name("amem"))
    print(f"import amem            {_process_cpu(python, '-c', 'import amem'):.3f} s CPU (whole process)")
    print(f"amem --help            {_process_cpu(amem, '--help'):.3f} s CPU (whole process)")
    costs = {}
    for name, size in (("small", given.small), ("large", given.large)):
        cost = costs[name] = asyncio.run(_add_cost(size, given.adds, chroma=not given.no_chroma))
        print(
            f"add, box of {size:>6} notes: {cost['cpu_median']:.2f} ms CPU median,"
            f" {cost['cpu_mean']:.2f} mean, {cost['wall_median']:.2f} ms wall median"
        )
    growth = costs["large"]["cpu_median"] / costs["small"]["cpu_median"]
    print(f"growth                 {growth:.2f} x of the median, ", end="")
    print(f"{costs['large']['cpu_mean'] / costs['small']['cpu_mean']:.2f} x of the mean")
    for size in (given.small, 10 * given.small):
        took = asyncio.run(_search_cost(size, given.searches, chroma=not given.no_chroma))
        print(
            f"search, box of {size:>6} notes: {took['wall_p50']:.2f} ms wall p50, {took['wall_p95']:.2f} p95,"
            f" {took['cpu_p50']:.2f} ms CPU p50"
        )


if __name__ == "__main__":
    main()
