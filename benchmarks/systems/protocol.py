"""What a run asks of a memory, whoever wrote it: take turns in, and give a context for a question within a budget."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from amem.values import Frozen, Moment

if TYPE_CHECKING:
    from ..datasets.conversation import Conversation, Question, Turn  # noqa: TID252 - in a wheel, another name


class Query(Frozen):
    """All that a system may know of a question: not its answer, its evidence or its category."""

    key: str
    text: str
    at: Moment
    """When it is asked; `last week` counts from then."""

    @classmethod
    def of(cls, question: Question) -> Query:
        """Return what is shown of a question."""
        return cls(key=question.key, text=question.question, at=question.at)


class Found(Frozen):
    """What a system gives for a question."""

    text: str
    """What a reader is shown."""
    tokens: int
    """Of that text, by the run's tokenizer."""
    shown: tuple[str, ...] = ()
    """Ids of the turns that the text stands for."""
    ranking: tuple[str, ...] | None = None
    """Ids of the turns found, best first, each once, whether shown or not; None where a system does not rank."""


class State(Frozen):
    """What a memory holds after a conversation; what a system does not have is 0."""

    turns: int = 0
    notes: int = 0
    pending: int = 0
    """Notes that its model did not finish: they are found by their words, and nothing was made of them."""
    links: int = 0
    revisions: int = 0


class System(Protocol):
    """One memory under test. For each conversation the verbs are called in the order in which they stand here."""

    async def reset(self, conversation: Conversation) -> None:
        """Begin a conversation, with an empty memory; or go on with the one that a killed run has left."""
        ...

    async def add(self, turn: Turn) -> int:
        """Take one turn in; return how many turns were worked on by it, 0 where the work is put off.

        A turn that the memory has already changes nothing.
        """
        ...

    async def finish(self) -> int:
        """Let everything that was added be found; return how many turns were worked on by it.

        Raises:
            LLMError: the model cannot be had; another run goes on from here.
        """
        ...

    async def search(self, query: Query, budget: int) -> Found:
        """Return what the memory has for a question, in at most `budget` tokens. `add` may follow."""
        ...

    async def state(self) -> State:
        """Say what the memory holds."""
        ...

    def bytes(self) -> int | None:
        """Return what it keeps on disk; None where it keeps nothing there."""
        ...

    async def close(self) -> None:
        """End the conversation: let go of files, connections and processes."""
        ...
