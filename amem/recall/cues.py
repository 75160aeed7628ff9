"""Cues: the handles by which a note can be remembered, read off the note itself.

A note that a model or the user gave keywords has their words as cues; any other has its salient words, which are
chosen where a graph is made, since salience depends on the notes around. Speaker, month and session are cues of every
note. Tags are no cues: they open on the way from one note to another.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from amem.recall.words import content_words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from amem.model import Note
    from amem.store.ledger import Ledger

    Numbers = NDArray[np.int64]

WORD, SPEAKER, MONTH, SESSION, TAG = "word", "speaker", "month", "session", "tag"
_VOWELS = frozenset("aeiouy")
_SHORT = 3


def stem(word: str) -> str:
    """Return a word without its commonest English endings, so that `running` and `runs` are one cue."""
    if len(word) <= _SHORT or not word.isascii():
        return word
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= _SHORT and _VOWELS & set(rest):
            word = rest[:-1] if rest[-1] == rest[-2] and rest[-1] not in "lsz" else rest
            break
    word = word.removesuffix("e")
    return f"{word[:-1]}i" if word.endswith("y") else word


class Handle(NamedTuple):
    """One cue or tag."""

    kind: str
    name: str

    def __str__(self) -> str:
        return f"the {self.kind} {self.name!r}"


class Held(NamedTuple):
    """The handles of one note, by number."""

    words: Numbers
    """Distinct, in the order they stand in the note."""
    given: bool
    """Whether the words are keywords, which all count, and not text, of which the salient ones do."""
    others: Numbers
    """Speaker, month, session and tags."""


NOTHING = Held(np.zeros(0, dtype=np.int64), given=False, others=np.zeros(0, dtype=np.int64))


class Vocabulary:
    """Numbers for the handles of one box. The numbers say nothing: they depend on who came first."""

    def __init__(self) -> None:
        self.handles: list[Handle] = []
        self._number: dict[Handle, int] = {}

    def number(self, handle: Handle) -> int:
        """Return a handle's number, giving it the next one where it has none."""
        if handle not in self._number:
            self._number[handle] = len(self.handles)
            self.handles.append(handle)
        return self._number[handle]

    def find(self, handle: Handle) -> int | None:
        """Return a handle's number, or None where no note has ever had it."""
        return self._number.get(handle)

    def numbers(self, handles: Sequence[Handle]) -> Numbers:
        """Return the distinct numbers of handles, in order."""
        return np.array(list(dict.fromkeys(map(self.number, handles))), dtype=np.int64)


def month_of(moment: datetime) -> str:
    """Return a moment's month as it stands in a handle."""
    return f"{moment.year:04}-{moment.month:02}"


def held(note: Note, vocabulary: Vocabulary) -> Held:
    """Read the handles off a note."""
    words = content_words(" ".join(note.keywords) or note.content, [note.speaker] if note.speaker else [])
    others = [Handle(MONTH, month_of(note.occurred_at))]
    others += [Handle(SPEAKER, note.speaker.casefold())] if note.speaker else []
    others += [Handle(SESSION, note.session_id)] if note.session_id is not None else []
    others += [Handle(TAG, tag.casefold()) for tag in note.tags]
    return Held(
        vocabulary.numbers([Handle(WORD, stem(word)) for word in words]),
        bool(note.keywords),
        vocabulary.numbers(others),
    )


class Cues:
    """The handles of every note of a box, brought up to date from the ledger when they are asked for."""

    def __init__(self, ledger: Ledger, box: str) -> None:
        self._ledger = ledger
        self._box = box
        self._lock = threading.Lock()
        self._state = (-1, -1)
        self._last_rid = -1
        self._held: dict[str, Held] = {}
        self.vocabulary = Vocabulary()

    def state(self) -> tuple[int, int]:
        """Return the state of the box that the handles are those of."""
        with self._lock:
            self._refresh()
            return self._state

    def of(self, note_ids: Sequence[str]) -> tuple[list[Held], Vocabulary]:
        """Return the handles of each note, none for one that is gone, and what their numbers stand for."""
        with self._lock:
            self._refresh()
            return [self._held.get(note_id, NOTHING) for note_id in note_ids], self.vocabulary

    def _refresh(self) -> None:
        """Read the notes that are new or changed; a note's fields never change without its text's revision."""
        state = self._ledger.box_state(self._box)
        if state == self._state:
            return
        revision, epoch = self._state
        if epoch != state[1]:  # something was forgotten, and its words with it
            self._held, self.vocabulary = {}, Vocabulary()
            self._last_rid, revision = -1, -1
        news = self._ledger.glances(self._box, after_rid=self._last_rid, after_revision=revision)
        for note in self._ledger.get([glance.id for glance in news], boxes=[self._box]).values():
            self._held[note.id] = held(note, self.vocabulary)
        self._last_rid = max([self._last_rid, *(glance.rid for glance in news)])
        self._state = state
