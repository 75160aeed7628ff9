"""Reranking: the best candidates are read once more, by the language model or by a model made for it."""

from __future__ import annotations

import logging
import math
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from amem.errors import AmemError, BadReply, InputError
from amem.llm.protocol import Message, PromptRef, Request
from amem.recall.order import in_order, remarked
from amem.replies import RerankReply

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from amem.model import Hit, Note
    from amem.recall.thinking import Thinking

log = logging.getLogger("amem.recall")

PROMPT = "rerank"
LITELLM = "litellm:"
MAX_CHARS = 600
"""Of a note, as a reranker is shown it."""
_REPLY_TOKENS = 40
_REPLY_TOKENS_PER_NOTE = 5


@runtime_checkable
class Reranker(Protocol):
    """Anything that can say how well each of some texts helps to answer a question: a local cross-encoder, say."""

    async def rerank(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Return a score for each text, in their order; higher is better.

        Raises:
            AmemError: it cannot be done now; search goes on with the order it had. Any other error is a fault of the
                plug-in, and is raised to whoever searches.
        """
        ...


class LLMReranker:
    """Shows the language model all candidates at once, under numbers, and takes its order."""

    def __init__(self, thinking: Thinking) -> None:
        self._thinking = thinking

    async def rerank(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Score texts by their place in the model's order; texts it leaves out keep their order, behind the others.

        Raises:
            LLMError: there is no model, the call failed, or its reply is of no use.
        """
        notes: list[JsonValue] = [{"number": number, "text": text} for number, text in enumerate(texts)]
        cap = _REPLY_TOKENS + _REPLY_TOKENS_PER_NOTE * len(texts)
        variables: dict[str, JsonValue] = {"notes": notes, "question": question}
        reply = await self._thinking.ask(PROMPT, variables, RerankReply, max_tokens=cap)
        shown = [number for number in dict.fromkeys(reply.order) if number < len(texts)]
        if len(shown) < len(set(reply.order)):
            log.info("the reranking named %d notes that were not shown", len(set(reply.order)) - len(shown))
        places = {number: place for place, number in enumerate(shown, start=1)}
        return [1.0 / places[number] if number in places else 0.0 for number in range(len(texts))]


class LiteLLMReranker:
    """Asks a rerank model that litellm knows: hosted, or a server of one's own."""

    def __init__(self, thinking: Thinking, model: str) -> None:
        self._thinking = thinking
        self._model = model

    async def rerank(self, question: str, texts: Sequence[str]) -> Sequence[float]:
        """Return the model's scores.

        Raises:
            LLMError: it cannot be reached, refuses, or answers something else; or the budget is spent.
        """
        from amem.llm.litellm_client import rerank_texts

        settings = self._thinking.rooms.settings
        what = Request(
            prompt=PromptRef(name=PROMPT, version=LITELLM, hash=self._model),
            variables={},
            messages=(Message(role="user", content="\n".join([question, *texts])),),
            params={"max_tokens": 0},
        )
        with self._thinking.meter.call(PROMPT, what) as flight:
            scores, took = await rerank_texts(
                self._model,
                question,
                list(texts),
                settings.recall_rerank_api_base,
                timeout=settings.timeout,
                retries=settings.retries,
            )
            flight.answered(took)
        return scores


def reranker_of(wanted: str | Reranker, thinking: Thinking) -> Reranker | None:
    """Return who reranks; None where nobody does.

    Raises:
        InputError: it is neither a reranker nor the name of one.
    """
    if not isinstance(wanted, str):
        return wanted
    if wanted == "none":
        return None
    if wanted == "llm":
        return LLMReranker(thinking)
    if wanted.startswith(LITELLM) and len(wanted) > len(LITELLM):
        return LiteLLMReranker(thinking, wanted.removeprefix(LITELLM))
    raise InputError(f"rerank is {wanted!r}; it may be none, llm, litellm:<model>, or an object with `rerank`")


async def reranked(hits: Sequence[Hit], reranker: Reranker, question: str, *, top: int) -> list[Hit]:
    """Return hits with the first `top` in the reranker's order; all as they were, with the reason, where it fails."""
    first, rest = hits[:top], hits[top:]
    if len(first) < 2:
        return list(hits)
    try:
        scores = _checked(await reranker.rerank(question, [shown(hit.note) for hit in first]), len(first))
    except AmemError as error:
        log.warning("the candidates were not reranked (%s); they stay in their order", error)
        return [remarked(hit, f"not reranked: {error}") for hit in hits]
    places = sorted(range(len(first)), key=lambda place: (-scores[place], place))
    return [*in_order([first[place] for place in places], "rerank"), *rest]


def _checked(scores: Sequence[float], count: int) -> list[float]:
    found = [float(score) for score in scores]
    if len(found) != count:
        raise BadReply(f"{len(found)} scores came back for {count} texts")
    if not all(math.isfinite(score) for score in found):
        raise BadReply("a score is not a finite number")
    return found


def shown(note: Note) -> str:
    """Return a note as a reranker reads it: date, speaker and text, which is cut where it is long."""
    who = f" {note.speaker}" if note.speaker else ""
    text = note.content if len(note.content) <= MAX_CHARS else f"{note.content[:MAX_CHARS]}…"
    return f"{note.occurred_at:%Y-%m-%d}{who}: {text}"
