"""Systems that search nothing: no memory, the whole conversation, its end, and the evidence itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .lines import everything, packed
from .protocol import Found, State

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.tokens import Tokenizer

    from ..datasets.conversation import Conversation, Turn  # noqa: TID252 - in a wheel, another name
    from .protocol import Query


class Turns:
    """What such systems share: they keep the turns as they are."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._turns: list[Turn] = []

    async def reset(self, conversation: Conversation) -> None:  # noqa: ARG002 - the protocol's
        """Begin with nothing."""
        self._turns = []

    async def add(self, turn: Turn) -> int:
        """Keep a turn."""
        self._turns.append(turn)
        return 0

    async def finish(self) -> int:
        """Do nothing: there is no work."""
        return 0

    async def state(self) -> State:
        """Say how many turns are kept."""
        return State(turns=len(self._turns))

    def bytes(self) -> int | None:
        """Return None: nothing is on disk."""
        return None

    async def close(self) -> None:
        """Let go of the turns."""
        self._turns = []


class Nothing(Turns):
    """No memory at all: what a reader knows, or guesses, by itself."""

    async def add(self, turn: Turn) -> int:  # noqa: ARG002 - the protocol's
        """Forget a turn."""
        return 0

    async def search(self, query: Query, budget: int) -> Found:  # noqa: ARG002 - the protocol's
        """Return nothing."""
        return Found(text="", tokens=0)


class Everything(Turns):
    """Full context: all that was said, in order, whatever the budget.

    Args:
        tokenizer: counts tokens.
        window: as many of the newest tokens as the reader can take; None is no limit.
    """

    def __init__(self, tokenizer: Tokenizer, window: int | None = None) -> None:
        super().__init__(tokenizer)
        self._window = window

    async def search(self, query: Query, budget: int) -> Found:  # noqa: ARG002 - the protocol's
        """Return everything, or the newest of it."""
        if self._window is None:
            return everything(self._turns, self._tokenizer)
        return newest(self._turns, self._window, self._tokenizer)


class Recent(Turns):
    """The end of the conversation.

    Args:
        tokenizer: counts tokens.
        k: how many turns at most; None takes what fits the budget.
    """

    def __init__(self, tokenizer: Tokenizer, k: int | None = None) -> None:
        super().__init__(tokenizer)
        self._k = k

    async def search(self, query: Query, budget: int) -> Found:  # noqa: ARG002 - the protocol's
        """Return the newest turns."""
        return newest(self._turns[-self._k :] if self._k else self._turns, budget, self._tokenizer)


class Oracle(Turns):
    """The turns that hold the answer, as the data set's authors marked them: what perfect search would give.

    Args:
        tokenizer: counts tokens.
        evidence: ids of turns, or of sessions, by the question's key.
    """

    def __init__(self, tokenizer: Tokenizer, evidence: Mapping[str, Sequence[str]]) -> None:
        super().__init__(tokenizer)
        self._evidence = evidence

    async def search(self, query: Query, budget: int) -> Found:
        """Return the evidence, first to last, as far as it fits."""
        wanted = frozenset(self._evidence.get(query.key, ()))
        return packed([t for t in self._turns if t.id in wanted or t.session in wanted], budget, self._tokenizer)


def newest(turns: Sequence[Turn], budget: int, tokenizer: Tokenizer) -> Found:
    """Return the newest turns that fit a budget, without a gap between them."""

    def fits(count: int) -> bool:
        return everything(turns[len(turns) - count :], tokenizer).tokens <= budget

    few, many = 0, 1
    while many <= len(turns) and fits(many):  # only about as much as the budget is read, however long the conversation
        few, many = many, 2 * many
    many = min(many, len(turns) + 1)
    while many - few > 1:  # so many fit, and so many do not
        middle = (few + many) // 2
        few, many = (middle, many) if fits(middle) else (few, middle)
    return everything(turns[len(turns) - few :], tokenizer)
