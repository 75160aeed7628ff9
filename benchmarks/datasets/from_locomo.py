"""LoCoMo's file in the common shape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .conversation import Conversation, Dataset, Question, Turn
from .locomo import CATEGORIES

if TYPE_CHECKING:
    from . import locomo

_ADVERSARIAL = 5


def dataset(data: locomo.Locomo, *, captions: bool = True) -> Dataset:
    """Return the whole file.

    Args:
        data: as read.
        captions: whether the captions of pictures are part of what was said.
    """
    return Dataset(
        name="synthetic-locomo" if data.synthetic else "locomo",
        format="locomo",
        conversations=tuple(conversation(one, captions=captions) for one in data.conversations),
        sha256=data.sha256,
        category_names={str(number): name for number, name in CATEGORIES.items()},
        warnings=data.warnings,
        restricted=not data.synthetic,
    )


def conversation(data: locomo.Conversation, *, captions: bool = True) -> Conversation:
    """Return one conversation; its questions are asked when all has been said, on the day of the last session."""
    turns = _turns(data, captions=captions)
    sessions = {turn.id: turn.session for turn in turns}
    return Conversation(
        id=data.id,
        speakers=data.speakers,
        turns=turns,
        questions=tuple(_question(data.id, asked, turns, sessions) for asked in data.questions) if turns else (),
    )


def turn_id(conversation: str, turn: str) -> str:
    """Return a turn's id in the whole file, as `amem import` gives it to the turn's note as its source."""
    return f"{conversation}/{turn}"


def session_of(turn: str) -> str:
    """Return what the ids of a session's turns have in common."""
    return turn.rpartition(":")[0]


def _turns(data: locomo.Conversation, *, captions: bool) -> tuple[Turn, ...]:
    said = [(session, turn) for session in data.sessions for turn in session.turns]
    return tuple(
        Turn(
            id=turn_id(data.id, turn.id),
            session=f"{data.id}/session_{session.number}",
            position=position,
            speaker=turn.speaker,
            text=turn.said if captions else turn.text,
            at=session.at,
            stated=session.stated,
        )
        for position, (session, turn) in enumerate(said)
    )


def _question(conversation: str, asked: locomo.Question, turns: tuple[Turn, ...], sessions: dict[str, str]) -> Question:
    evidence = tuple(turn_id(conversation, turn) for turn in asked.evidence)
    return Question(
        conversation=conversation,
        index=asked.index,
        question=asked.question,
        shown=asked.question,
        at=turns[-1].at,
        after=len(turns),
        category=str(asked.category),
        answerable=asked.category != _ADVERSARIAL,
        gold=asked.answer if asked.category != _ADVERSARIAL else None,
        trap=asked.adversarial_answer,
        evidence=evidence,
        evidence_sessions=tuple(dict.fromkeys(sessions[turn] for turn in evidence)),
    )
