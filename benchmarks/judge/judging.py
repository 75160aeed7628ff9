"""Asking the judge: one answer, one prompt, one ruling."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from amem.errors import BadReply, ModelRefused
from amem.llm.structured import ask
from amem.prompts import PromptSet
from amem.replies import Reply
from amem.values import Frozen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.llm.metering import Meter
    from amem.llm.protocol import LLM

Manner = Literal["strict", "lenient"]
MANNERS: tuple[Manner, ...] = ("strict", "lenient")
Verdict = Literal["correct", "wrong", "unreadable"]
STAGE = "judge"
_PROMPTS = Path(__file__).parent / "prompts"
_VERSION = "v1"


class JudgeReply(Reply):
    """What the judge says."""

    reason: Annotated[str, Field(max_length=600)]
    label: Literal["CORRECT", "WRONG"]


class Ruling(Frozen):
    """What the judge made of one answer."""

    manner: Manner
    prompt: str
    """The prompt's name, version and hash; rulings by other wordings are not comparable."""
    model: str
    verdict: Verdict
    """`unreadable` is an outcome of its own, neither right nor wrong."""
    said: str
    """The judge's reason, or the reply that could not be read. It may quote the data: it is not for publication."""


class Judge:
    """A model that marks answers, in two manners.

    Args:
        llm: the model.
        meter: counts what it costs, under the stage `judge`.
    """

    def __init__(self, llm: LLM, meter: Meter) -> None:
        self._llm = llm
        self._meter = meter
        self._prompts = PromptSet(_VERSION, root=_PROMPTS, outputs={"JudgeReply": JudgeReply})

    async def rule(self, manner: Manner, question: str, key: str, answer: str) -> Ruling:
        """Mark one answer.

        Args:
            manner: strict, where all facts of the key must stand in the answer, or lenient, in the manner of Mem0's.
            question: what was asked.
            key: the right answer.
            answer: the one to be marked.

        Raises:
            LLMError: the call failed; a reply that could not be read is a ruling.
        """
        request = self._prompts.render(manner, {"question": question, "key": key, "answer": answer})
        verdict: Verdict = "unreadable"
        try:
            reply = await ask(self._llm, request, JudgeReply, meter=self._meter, stage=STAGE)
        except BadReply as error:
            said = error.text
        except ModelRefused as error:
            said = str(error)
        else:
            verdict, said = ("correct" if reply.label == "CORRECT" else "wrong"), reply.reason
        return Ruling(manner=manner, prompt=request.prompt.label, model=self._llm.model, verdict=verdict, said=said)


def share_correct(rulings: Sequence[Ruling]) -> float | None:
    """Return J, the share of correct ones among all rulings, unreadable ones counted; None where there are none."""
    return sum(one.verdict == "correct" for one in rulings) / len(rulings) if rulings else None


def kappa(some: Sequence[Ruling], others: Sequence[Ruling]) -> float | None:
    """Return Cohen's kappa of two lists of rulings on the same answers; None where chance alone would agree wholly."""
    pairs = [(a.verdict, b.verdict) for a, b in zip(some, others, strict=True)]
    if not pairs:
        return None
    agreed = sum(a == b for a, b in pairs) / len(pairs)
    verdicts = {verdict for pair in pairs for verdict in pair}
    left, right = [a for a, _ in pairs], [b for _, b in pairs]
    chance = sum(left.count(verdict) * right.count(verdict) for verdict in verdicts) / len(pairs) ** 2
    return None if chance == 1.0 else (agreed - chance) / (1 - chance)
