"""What a data set holds, counted."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from amem.values import Frozen

from .conversation import Format

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .conversation import Conversation, Dataset, Question


class Counts(Frozen):
    """Of one conversation, or of all."""

    sessions: int
    turns: int
    words: int
    """Of the turns; English has about three of them to four tokens."""
    first: str | None
    """The day of the first session; None where nothing is said."""
    last: str | None
    questions: int
    unanswerable: int
    with_evidence: int
    """Questions of which some turn or session is known to hold the answer."""
    by_category: dict[str, int]


class Summary(Frozen):
    """A data set that could be read."""

    path: str
    name: str
    format: Format
    sha256: str
    restricted: bool
    warnings: tuple[str, ...]
    category_names: dict[str, str]
    all: Counts
    conversations: dict[str, Counts]


def summary(data: Dataset, path: str) -> Summary:
    """Count what a data set holds.

    Args:
        data: the data set.
        path: where it was read from.
    """
    return Summary(
        path=path,
        name=data.name,
        format=data.format,
        sha256=data.sha256,
        restricted=data.restricted,
        warnings=data.warnings,
        category_names=data.category_names,
        all=_counts(data.conversations),
        conversations={one.id: _counts([one]) for one in data.conversations},
    )


def _counts(conversations: Iterable[Conversation]) -> Counts:
    conversations = list(conversations)
    turns = [turn for one in conversations for turn in one.turns]
    questions = [question for one in conversations for question in one.questions]
    days = [turn.at.date().isoformat() for turn in turns]
    return Counts(
        sessions=len({turn.session for turn in turns}),
        turns=len(turns),
        words=sum(len(turn.text.split()) for turn in turns),
        first=min(days, default=None),
        last=max(days, default=None),
        questions=len(questions),
        unanswerable=sum(not question.answerable for question in questions),
        with_evidence=sum(_has_evidence(question) for question in questions),
        by_category=dict(sorted(Counter(question.category for question in questions).items())),
    )


def _has_evidence(question: Question) -> bool:
    return bool(question.evidence or question.evidence_sessions)
