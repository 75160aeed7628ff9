"""Which notes may become one: those that repeat a text, and those that are near each other in words, cues and time."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from amem.model import Note
from amem.recall.words import content_words
from amem.values import Frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from amem.settings import Settings

_LONGEST = 2000
"""Characters; a longer text is a document, and no summary of it and others would keep what it says."""
_SAME_CUES = 0.5
"""Of the cues of the note that has fewer, the share that the other must have too."""
_ENDINGS = " .!\u2026\u3002\uff01"
"""A question mark is not among them: it makes another statement."""


class Group(Frozen):
    """Notes that may become one, in order of time."""

    notes: tuple[Note, ...]
    repeats: bool
    """All say the same: the first one stands for all, and no model is needed."""

    @property
    def ids(self) -> tuple[str, ...]:
        """Their ids."""
        return tuple(note.id for note in self.notes)


def saying(note: Note) -> str:
    """Return what a note says, in case, spaces and closing marks apart; nothing else may differ between repeats."""
    folded = " ".join(note.content.casefold().split())
    return folded.rstrip(_ENDINGS) or folded


def cues(note: Note) -> frozenset[str]:
    """Return what a note is about: what it is known for, or else the words that carry meaning."""
    known = (*note.keywords, *note.tags)
    return frozenset(word.casefold() for word in known) or frozenset(content_words(note.content))


def repeats(notes: Iterable[Note], settings: Settings) -> list[Group]:
    """Return the notes that say the same within the span, said by the same one; each in one group at most."""
    found: list[Group] = []
    for alike in _buckets(notes, _voice, saying):
        for run in _spans(alike, settings):
            found += [Group(notes=tuple(run), repeats=True)] if len(run) > 1 else []
    return found


def near(notes: Iterable[Note], vectors: Mapping[str, NDArray[np.float32]], settings: Settings) -> list[Group]:
    """Return groups of notes that are near each other's first; each note is in one group at most."""
    short = (note for note in notes if note.id in vectors and len(note.content) <= _LONGEST)
    return [
        Group(notes=tuple(group), repeats=False)
        for voice in _buckets(short, _voice)
        for group in _clusters(voice, np.stack([vectors[note.id] for note in voice]), settings)
    ]


def _voice(note: Note) -> str:
    """Return who stands behind a note: a summary must be able to say it of all its sources."""
    return repr((note.speaker, note.agent_id, note.trust))


def _buckets(notes: Iterable[Note], *keys: Callable[[Note], str]) -> Iterator[list[Note]]:
    """Split notes by some keys; each part in order of time."""

    def key(note: Note) -> tuple[str, ...]:
        return tuple(one(note) for one in keys)

    ordered = sorted(notes, key=lambda note: (key(note), note.occurred_at, note.id))
    for _, some in groupby(ordered, key=key):
        yield list(some)


def _spans(notes: Sequence[Note], settings: Settings) -> Iterator[list[Note]]:
    """Split notes, in order of time, where one lies too far from the first of its part."""
    part: list[Note] = []
    for note in notes:
        if part and not _in_span(part[0], note, settings):
            yield part
            part = []
        part.append(note)
    yield part


def _in_span(first: Note, other: Note, settings: Settings) -> bool:
    return (other.occurred_at - first.occurred_at).total_seconds() <= settings.upkeep_span_days * 86_400


def _clusters(notes: Sequence[Note], matrix: NDArray[np.float32], settings: Settings) -> Iterator[list[Note]]:
    taken: set[int] = set()
    about = [cues(note) for note in notes]
    end = 0
    for row, first in enumerate(notes):
        while end < len(notes) and _in_span(first, notes[end], settings):
            end += 1
        if row in taken:
            continue
        likeness = matrix[row + 1 : end] @ matrix[row]
        like = (row + 1 + int(at) for at in np.flatnonzero(likeness >= settings.upkeep_likeness))
        mates = [other for other in like if other not in taken and _same_cues(about[row], about[other])]
        mates = mates[: settings.upkeep_together - 1]
        if mates:
            taken.update(mates)
            yield [first, *(notes[other] for other in mates)]


def _same_cues(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= max(1.0, _SAME_CUES * min(len(one), len(other)))
