"""What crosses the boundary to a language model: one request, one reply, one method."""

from __future__ import annotations

from typing import Literal, Protocol, runtime_checkable

from pydantic import JsonValue

from amem.values import Frozen


class Message(Frozen):
    """One chat message."""

    role: Literal["system", "user", "assistant"]
    content: str


class PromptRef(Frozen):
    """Which template, in which wording, made a request."""

    name: str
    version: str
    hash: str

    @property
    def label(self) -> str:
        """`name@version+hash`, as stamped on everything the prompt made."""
        return f"{self.name}@{self.version}+{self.hash}"


class Request(Frozen):
    """Everything that decides what a model will be asked, and nothing about how it is reached."""

    prompt: PromptRef
    variables: dict[str, JsonValue]
    """What the template was rendered with; kept so that another wording can be tried on the same case."""
    messages: tuple[Message, ...]
    reply_schema: dict[str, JsonValue] | None = None
    """JSON schema of the wanted reply; None asks for plain text."""
    model: str | None = None
    """None means the client's default model."""
    params: dict[str, JsonValue] = {}
    """Sampling parameters such as temperature and max_tokens."""


class TokenUsage(Frozen):
    """Tokens as the provider counted them; None where it did not say."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class Reply(Frozen):
    """What the model said, and what it took."""

    text: str
    finish_reason: str = "stop"
    usage: TokenUsage = TokenUsage()
    seconds: float = 0.0
    cost: float | None = None
    """US dollars; None where the price is unknown (which is not the same as free)."""
    model: str = ""
    """The model that answered, as the provider names it."""
    attempts: int = 1
    """Requests it took, failed ones included."""


@runtime_checkable
class LLM(Protocol):
    """Anything that can answer a request: litellm, a recording, a script."""

    @property
    def model(self) -> str:
        """The default model's name, stamped on what it makes."""
        ...

    async def complete(self, request: Request) -> Reply:
        """Answer one request.

        Raises:
            LLMError: the call failed; its subclass says how.
        """
        ...
