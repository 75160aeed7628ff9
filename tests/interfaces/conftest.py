from __future__ import annotations

import asyncio
import os

import pytest
from support import NOTHING, builds
from typer.testing import CliRunner

from amem.interfaces.cli.app import app
from amem.memory import AsyncMemory
from amem.testing import ScriptedLLM


@pytest.fixture(autouse=True)
def clean(tmp_path, monkeypatch):
    """An empty working directory, no settings from outside, and the fast embedding."""
    for name in [name for name in os.environ if name.startswith("AMEM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AMEM_EMBEDDING", "hash")
    monkeypatch.setenv("AMEM_CHROMA", "false")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def amem():
    """Run a command line in this process; the result has exit_code, stdout and stderr."""

    def run(*args, stdin=None):
        result = CliRunner().invoke(app, [str(arg) for arg in args], input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run


def weaves(request):
    """Link the first new note to the first older one and change that one; without an older one, say nothing."""
    older, newer = request.variables["neighbours"], request.variables["notes"]
    if not older:
        return NOTHING
    new, old = newer[0]["number"], older[0]["number"]
    reason = "The van was paid for with the boat."
    link = {"source": new, "targets": [old], "relation": "came after", "reason": reason}
    context = "Ana sold the boat, and bought a van since."
    change = {"neighbour": old, "because": [new], "context": context, "keywords": ["van"], "tags": []}
    return {"links": [link], "changes": [change]}


@pytest.fixture
def woven(tmp_path):
    """A memory in ./notes of two linked notes, the second of which changed the first; returns both, as stored."""

    async def weave():
        llm = ScriptedLLM({"note": builds, "link_evolve": weaves})
        async with AsyncMemory.open(tmp_path / "notes", llm=llm, similarity_floor=-1.0) as memory:
            first = await memory.add("I sold the boat", speaker="Ana", occurred_at="2024-02-03", session_id="s1")
            second = await memory.add("I bought a van", speaker="Ana", occurred_at="2024-03-05", session_id="s2")
            return await memory.get(first.id), await memory.get(second.id)

    return asyncio.run(weave())
