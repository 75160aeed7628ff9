"""The live models: completions and embeddings of any provider litellm knows, over its async API."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from amem.errors import BadReply, EmbeddingError
from amem.llm import faults, formats
from amem.llm.formats import Format, Ladder
from amem.llm.limiter import Limiter
from amem.llm.metering import attempting, may_attempt
from amem.llm.protocol import Reply, TokenUsage
from amem.llm.transport import ONE_RETRIER, Effort, apart, failures, hang_up, load_litellm, retrying
from amem.tokens import encodable

if TYPE_CHECKING:
    from collections.abc import Callable

    from tenacity import RetryCallState

    from amem.llm.protocol import Request

    Pause = Callable[[RetryCallState], float]


@dataclass
class _Exchange:
    """One request under way, in the format it is asked in now."""

    request: Request
    form: Format
    effort: Effort


class LiteLLM:
    """Answers requests with any model litellm knows, hosted or behind an OpenAI-compatible address.

    `timeout` bounds one attempt and `deadline` one call with all its retries; waiting for a free slot of
    `concurrency` counts in neither. Both limits are this object's: share it, and they hold for the process.
    `wait` replaces the pause between attempts (a Retry-After still holds); tests pass `tenacity.wait_none()`.
    """

    def __init__(
        self,
        model: str,
        *,
        api_base: str | None = None,
        api_key: str | None = None,
        timeout: float = 60.0,
        deadline: float = 180.0,
        retries: int = 3,
        concurrency: int = 4,
        requests_per_minute: int | None = None,
        structured: Format | Literal["auto"] = "auto",
        wait: Pause | None = None,
    ) -> None:
        self._model = model
        self._api_base = api_base
        self._api_key = api_key
        self._timeout = apart(timeout, self)
        self._deadline = deadline
        self._retries = retries
        self._structured = structured
        self._pause = wait
        self._limiter = Limiter(concurrency, requests_per_minute)
        self._ladder = Ladder()
        self._library: Any = None

    @property
    def model(self) -> str:
        """The default model's name, as litellm spells it."""
        return self._model

    async def complete(self, request: Request) -> Reply:
        """Answer one request; a refusal is a reply whose `finish_reason` is `refusal` or `content_filter`.

        Raises:
            ModelUnavailable: it kept failing until the retries or the deadline were used up.
            ModelRejected: the provider refuses the request itself; only the reply's format is renegotiated.
            ModelRefused: the provider's content policy stopped the request.
        """
        library = await self._loaded()
        model = request.model or self._model
        async with self._limiter.slot():
            await self._limiter.turn()
            exchange = _Exchange(request, self._form(library, model), Effort(model, self._deadline))
            while True:
                try:
                    raw = await self._persist(library, exchange)
                except failures(library) as error:
                    if not self._renegotiate(exchange, error):
                        raise exchange.effort.explain(error, self._api_key) from error
                else:
                    return _reply(raw, exchange.effort)

    async def aclose(self) -> None:
        """Close the connections opened in this event loop; a later call opens new ones."""
        if self._library is not None:
            await hang_up(self._library, self._timeout)

    async def _loaded(self) -> Any:
        if self._library is None:
            self._library = await asyncio.to_thread(load_litellm)
        return self._library

    def _form(self, library: Any, model: str) -> Format:
        known = self._ladder.step(model)
        if known is not None:
            return known
        if self._structured != "auto":
            form = self._structured
        elif self._api_base is not None or library.supports_response_schema(model=model):
            form = "json_schema"
        else:
            form = "json_object"
        self._ladder.put(model, form)
        return form

    async def _persist(self, library: Any, exchange: _Exchange) -> Any:
        """Send one request until it is answered, its retries are used up, or the deadline is near."""
        persistence = retrying(self._retries, exchange.effort.left, self._pause)
        return await persistence(self._attempt, library, exchange)

    async def _attempt(self, library: Any, exchange: _Exchange) -> Any:
        effort = exchange.effort
        # litellm's own timeout bounds each read; a server that drips a byte a second never reaches it.
        async with asyncio.timeout(min(self._timeout, effort.left)):
            if effort.attempts:
                await self._limiter.turn()
            effort.attempts += 1
            attempting()
            return await library.acompletion(**self._arguments(exchange))

    def _arguments(self, exchange: _Exchange) -> dict[str, Any]:
        form = formats.response_format(exchange.request, exchange.form)
        return {
            **exchange.request.params,
            **({} if form is None else {"response_format": form}),
            "model": exchange.effort.model,
            "messages": formats.messages(exchange.request, exchange.form),
            "api_base": self._api_base,
            "api_key": self._api_key,
            "timeout": self._timeout,
            "drop_params": True,
            **ONE_RETRIER,
        }

    def _renegotiate(self, exchange: _Exchange, error: BaseException) -> bool:
        """Move one step down the ladder where the provider refused the format; False otherwise."""
        asked = exchange.request.reply_schema is not None and faults.status_of(error) in {400, 422}
        if not asked or not may_attempt() or not formats.concerns_format(str(error)):
            return False
        model = exchange.effort.model
        if not self._ladder.down(model, exchange.form):
            return False
        exchange.form = self._ladder.step(model) or exchange.form
        return True


