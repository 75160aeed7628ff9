"""The part of a data set that a run is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.errors import InputError

if TYPE_CHECKING:
    from ..datasets.conversation import Conversation, Dataset, Question  # noqa: TID252 - in a wheel, another name
    from .config import Data


def selected(data: Dataset, wanted: Data) -> Dataset:
    """Return the conversations, sessions and questions that a configuration names.

    Raises:
        InputError: it names what is not there, or nothing is left to be asked.
    """
    names = wanted.conversations or tuple(conversation.id for conversation in data.conversations)
    chosen = [_cut(data.conversation(name), wanted) for name in names]
    categories = {question.category for conversation in data.conversations for question in conversation.questions}
    unknown = sorted(set(wanted.categories) - categories)
    if unknown:
        raise InputError(f"there is no category {unknown[0]!r}; there are {', '.join(sorted(categories))}")
    asked = tuple(conversation for conversation in chosen if conversation.questions)
    if not asked:
        raise InputError("no question is left to be asked: see [data] in the configuration")
    return data.model_copy(update={"conversations": asked})


def _cut(conversation: Conversation, wanted: Data) -> Conversation:
    sessions = list(conversation.sessions)[: wanted.sessions]
    kept = frozenset(sessions)
    turns = tuple(turn for turn in conversation.turns if turn.session in kept)
    known = frozenset(turn.id for turn in turns)
    questions = [question for question in conversation.questions if _is_asked(question, wanted, kept, known)]
    if wanted.sessions is not None and turns:
        last = turns[-1].at
        questions = [
            question.model_copy(update={"after": min(question.after, len(turns)), "at": min(question.at, last)})
            for question in questions
        ]
    return conversation.model_copy(update={"turns": turns, "questions": tuple(questions[: wanted.limit])})


def _is_asked(question: Question, wanted: Data, sessions: frozenset[str], turns: frozenset[str]) -> bool:
    if wanted.categories and question.category not in wanted.categories:
        return False
    if wanted.questions == "all":
        return True
    if question.evidence:
        return turns.issuperset(question.evidence)
    return bool(question.evidence_sessions) and sessions.issuperset(question.evidence_sessions)
