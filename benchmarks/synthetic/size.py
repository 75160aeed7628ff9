"""How long generated conversations are: in context windows, so that it is clear what fits into one."""

from __future__ import annotations

from amem.errors import InputError
from amem.values import Frozen

WINDOW_TOKENS = 32_000
WINDOW_WORDS = 24_000
"""About as many as fit a context window of that size, in English."""
LARGEST = 1_000


class Shape(Frozen):
    """What is generated."""

    size: float = 1.0
    """The length of each conversation, in context windows of WINDOW_TOKENS."""
    conversations: int
    questions: int | None = None
    """In each conversation."""
    seed: int = 0

    def checked(self) -> Shape:
        """Return this shape.

        Raises:
            InputError: a number is out of range.
        """
        if not 0 < self.size <= LARGEST:
            raise InputError(f"the size is {self.size}; it must be over 0 and at most {LARGEST}")
        if self.conversations < 1 or (self.questions is not None and self.questions < 1):
            raise InputError("at least one conversation and one question are needed")
        return self

    def about(self, what: str, number: int) -> str:
        """Return what a generated file says of itself."""
        return (
            f"synthetic: generated in the format of {what}, no part of it is {what}'s data;"
            f" seed {self.seed}, size {self.size:g}, conversation {number}"
        )