async def embed_texts(
    model: str,
    texts: list[str],
    api_base: str | None = None,
    api_key: str | None = None,
    timeout: float = 60.0,  # noqa: ASYNC109 - of each attempt, where the caller's would end the retries too
    *,
    retries: int = 3,
    wait: Pause | None = None,
) -> list[list[float]]:
    """Embed texts with any embedding model litellm knows: one vector each, in their order.

    Transport faults are retried within three times the timeout, and no connection is left open.

    Raises:
        EmbeddingError: the provider cannot be reached, refuses, or answers something else.
    """
    library = await asyncio.to_thread(load_litellm)
    own, effort = apart(timeout, texts), Effort(model, 3 * timeout)
    where = {"api_base": api_base, "api_key": api_key, "timeout": own, "encoding_format": "float"}

    async def attempt() -> Any:
        effort.attempts += 1
        async with asyncio.timeout(min(own, effort.left)):
            return await library.aembedding(model=model, input=texts, **where, **ONE_RETRIER)

    try:
        raw: Any = await retrying(retries, effort.left, wait)(attempt)
    except failures(library) as error:
        raise EmbeddingError(str(effort.explain(error, api_key))) from error
    finally:
        await hang_up(library, own)
    try:
        return _vectors(raw.data)
    except (TypeError, ValueError, KeyError) as error:
        raise EmbeddingError(
            f"{model} answered {len(texts)} texts with something that is no list of vectors ({error})."
            " Nothing was embedded; check the model's name and server."
        ) from error


def _vectors(data: Any) -> list[list[float]]:
    """Read what should be one vector a text, numbered from 0; anything may stand there."""
    placed = sorted((int(item["index"]), item["embedding"]) for item in data)
    if [place for place, _ in placed] != list(range(len(placed))):
        raise ValueError(f"they are numbered {[place for place, _ in placed][:8]}")
    if any(isinstance(vector, (str, bytes)) for _, vector in placed):
        raise ValueError("a vector came as text")
    return [[float("nan" if number is None else number) for number in vector] for _, vector in placed]


async def rerank_texts(
    model: str,
    question: str,
    texts: list[str],
    api_base: str | None = None,
    api_key: str | None = None,
    *,
    timeout: float = 60.0,  # noqa: ASYNC109 - of each attempt, as above
    retries: int = 3,
    wait: Pause | None = None,
) -> tuple[list[float], Reply]:
    """Score texts by a question with any rerank model litellm knows; return the scores, in order, and what it took.

    A text the model says nothing of scores 0. Transport faults are retried within three times the timeout.

    Raises:
        LLMError: the provider cannot be reached, refuses, or answers something else.
    """
    library = await asyncio.to_thread(load_litellm)
    own, effort = apart(timeout, texts), Effort(model, 3 * timeout)
    where = {"api_base": api_base, "api_key": api_key, "timeout": own}

    async def attempt() -> Any:
        effort.attempts += 1
        async with asyncio.timeout(min(own, effort.left)):
            return await library.arerank(model=model, query=question, documents=texts, **where, **ONE_RETRIER)

    try:
        raw: Any = await retrying(retries, effort.left, wait)(attempt)
    except failures(library) as error:
        raise effort.explain(error, api_key) from error
    finally:
        await hang_up(library, own)
    try:
        found = {int(item["index"]): float(item["relevance_score"]) for item in raw.results or ()}
    except (TypeError, ValueError, KeyError) as error:
        raise BadReply(f"{model} answered with something that is no list of scores ({error})") from error
    cost = getattr(raw, "_hidden_params", {}).get("response_cost")
    took = Reply(text="", seconds=effort.seconds, cost=cost, model=model, attempts=effort.attempts)
    return [found.get(index, 0.0) for index in range(len(texts))], took


def _reply(raw: Any, effort: Effort) -> Reply:
    choice = raw.choices[0] if raw.choices else None
    message = getattr(choice, "message", None)
    refused = getattr(message, "refusal", None)
    text = str(refused or getattr(message, "content", None) or "")
    return Reply(
        text=encodable(text),
        finish_reason="refusal" if refused else str(getattr(choice, "finish_reason", None) or "stop"),
        usage=_usage(getattr(raw, "usage", None)),
        seconds=effort.seconds,
        cost=getattr(raw, "_hidden_params", {}).get("response_cost"),
        model=str(raw.model or effort.model),
        attempts=effort.attempts,
    )


def _usage(usage: Any) -> TokenUsage:
    """Read the counts; litellm fills in zeros where the provider gave none, and a budget must not shrink."""
    prompt, completion = getattr(usage, "prompt_tokens", None) or 0, getattr(usage, "completion_tokens", None) or 0
    if min(prompt, completion) < 0 or not prompt + completion:
        return TokenUsage()
    return TokenUsage(prompt_tokens=prompt, completion_tokens=completion)
