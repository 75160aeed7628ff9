"""A whole memory over real litellm and a real HTTP server, whose model is ill at one stage until it is well again."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

import tenacity
from support import fields

from amem.llm.litellm_client import LiteLLM
from amem.store.doctor import doctor
from amem.testing.fault_server import Answer, FaultServer, says

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from amem.testing.fault_server import Seen

CHANGE = {"neighbour": 0, "context": "It goes on.", "keywords": [], "tags": ["evolved"]}
WELL = {
    "note": fields(8),
    "link_evolve": {
        "links": [{"source": 1, "targets": [0], "reason": "the same oven", "relation": "goes on"}],
        "changes": [{"because": [1], **CHANGE}],
    },
    "link": {"links": [{"neighbour": 0, "reason": "the same oven", "relation": "goes on"}]},
    "evolve": {"tags": [], "changes": [CHANGE]},
}


class Model:
    """Answers well, but for the stage it is ill at: a list is used up, anything else is the answer every time."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        """Requests so far, by prompt."""
        self._ill: dict[str, Answer | list[Answer] | Callable[[Seen], Answer]] = {}

    def fall_ill(self, stage: str, answer: Answer | list[Answer] | Callable[[Seen], Answer]) -> None:
        self._ill[stage] = answer

    def recover(self) -> None:
        self._ill.clear()

    def __call__(self, seen: Seen) -> Answer:
        stage = prompt_of(seen)
        self.asked[stage] += 1
        fault = self._ill.get(stage)
        if isinstance(fault, list):
            fault = fault.pop(0) if fault else None
        if callable(fault):
            fault = fault(seen)
        return fault or says(json.dumps(WELL[stage]))


def prompt_of(seen: Seen) -> str:
    """The name of the prompt behind a request, as it stands beside the schema."""
    return seen.body["response_format"]["json_schema"]["name"]


def client(server: FaultServer, **settings: object) -> LiteLLM:
    """The real client, which does not pause between attempts."""
    usual = {"api_base": server.url, "api_key": "hunter2-very-secret", "wait": tenacity.wait_none(), "timeout": 20}
    return LiteLLM("openai/fake", **{**usual, "retries": 1, "deadline": 60, **settings})


def sound(memory: object) -> bool:
    """Whether every invariant of a memory holds."""
    rooms = memory._rooms
    return doctor(rooms.ledger, rooms.vectors).problems == ()


def different(bodies: Sequence[dict]) -> bool:
    """Whether no request was sent twice."""
    return len({json.dumps(body, sort_keys=True) for body in bodies}) == len(bodies)
