"""The language model as reading uses it: off by default, each call metered, and no call a search depends on."""

from __future__ import annotations

from asyncio import to_thread
from typing import TYPE_CHECKING, TypeVar

from amem.errors import ModelUnavailable
from amem.llm.structured import ask
from amem.store.plan import Plan

if TYPE_CHECKING:
    from pydantic import JsonValue

    from amem.replies import Reply
    from amem.rooms import Rooms

R = TypeVar("R", bound="Reply")


class Thinking:
    """Calls on behalf of one search, on an account that ends up in the totals of its box."""

    def __init__(self, rooms: Rooms, box: str) -> None:
        self.rooms = rooms
        self.meter = rooms.meter.child()
        self._box = box

    async def ask(self, prompt: str, variables: dict[str, JsonValue], output: type[R], *, max_tokens: int) -> R:
        """Ask the model; the prompt's name is the stage that the cost stands under.

        Raises:
            LLMError: there is no model, the call failed, or its reply is of no use.
        """
        if self.rooms.llm is None:
            raise ModelUnavailable("no language model is set; name one in the setting `llm`", attempts=0)
        request = self.rooms.prompts.render(prompt, variables, params={"max_tokens": max_tokens})
        return await ask(self.rooms.llm, request, output, meter=self.meter, stage=prompt)

    async def settle(self) -> None:
        """Write what the calls have cost to the ledger."""
        spent, llm = self.meter.by_stage(), self.rooms.llm
        if spent:
            model = "" if llm is None else llm.model
            plan = Plan(box=self._box, at=self.rooms.now(), spent=spent, model=model)
            await to_thread(self.rooms.ledger.commit, plan, {})
