"""Evidence recall of the notes that a wording builds: does search find the turns that answer a question?

A conversation is put to `note` in the windows of the pipeline. What is built of it goes into a memory of its own, which
is asked the questions by the search that everybody uses.
"""

from __future__ import annotations

from itertools import groupby
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from amem.ingest import builder
from amem.ingest.plan import build_fields
from amem.ingest.shown import Numbered, earlier
from amem.model import Usage
from amem.settings import Settings
from amem.values import Frozen
from amem.workbench.cases import Case
from amem.workbench.scoring import Estimate, evidence_recall, mean
from amem.workbench.shownotes import note_of, notes_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pydantic import JsonValue

    from amem.embedding import Embedder
    from amem.model import Note
    from amem.workbench.labelled import QuestionCase, Spoken
    from amem.workbench.trials import Trial

DEPTHS = (5, 10)
"""How many notes of a search are looked at."""


class Remembered(Frozen):
    """Evidence recall at one depth, in both wordings and without any model's help."""

    depth: int
    a: Estimate
    b: Estimate
    plain: Estimate
    """Of the same turns as raw notes."""


class Evidence(Frozen):
    """What the notes of a conversation are worth to a search, in both wordings."""

    turns: int
    built_a: int
    """Turns that the first wording's replies had an entry for."""
    built_b: int
    missing_a: int
    """Windows without a reply."""
    missing_b: int
    scores: tuple[Remembered, ...]
    a: Usage
    """What building took."""
    b: Usage


class Window(Frozen):
    """Turns that one call builds, and the case that asks for them."""

    turns: tuple[str, ...]
    case: Case


def windows(spoken: Sequence[Spoken], settings: Settings) -> list[Window]:
    """Put a conversation to `note` as the pipeline would: windows within a session, after the turns before them."""
    from amem.ingest.pipeline import EARLIER_TURNS

    found: list[Window] = []
    for _, session in groupby(spoken, key=lambda turn: turn.session):
        turns = list(session)
        for start in range(0, len(turns), settings.window):
            chosen, before = turns[start : start + settings.window], turns[max(0, start - EARLIER_TURNS) : start]
            variables: dict[str, JsonValue] = {
                "earlier": earlier(_notes(before)),
                "turns": Numbered(_notes(chosen)).turns(),
            }
            case = Case.given(builder.PROMPT, variables).model_copy(update={"params": {"max_tokens": _room(chosen)}})
            found.append(Window(turns=tuple(turn.id for turn in chosen), case=case))
    return found


async def remembered(
    spoken: Sequence[Spoken],
    questions: Sequence[QuestionCase],
    asked: Sequence[Window],
    a: Sequence[Trial],
    b: Sequence[Trial],
    *,
    embedder: Embedder | None = None,
) -> Evidence:
    """Measure what both wordings' notes are worth; `a` and `b` are the trials of the windows `asked`."""
    fields = [_built(asked, trials) for trials in (a, b)]
    found = [await _asked_of(spoken, questions, known, embedder) for known in (*fields, {})]
    return Evidence(
        turns=len(spoken),
        built_a=len(fields[0]),
        built_b=len(fields[1]),
        missing_a=sum(trial.missing for trial in a),
        missing_b=sum(trial.missing for trial in b),
        scores=tuple(
            Remembered(depth=depth, a=one, b=two, plain=plain)
            for depth, one, two, plain in zip(DEPTHS, *found, strict=True)
        ),
        a=sum((trial.usage for trial in a), Usage()),
        b=sum((trial.usage for trial in b), Usage()),
    )


def _notes(turns: Sequence[Spoken]) -> list[Note]:
    return [note_of({"speaker": turn.speaker, "date": turn.at.isoformat(), "text": turn.text}) for turn in turns]


def _room(turns: Sequence[Spoken]) -> int:
    return 160 + 140 * len(turns)


def _built(asked: Sequence[Window], trials: Sequence[Trial]) -> dict[str, dict[str, Any]]:
    """Return the fields of each turn that was built, by its id, as the pipeline would store them."""
    known: dict[str, dict[str, Any]] = {}
    for window, trial in zip(asked, trials, strict=True):
        turns = notes_of(window.case.variables, "turns")
        reply = trial.reply()
        if turns is None or not isinstance(reply, builder.REPLIES):
            continue
        for number, built in builder.parse(reply, turns.notes).items():
            note = turns.notes[int(number)]
            known[window.turns[int(number)]] = build_fields(note, built, Settings())
    return known


async def _asked_of(
    spoken: Sequence[Spoken],
    questions: Sequence[QuestionCase],
    known: dict[str, dict[str, Any]],
    embedder: Embedder | None,
) -> list[Estimate]:
    """Return the evidence recall at each depth of a memory that holds the turns with these fields."""
    from amem import AsyncMemory

    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        async with AsyncMemory.open(folder, embedder=embedder, strategy="raw", max_collections=0) as memory:
            await memory.add_many([_item(turn, known.get(turn.id, {})) for turn in spoken])
            ranked = [
                [hit.note.sources[0] for hit in await memory.search(case.question, k=max(DEPTHS), now=spoken[-1].at)]
                for case in questions
            ]
    return [
        mean(
            [
                recall
                for case, ids in zip(questions, ranked, strict=True)
                if (recall := evidence_recall(case.evidence, ids[:depth])) is not None
            ]
        )
        for depth in DEPTHS
    ]


def _item(turn: Spoken, fields: dict[str, Any]) -> dict[str, Any]:
    return {
        "content": turn.text,
        "speaker": turn.speaker,
        "occurred_at": turn.at,
        "session_id": turn.session,
        "source": turn.id,
        **fields,
    }
