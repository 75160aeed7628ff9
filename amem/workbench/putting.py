"""Putting labelled cases to prompts, as the pipeline would ask about them.

A pair of turns is put to `link` and to `link_evolve`, an evolution to `evolve` and `link_evolve`, dates and facts to
`note`, a question to `answer`. Notes of a pair have no context, so that the verdict hangs on the prompt that is judged
alone. The memories behind a question are those that answer it and those that share most words with it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from amem.recall.packing import line
from amem.workbench.cases import Case
from amem.workbench.labelled import (
    DateCase,
    EvolutionCase,
    Half,
    KnownTurn,
    Labelled,
    LinkCase,
    NoteCase,
    QuestionCase,
    load,
    load_conversation,
)
from amem.workbench.shownotes import note_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from pydantic import JsonValue

    from amem.workbench.labelled import Spoken, Turn

MEMORIES = 12
"""Lines behind one question."""
_ROOM: dict[str, JsonValue] = {"max_tokens": 600}
_WORD = re.compile(r"\w{4,}")


@dataclass(frozen=True)
class Put:
    """A labelled case, put to one prompt."""

    label: Labelled
    case: Case


def put(half: Half, prompts: Collection[str], folder: Path | None = None) -> list[Put]:
    """Put every labelled case of one half to each of these prompts that can answer it.

    Raises:
        InputError: the labelled set is missing or malformed.
    """
    kinds = (LinkCase, EvolutionCase, DateCase, NoteCase, QuestionCase)
    labels = [label for kind in kinds for label in load(kind, half, folder)]
    spoken = load_conversation(folder) if "answer" in prompts else ()
    return [
        Put(label, Case.given(prompt, variables).model_copy(update={"params": _ROOM}))
        for label in labels
        for prompt, variables in _asked(label, spoken)
        if prompt in prompts
    ]


def _asked(label: Labelled, spoken: Sequence[Spoken]) -> Iterator[tuple[str, dict[str, JsonValue]]]:
    """Yield the prompts that a case can be put to, with their variables."""
    if isinstance(label, LinkCase):
        older, newer = _known(label.older), _known(label.newer)
        yield "link", {"neighbours": [{"number": 0, **older}], "note": newer}
        yield "link_evolve", _window(older, [newer])
    elif isinstance(label, EvolutionCase):
        older, new = _known(label.older), [_known(turn) for turn in label.newer]
        if len(new) == 1:
            yield "evolve", {"neighbours": [{"number": 0, **older}], "note": new[0]}
        yield "link_evolve", _window(older, new)
    elif isinstance(label, DateCase):
        yield "note", {"earlier": [], "turns": [{"number": 0, **_turn(label.turn)}]}
    elif isinstance(label, NoteCase):
        earlier: list[JsonValue] = [_turn(turn) for turn in label.earlier]
        yield "note", {"earlier": earlier, "turns": [{"number": 0, **_turn(label.turn)}]}
    elif isinstance(label, QuestionCase) and spoken:
        yield "answer", {"context": _context(label, spoken), "question": label.question}


def _window(older: dict[str, JsonValue], newer: Sequence[dict[str, JsonValue]]) -> dict[str, JsonValue]:
    notes: list[JsonValue] = [{"number": i, **note, "near": [0]} for i, note in enumerate(newer, 1)]
    return {"neighbours": [{"number": 0, **older}], "notes": notes}


def _turn(turn: Turn) -> dict[str, JsonValue]:
    return {"date": turn.date.isoformat(), "speaker": turn.speaker, "text": turn.text}


def _known(turn: Turn) -> dict[str, JsonValue]:
    if isinstance(turn, KnownTurn):
        about: dict[str, JsonValue] = {"keywords": [*turn.keywords], "tags": [*turn.tags]}
        return {**_turn(turn), "context": turn.context, **about}
    return {**_turn(turn), "context": "", "keywords": [], "tags": []}


def _context(label: QuestionCase, spoken: Sequence[Spoken]) -> str:
    """Return lines as recall packs them, in order of time."""
    asked = _words(label.question)
    like = sorted(spoken, key=lambda turn: (turn.id not in label.evidence, -len(asked & _words(turn.text)), turn.at))
    chosen = sorted(like[:MEMORIES], key=lambda turn: turn.at)
    notes = [note_of({"speaker": turn.speaker, "date": turn.at.isoformat(), "text": turn.text}) for turn in chosen]
    return "\n".join(line(number, note, None) for number, note in enumerate(notes, 1))


@cache
def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))
