from __future__ import annotations

import hypothesis
import pytest
from ledger_support import Shelf
from support import Clock, counting_ids

from amem.embedding import HashEmbedder
from amem.memory import AsyncMemory
from amem.testing import ScriptedLLM

# On a machine that others use as well, how long an example takes says nothing about the code.
hypothesis.settings.register_profile("amem", deadline=None)
hypothesis.settings.load_profile("amem")


@pytest.fixture(scope="session", autouse=True)
def _may_record():
    """Recording is refused where CI is set; these tests record scripts and servers of their own only."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("CI", raising=False)
        yield


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def open_memory(tmp_path, clock):
    """Open memories in this test's directory; they are deterministic, and closed by the test."""

    def opened(llm=None, path="memory", **settings):
        script = ScriptedLLM(llm) if isinstance(llm, (dict, list)) or callable(llm) else llm
        settings = {"chroma": False, "similarity_floor": -1.0, **settings}
        return AsyncMemory.open(
            tmp_path / path,
            llm=script,
            embedder=HashEmbedder(),
            now=clock,
            new_id=settings.pop("new_id", None) or counting_ids(),
            **settings,
        )

    return opened


@pytest.fixture
def shelf(tmp_path):
    """A ledger without anything around it."""
    opened = Shelf(tmp_path)
    yield opened
    opened.close()
