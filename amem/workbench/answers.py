"""Answering many cases: from recordings, and where a model stands behind them, by recording what is missing."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from amem.errors import LLMError, ModelRejected, PromptError
from amem.workbench.trials import Trial, try_request

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from amem.llm.metering import Meter
    from amem.llm.recording import RecordedLLM
    from amem.prompts import PromptSet
    from amem.workbench.cases import Case

    Heard = Callable[[Trial], None]
    """Is told of each trial as it ends."""

_BAD_REQUEST = 400


class Answers:
    """Asks cases of recordings, at most `at_once` together, and gives up on a model that would fail again.

    Args:
        llm: The recordings, with a model behind them or without.
        meter: Counts calls and holds the budget.
        at_once: Calls in flight together.
    """

    def __init__(self, llm: RecordedLLM, meter: Meter, at_once: int = 1) -> None:
        self.llm = llm
        self.meter = meter
        self.error: LLMError | None = None
        """Why asking was given up, if it was."""
        self._at_once = at_once

    async def all(self, cases: Sequence[tuple[Case, PromptSet]], heard: Heard | None = None) -> list[Trial]:
        """Return a trial for each case in its wording, in order."""
        trials: dict[int, Trial] = {}
        waiting = iter(enumerate(cases))

        async def worker() -> None:
            for i, (case, prompts) in waiting:
                trials[i] = await self.one(case, prompts)
                if heard is not None:
                    heard(trials[i])

        try:
            await asyncio.gather(*(worker() for _ in range(self._at_once)))
        finally:
            await self.llm.aclose()  # connections belong to this event loop; a later call opens new ones
        return [trials[i] for i in range(len(cases))]

    async def one(self, case: Case, prompts: PromptSet) -> Trial:
        """Return what a case comes to."""
        try:
            request = case.request(prompts)
        except PromptError as error:
            return Trial(problem=str(error), missing=True)
        if self.error is not None or (self.llm.mode == "none" and not self.llm.holds(request)):
            why = "nothing is recorded" if self.error is None else str(self.error)
            return Trial(request=request, problem=why, missing=True)
        try:
            return await try_request(request, prompts, self.llm, self.meter)
        except LLMError as error:
            if not _of_this_request(error):
                self.error = self.error or error
            return Trial(request=request, problem=str(error), missing=True)


def _of_this_request(error: LLMError) -> bool:
    """Whether another request may fare better: one that is too long for the model is refused alone."""
    return isinstance(error, ModelRejected) and error.status == _BAD_REQUEST
