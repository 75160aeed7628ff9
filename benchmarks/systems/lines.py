"""Turns as the lines of a context: the same form, the same packing and the same tokens for every system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.model import Hit, Note
from amem.recall.packing import line, pack
from amem.render import long_date

from .protocol import Found

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.tokens import Tokenizer

    from ..datasets.conversation import Turn  # noqa: TID252 - in a wheel, another name

RANKED = 20
"""Turns of a ranking that are kept: as many as the largest k of the measures."""


def as_note(turn: Turn) -> Note:
    """Return a turn as a note that nothing is known about but who said it, and when."""
    return Note(
        id=turn.id,
        content=turn.text,
        speaker=turn.speaker,
        session_id=turn.session,
        position=turn.position,
        occurred_at=turn.at,
        created_at=turn.at,
    )


def as_text(turn: Turn) -> str:
    """Return what baselines search through: the date as people write it, who speaks, and what is said."""
    return f"{long_date(turn.at)} {turn.speaker}: {turn.text}"


def packed(turns: Sequence[Turn], budget: int, tokenizer: Tokenizer) -> Found:
    """Pack turns, best first, as amem's `recall` packs its notes: whole lines, read in order of time.

    Args:
        turns: best first.
        budget: of tokens.
        tokenizer: counts them.
    """
    hits = [Hit(note=as_note(turn), score=0.0) for turn in turns]
    context = pack(hits, {}, budget=budget, tokenizer=tokenizer)
    shown = tuple(citation.note_id for citation in context.citations)
    return Found(
        text=context.text, tokens=context.tokens, shown=shown, ranking=tuple(turn.id for turn in turns[:RANKED])
    )


def everything(turns: Sequence[Turn], tokenizer: Tokenizer) -> Found:
    """Return turns in the order given, every one of them."""
    text = "\n".join(line(number, as_note(turn), None) for number, turn in enumerate(turns, start=1))
    return Found(text=text, tokens=tokenizer.count(text), shown=tuple(turn.id for turn in turns))
