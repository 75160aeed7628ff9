from __future__ import annotations

import pytest
from fault_support import Model, client
from support import counting_ids

from amem.embedding import HashEmbedder
from amem.llm.transport import load_litellm
from amem.memory import AsyncMemory
from amem.testing.fault_server import FaultServer


@pytest.fixture(scope="session", autouse=True)
def _litellm():
    load_litellm()


@pytest.fixture
def model():
    return Model()


@pytest.fixture
def server(model):
    with FaultServer(default=model) as running:
        yield running


@pytest.fixture
def remember(server, tmp_path, clock):
    """Open this test's memory over the server, again and again."""
    ids = counting_ids()

    def opened(*, embedder=None, budget=None, strategy="fused", llm=None, **settings):
        return AsyncMemory.open(
            tmp_path / "memory",
            llm=llm or client(server, **settings),
            embedder=embedder or HashEmbedder(),
            now=clock,
            new_id=ids,
            chroma=False,
            similarity_floor=-1.0,
            strategy=strategy,
            **(budget or {}),
        )

    return opened
