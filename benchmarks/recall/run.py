"""A whole run: conversations become notes, questions are asked, and their results are summed up."""

from __future__ import annotations

import os
import platform
import sqlite3
from importlib.metadata import version
from time import perf_counter
from typing import TYPE_CHECKING

from amem import __version__
from amem.errors import InputError

from ..datasets import from_locomo  # noqa: TID252 - in a wheel, this package has another name
from ..datasets.from_locomo import session_of, turn_id  # noqa: TID252 - likewise
from .box import Box
from .indexing import indexed, own_memory
from .options import Options
from .report import About, Asked, Report, set_report

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from amem.rooms import Rooms
    from amem.settings import Settings

    from ..datasets.conversation import Conversation, Question  # noqa: TID252 - likewise
    from ..datasets.locomo import Locomo  # noqa: TID252 - likewise

    Progress = Callable[[int, int], None]


class Run:
    """What has been asked so far, and what is known about the run."""

    def __init__(self, data: Locomo, options: Options, progress: Progress | None, total: int) -> None:
        self._data = data
        self._options = options
        self._progress = progress
        self._total = total
        self._done = 0
        self._asked: list[Asked] = []
        self._left_out: dict[str, int] = {}
        self._indexes: dict[str, None] = {}
        self._started = perf_counter()

    def moved(self, by: int) -> None:
        """Say that more of the work is done."""
        self._done += by
        if self._progress is not None:
            self._progress(self._done, self._total)

    async def ask(self, box: Box, rooms: Rooms, conversation: Conversation, questions: Sequence[Question]) -> None:
        """Ask a box some of a conversation's questions; the others are counted as left out."""
        self._left_out[conversation.id] = len(conversation.questions) - len(questions)
        self._indexes[rooms.index.how(box.name)] = None
        for question in questions:
            self._asked.append(await box.ask(question, self._options))
            self.moved(1)

    def report(self, rooms: Rooms, notes: str, warnings: Sequence[str] = ()) -> Report:
        """Sum everything up."""
        options = self._options
        names = ("tuning", "reporting", "all") if options.set == "all" else (options.set,)
        sets = {}
        for name in names:
            inside = Options(set=name).takes
            left_out = sum(count for conversation, count in self._left_out.items() if inside(conversation))
            sets[name] = set_report([one for one in self._asked if inside(one.conversation)], left_out)
        about = About(
            data_sha256=self._data.sha256,
            notes=notes,
            set=options.set,
            now=options.now.isoformat() if options.now else "each conversation's last session",
            tokenizer=rooms.tokenizer.name,
            embedding=f"{rooms.embedder.name} ({rooms.embedder.fingerprint})",
            index="; ".join(self._indexes),
            candidates=options.candidates,
            ablated=options.ablate,
            weights=dict(options.weights()),
            versions=_versions(),
            machine=f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
            seconds=round(perf_counter() - self._started, 1),
            warnings=(*self._data.warnings, *warnings),
        )
        return Report(about=about, **sets)


async def measure_turns(
    data: Locomo, settings: Settings, options: Options, *, progress: Progress | None = None
) -> Report:
    """Measure recall over notes of single turns, stored without a language model, a box for each conversation.

    Args:
        data: the conversations and their questions.
        settings: of the user; the embedding and the tokenizer are theirs, the rest is the benchmark's own.
        options: how the run differs from the plain one.
        progress: called with the turns and questions done so far, and their whole number.

    Raises:
        InputError: the file has no conversation of the set, or the kept notes are others.
    """
    options.weights()  # an unknown feature is better found before the work than after it
    chosen = _chosen(data, options)
    run = Run(data, options, progress, sum(len(c.turns) + len(answerable(c)) for c in chosen))
    async with own_memory(settings, options) as rooms:
        for conversation in chosen:
            box = await indexed(rooms, conversation, options)
            run.moved(len(conversation.turns))
            await run.ask(box, rooms, conversation, answerable(conversation))
        return run.report(rooms, "raw turns")


async def measure_memory(
    data: Locomo, rooms: Rooms, name: str, options: Options, *, progress: Progress | None = None
) -> Report:
    """Measure recall over the notes of a box that exists, through the turns their sources name.

    Questions are asked whose evidence lies in sessions of which the box knows some turn. The box stays as it is.

    Args:
        data: the conversations and their questions.
        rooms: the open memory.
        name: the box.
        options: how the run differs from the plain one; `keep` means nothing here.
        progress: called with the questions done so far, and their whole number.

    Raises:
        InputError: no note's source is a turn of a conversation of the set.
    """
    options.weights()
    box = await Box.read(rooms, name)
    sessions = {session_of(turn) for turns in box.reader.turns.values() for turn in turns}
    known = [(c, found) for c in _chosen(data, options) if (found := _known(c, sessions))]
    if not known:
        raise InputError(
            f"no note of the box {name!r} has a source such as {turn_id('conv-26', 'D1:1')!r} of the set"
            f" {options.set!r}; `amem import --format locomo` makes such notes"
        )
    run = Run(data, options, progress, sum(len(questions) for _, questions in known))
    for conversation, questions in known:
        await run.ask(box, rooms, conversation, questions)
    note = "recall_at_k counts distinct source turns; compare such notes with others by tokens only"
    return run.report(rooms, f"{len(box.notes)} notes of the box {name}", [note])


def _chosen(data: Locomo, options: Options) -> list[Conversation]:
    chosen = [from_locomo.conversation(one) for one in data.conversations if options.takes(one.id)]
    if not chosen:
        there = ", ".join(conversation.id for conversation in data.conversations) or "none"
        raise InputError(f"the file has no conversation of the set {options.set!r}; it has {there}")
    return chosen


def answerable(conversation: Conversation) -> list[Question]:
    """Return the questions whose evidence is known."""
    return [question for question in conversation.questions if question.evidence]


def _known(conversation: Conversation, sessions: set[str]) -> list[Question]:
    """Return the questions whose evidence lies in some sessions."""
    return [
        question
        for question in answerable(conversation)
        if all(session_of(turn) in sessions for turn in question.evidence)
    ]


def _versions() -> dict[str, str]:
    others = {name: version(name) for name in ("numpy", "onnxruntime", "tokenizers", "chromadb")}
    return {"amem": __version__, "python": platform.python_version(), "sqlite": sqlite3.sqlite_version, **others}
