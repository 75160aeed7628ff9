from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import count


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.moment = datetime(2024, 5, 1, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.moment

    def advance(self, **delta: float) -> None:
        self.moment += timedelta(**delta)


def counting_ids():
    numbers = count(1)
    return lambda: f"00000000-0000-7000-8000-{next(numbers):012d}"


def fields(turns, **values):
    """A reply to the prompt `note`: the same fields for every turn."""
    given = {"keywords": ["kw"], "tags": ["tag"], "context": "A plain context.", **values}
    return {"notes": [{"turn": turn, **given} for turn in range(turns)]}


def builds(request):
    """Answer the prompt `note` from the turns it shows: first words as keywords, the text as context."""
    return {
        "notes": [
            {
                "turn": turn["number"],
                "keywords": turn["text"].split()[:3],
                "tags": ["told"],
                "context": f"About: {turn['text'][:200]}",
            }
            for turn in request.variables["turns"]
        ]
    }


NOTHING = {"links": [], "changes": []}
