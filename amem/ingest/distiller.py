"""Distilling: what a window of turns comes to, as notes, facts and episodes that can be understood without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.ingest.language import keeps_script
from amem.ingest.relative import meant_dates
from amem.ingest.shown import Numbered, earlier
from amem.model import Episode, Fact, Note, Skipped
from amem.recall.words import told_share
from amem.replies import BriefDistillReply, DistillReply
from amem.values import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from amem.llm.protocol import Request
    from amem.prompts import PromptSet

    AnyReply = DistillReply | BriefDistillReply

PROMPT = "distill"
REPLIES = (DistillReply, BriefDistillReply)
"""The kinds of reply that are read; what a template that names neither is answered with stands first."""
UNTOLD = "nothing in its turns says so"
OTHER_LANGUAGE = "it is not in the language of its turns"
NO_TURN = "it names no turn of the window"
NOTHING = "the model found nothing to remember in it"
_TOLD = 0.5
"""Share of the words of a fact's object, or of a note, that its turns must hold: a small model adds its own."""


class Memory(Frozen):
    """One memory that a model made of turns."""

    sources: tuple[str, ...] = ()
    """Ids of the turns that tell it."""
    text: str = ""
    keywords: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    about: Fact | Episode | None = None


class Distilled(Frozen):
    """What a reply comes to."""

    memories: tuple[Memory, ...]
    skipped: tuple[Skipped, ...]


def request(turns: Sequence[Note], before: Sequence[Note], prompts: PromptSet, *, max_tokens: int) -> Request:
    """Ask what `turns` come to; `before` is what was said just before, for understanding only."""
    variables = {"earlier": earlier(before), "turns": Numbered(turns).turns()}
    return prompts.render(PROMPT, variables, params={"max_tokens": max_tokens})


def reply_model(prompts: PromptSet) -> type[AnyReply]:
    """Return the model of the replies that the template asks for."""
    return prompts.reply(PROMPT, *REPLIES)


def parse(reply: AnyReply, turns: Sequence[Note]) -> Distilled:
    """Map a reply back to ids, and drop what no turn tells.

    A small model loses count within a window: what the turn it names does not tell, and one other does, is that one's.
    """
    numbered = Numbered(turns)
    memories: list[Memory] = []
    skipped: list[Skipped] = []
    for numbers, what, said, memory in _proposals(reply):
        tell = [note for number in dict.fromkeys(numbers) if (note := numbered.note(number)) is not None]
        why = _why_not(said, tell)
        if why == UNTOLD and (teller := _teller(said, turns)) is not None:
            tell, why = [teller], None
        if why is not None:
            skipped.append(Skipped(stage="distill", what=what, why=why))
            continue
        text = _dated(memory.text, tell) if memory.text else ""
        memories.append(memory.model_copy(update={"sources": tuple(note.id for note in tell), "text": text}))
    if not memories and not skipped:
        skipped.append(Skipped(stage="distill", what=f"a window of {len(turns)}", why=NOTHING))
    return Distilled(memories=tuple(memories), skipped=tuple(skipped))


def _proposals(reply: AnyReply) -> Iterator[tuple[Sequence[int], str, str, Memory]]:
    """Yield each proposal: the turns it names, what it is, the words that its turns must hold, and what it says."""
    for note in reply.notes:
        text = note.text.strip()
        yield (
            note.turns,
            f"the note {text!r}",
            text,
            Memory(text=text, keywords=tuple(note.keywords), tags=tuple(note.tags)),
        )
    for fact in reply.facts:
        about = Fact(subject=fact.subject, predicate=fact.predicate, object=fact.object, single=fact.single)
        yield fact.turns, f"the fact {about.text!r}", fact.object, Memory(about=about)
    for told in reply.episodes:
        episode = Episode(
            trigger=told.trigger, actions=tuple(told.actions), outcome=told.outcome, lesson=told.lesson.strip()
        )
        yield told.turns, f"the episode {told.trigger!r}", told.trigger, Memory(about=episode)


def _why_not(said: str, tell: Sequence[Note]) -> str | None:
    if not tell:
        return NO_TURN
    source = " ".join(f"{note.speaker or ''} {note.content}" for note in tell)
    if not keeps_script(source, said):
        return OTHER_LANGUAGE
    return UNTOLD if told_share(said, source) < _TOLD else None


def _teller(said: str, turns: Sequence[Note]) -> Note | None:
    """Return the one turn that tells something, or None where none does, or more than one."""
    told = [note for note in turns if _why_not(said, [note]) is None]
    return told[0] if len(told) == 1 else None


def _dated(text: str, tell: Sequence[Note]) -> str:
    """Return a text with the dates that its turns name relative to their own, unless it tells them itself.

    Of several turns only those count whose phrase the text has kept: it need not tell of all that they tell.
    """
    meant = [found for note in tell for found in meant_dates(note.content, note.occurred_at.date())]
    told = [found for found in dict.fromkeys(meant) if len(tell) == 1 or found.phrase.casefold() in text.casefold()]
    missing = [f"{phrase}: {date}" for phrase, date in told if date not in text]
    return f"{text} ({'; '.join(missing)})" if missing else text
