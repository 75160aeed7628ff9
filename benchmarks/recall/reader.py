"""Reading a ranking as its reader would: which turns the notes stand for, and what their lines cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.recall.packing import line

from ..metrics.evidence import Line, Worth, worth  # noqa: TID252 - in a wheel, this package has another name
from .turns import turns_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.model import Note
    from amem.tokens import Tokenizer

    from ..datasets.conversation import Question  # noqa: TID252 - likewise


class Reader:
    """The notes of a box, as lines of a context."""

    def __init__(self, notes: Mapping[str, Note], evolved: Mapping[str, str], tokenizer: Tokenizer) -> None:
        self.turns = turns_of(notes)
        self._notes = notes
        self._evolved = evolved
        self._tokenizer = tokenizer
        self._lines: dict[tuple[int, str], Line] = {}

    def worth(self, ids: Sequence[str], question: Question) -> Worth:
        """Measure ranked notes, best first, by a question."""
        lines = (self._line(number, note_id) for number, note_id in enumerate(ids, start=1))
        return worth((self.turns[note_id] for note_id in ids), lines, question.evidence, question.gold)

    def _line(self, number: int, note_id: str) -> Line:
        key = number, note_id  # many rankings have a note at the same place
        if key not in self._lines:
            text = line(number, self._notes[note_id], self._evolved.get(note_id))
            self._lines[key] = Line(self.turns[note_id], text, self._tokenizer.count(text))
        return self._lines[key]
