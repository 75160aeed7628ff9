from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from amem.llm.protocol import Message, PromptRef, Request
from amem.testing.fault_server import FaultServer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as running:
        yield running


@pytest.fixture
def make_request() -> Callable[..., Request]:
    def make(text: str = "What is this about?", *, schema: dict | None = None, **params: object) -> Request:
        return Request(
            prompt=PromptRef(name="note", version="v1", hash="0123abcd"),
            variables={"text": text},
            messages=(Message(role="system", content="You index."), Message(role="user", content=text)),
            reply_schema=schema,
            params={"temperature": 0.0, "max_tokens": 64, **params},
        )

    return make
