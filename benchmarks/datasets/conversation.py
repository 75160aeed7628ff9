"""The one shape in which a system meets a data set: turns in their order, and questions, each with its moment.

LoCoMo, DialSim and LongMemEval are turned into it. What a system may see of a question is `question`, `shown` and
`at`; everything else is for those who score it.
"""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from amem.values import Frozen, Moment

from ..metrics.dialsim import Letter  # noqa: TID252 - in a wheel, this package has another name
from .checking import named

Format = Literal["locomo", "dialsim", "longmemeval"]


class Turn(Frozen):
    """One thing said."""

    id: str
    """Unique in the data set: `conv-26/D1:3`. It tells nothing of whether the turn is evidence."""
    session: str
    """Id of the session it is part of, unique in the data set."""
    position: int
    """Its place in the conversation, from 0."""
    speaker: str
    text: str
    """As a memory is given it: without outer white space, with the caption of a picture."""
    at: Moment
    """The session's date; no data set names a time zone, so UTC stands for it."""
    stated: str
    """That date in the data set's own words."""


class Question(Frozen):
    """One question, when it is asked, and what is known about its answer."""

    conversation: str
    index: int
    """Its place among all questions of the data set's conversation; (conversation, index) names it."""
    question: str
    """What a memory is searched for."""
    shown: str
    """What a reader is asked: the question, with its options where it has some."""
    at: Moment
    """When it is asked."""
    after: int
    """How many turns of the conversation have been said by then; no later one may be known."""
    category: str
    """`1` to `5` of LoCoMo, the bucket of DialSim, the question type of LongMemEval."""
    answerable: bool = True
    """False where the right answer is that this is not known."""
    gold: str | None
    """The right answer; for an unanswerable question the words the data set has for that, or None."""
    trap: str | None = None
    """The wrong answer that an adversarial question lays out."""
    options: tuple[str, ...] = ()
    """The texts of (A) to (E), where a choice is offered."""
    right: Letter | None = None
    """The letter of the right option."""
    evidence: tuple[str, ...] = ()
    """Ids of the turns that hold the answer, each once; empty where they are not known."""
    evidence_sessions: tuple[str, ...] = ()
    """Ids of the sessions that hold it, each once; known more often than the turns."""

    official_id: str | None = None
    """What the data set's own files call the question, where they do; results are handed in under it."""

    @property
    def key(self) -> str:
        """What names the question in the whole data set."""
        return f"{self.conversation}#{self.index}"


class Conversation(Frozen):
    """Everything said, and the questions about it, in the order in which they are asked."""

    id: str
    speakers: tuple[str, ...]
    agent: str | None = None
    """Whom of them the system under test plays, where it plays one."""
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]

    def history(self, question: Question) -> tuple[Turn, ...]:
        """Return what had been said when the question was asked."""
        return self.turns[: question.after]

    @cached_property
    def sessions(self) -> dict[str, tuple[Turn, ...]]:
        """The turns by session, in order."""
        found: dict[str, list[Turn]] = {}
        for turn in self.turns:
            found.setdefault(turn.session, []).append(turn)
        return {session: tuple(turns) for session, turns in found.items()}


class Dataset(Frozen):
    """Conversations from one source."""

    name: str
    """`locomo`, `dialsim`, `longmemeval`; with `synthetic-` before it where the texts were generated."""
    format: Format
    conversations: tuple[Conversation, ...]
    sha256: str
    """Of the data as read."""
    category_names: dict[str, str] = {}
    """What the categories are called, where their names alone do not say it."""
    warnings: tuple[str, ...] = ()
    """What a result made from it should carry along."""
    restricted: bool = True
    """Whether the texts are somebody's, so that results may carry ids and scores of them only."""

    def conversation(self, name: str) -> Conversation:
        """Return the conversation of that id.

        Raises:
            InputError: there is none.
        """
        return named(self.conversations, name)
