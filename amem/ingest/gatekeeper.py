"""The gate's second half: of the turns that rules leave undecided, a model says what they tell; code decides by that.

One small call for a window, and none where rules decide for each of its turns. What is stored of the reply is a
sentence of amem's own: no word of a turn stands in it.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from amem.errors import LLMError
from amem.ingest.gate import why_keep
from amem.ingest.shown import Numbered, earlier
from amem.llm.faults import is_about_its_texts
from amem.replies import GateReply

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from pydantic import JsonValue

    from amem.ingest.draft import Draft
    from amem.llm.protocol import Request
    from amem.model import Note
    from amem.prompts import PromptSet
    from amem.replies import Tells

log = logging.getLogger("amem.ingest")

PROMPT = "gate"
WORTH: dict[Tells, str] = {
    "event": "an event",
    "plan": "a plan",
    "fact": "a fact",
    "preference": "a preference",
    "feeling": "a feeling",
    "advice": "advice",
}
NOT_WORTH: dict[Tells, str] = {
    "question": "the model finds that it only asks",
    "repeat": "the model finds that it says again what was said",
    "small talk": "the model takes it for small talk",
}
UNASKED = "the model does not say what it tells"
UNANSWERED = "the model gave no usable answer, so that it is kept"
_LONGEST = 20
"""Tokens of the reply for one turn."""
_FRAME = 60


def request(
    turns: Sequence[Note], asked: Collection[str], before: Sequence[Note], prompts: PromptSet, *, max_tokens: int
) -> Request:
    """Ask what some turns of a window tell; the others, and those `before`, are shown for understanding only."""
    shown: list[JsonValue] = []
    for note, turn in zip(turns, Numbered(turns).turns(), strict=True):
        assert isinstance(turn, dict)
        shown.append(turn if note.id in asked else {**turn, "number": None})
    return prompts.render(PROMPT, {"earlier": earlier(before), "turns": shown}, params={"max_tokens": max_tokens})


def parse(reply: GateReply, turns: Sequence[Note], asked: Collection[str]) -> dict[str, Tells]:
    """Return what each turn that was asked about tells; of two entries, the first counts."""
    numbered = Numbered(turns)
    told: dict[str, Tells] = {}
    for entry in reply.turns:
        note = numbered.note(entry.turn)
        if note is not None and note.id in asked:
            told.setdefault(note.id, entry.tells)
    return told


async def sift(draft: Draft, turns: Sequence[Note], before: Sequence[Note]) -> list[Note]:
    """Return the turns of a window that are worth building; the draft passes the others over, and says why of each.

    A model that gives no usable answer keeps nobody out.

    Raises:
        LLMError: the model cannot be had; the builder would meet the same.
    """
    undecided: dict[str, Note] = {}
    for at, note in enumerate(turns):
        why = why_keep(note, [*before, *turns[:at]])
        if why is None:
            undecided[note.id] = note
        else:
            draft.keep(note, why)
    if undecided and PROMPT in draft.rooms.prompts.names():
        await _ask(draft, turns, undecided, before)
    return [note for note in turns if not draft.passes(note)]


async def _ask(draft: Draft, turns: Sequence[Note], undecided: dict[str, Note], before: Sequence[Note]) -> None:
    rooms = draft.rooms
    cap = min(rooms.settings.max_tokens, _FRAME + _LONGEST * len(turns))
    asking = request(turns, undecided, before, rooms.prompts, max_tokens=cap)
    try:
        told = parse(await draft.ask(asking, "gate", GateReply), turns, undecided)
    except LLMError as error:
        if not is_about_its_texts(error):
            raise
        log.info("the gate got no usable reply (%s); %d turns are kept", error, len(undecided))
        for note in undecided.values():
            draft.keep(note, UNANSWERED)
        return
    for note_id, note in undecided.items():
        what = told.get(note_id)
        if what in NOT_WORTH:
            draft.pass_over(note, NOT_WORTH[what])
        else:
            draft.keep(note, UNASKED if what is None else f"the model finds that it tells {WORTH[what]}")
