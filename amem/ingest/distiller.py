"""Distilling: what a window of turns comes to, as notes, facts and episodes that can be understood without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from amem.ingest.language import keeps_script
from amem.ingest.relative import meant_dates
from amem.ingest.shown import Numbered, earlier
from amem.model import Episode, Fact, Note, Skipped
from amem.recall.words import told_share
from amem.replies import AnchoredDistillReply, AnchoredMemory, DistillReply
from amem.values import Frozen

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from amem.llm.protocol import Request
    from amem.prompts import PromptSet
    from amem.replies import DistilledEpisode, DistilledFact, DistilledNote

    AnyReply = DistillReply | AnchoredDistillReply
    Part = DistilledNote | AnchoredMemory | DistilledFact | DistilledEpisode

PROMPT = "distill"
REPLIES = (DistillReply, AnchoredDistillReply)
"""The kinds of reply that are read; what a template that names neither is answered with stands first."""
UNTOLD = "nothing in its turns says so"
OTHER_LANGUAGE = "it is not in the language of its turns"
NO_TURN = "it names no turn of the window"
NOTHING = "the model found nothing to remember in it"
_TOLD = 0.5
"""Share of the words of a fact's object, or of a note, that its turns must hold: a small model adds its own."""
_ANSWERED = 0.6
_OWN = 0.25
"""A note that says what its turn answers has words of the turn before: these shares of its words are in both together,
and in the turn itself."""
_FEW = 2
"""Turns that are cited as they are named: "yes" says nothing in words, and stands beside its question."""


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
    for told in _proposals(reply, numbered):
        tell, why = _tellers(told, turns)
        if why is not None:
            skipped.append(Skipped(stage="distill", what=told.what, why=why))
            continue
        text = _dated(told.memory.text, tell) if told.memory.text else ""
        memories.append(told.memory.model_copy(update={"sources": tuple(note.id for note in tell), "text": text}))
    if not memories and not skipped:
        skipped.append(Skipped(stage="distill", what=f"a window of {len(turns)}", why=NOTHING))
    return Distilled(memories=tuple(memories), skipped=tuple(skipped))


class _Proposal(NamedTuple):
    """What one part of a reply comes to."""

    turns: tuple[Note, ...]
    what: str
    said: tuple[str, ...]
    """Words that its turns must hold, of each text by itself."""
    memory: Memory


def _proposals(reply: AnyReply, numbered: Numbered) -> Iterator[_Proposal]:
    """Yield each part; what small models are asked for must be told whole: they take predicates from an example."""
    whole = isinstance(reply, AnchoredDistillReply)
    for note in reply.notes:
        text = note.text.strip()
        if text:
            memory = Memory(text=text, keywords=tuple(note.keywords), tags=tuple(note.tags))
            yield _Proposal(_turns(note, numbered), f"the note {text!r}", (text,), memory)
    for fact in reply.facts:
        about = Fact(subject=fact.subject, predicate=fact.predicate, object=fact.object, single=fact.single)
        said = (fact.object, fact.predicate) if whole else (fact.object,)
        yield _Proposal(_turns(fact, numbered), f"the fact {about.text!r}", said, Memory(about=about))
    for told in reply.episodes:
        episode = Episode(
            trigger=told.trigger, actions=tuple(told.actions), outcome=told.outcome, lesson=told.lesson.strip()
        )
        said = (told.trigger, " ".join(told.actions)) if whole else (told.trigger,)
        yield _Proposal(_turns(told, numbered), f"the episode {told.trigger!r}", said, Memory(about=episode))


def _turns(part: Part, numbered: Numbered) -> tuple[Note, ...]:
    """Return the turns that a part of a reply is about; none where it made their numbers up."""
    if isinstance(part, AnchoredMemory):
        found = [numbered.anchored(part.turn, part.words)]
    else:
        found = [numbered.note(number) for number in dict.fromkeys(part.turns)]
    return tuple(note for note in found if note is not None)


def _tellers(told: _Proposal, turns: Sequence[Note]) -> tuple[tuple[Note, ...], str | None]:
    """Return the turns that tell what is proposed, or why it cannot be taken."""
    why = _why_not(told.said, told.turns)
    if why != UNTOLD:
        return _adding(" ".join(told.said), told.turns), why
    if told.memory.text and (both := _answer(told.memory.text, told.turns, turns)):
        return both, None
    others = [note for note in turns if _why_not(told.said, [note]) is None]
    return (others[0],) if len(others) == 1 else (), None if len(others) == 1 else UNTOLD


def _why_not(said: Sequence[str], tell: Sequence[Note]) -> str | None:
    if not tell:
        return NO_TURN
    source = _source(tell)
    if not all(keeps_script(source, text) for text in said):
        return OTHER_LANGUAGE
    return UNTOLD if min(told_share(text, source) for text in said) < _TOLD else None


def _answer(said: str, tell: Sequence[Note], turns: Sequence[Note]) -> tuple[Note, ...]:
    """Return the one turn and the one before it, where they tell together what the first alone does not; else none."""
    first = turns.index(tell[0]) if len(tell) == 1 else 0
    both = (tell[0], turns[first - 1]) if first else ()
    told = told_share(said, _source(tell)) >= _OWN and told_share(said, _source(both)) >= _ANSWERED
    return both if told else ()


def _adding(said: str, tell: tuple[Note, ...]) -> tuple[Note, ...]:
    """Return, of many turns, those that add a word to what the others tell: a small model cites its whole window."""
    if len(tell) <= _FEW:
        return tell
    words: list[str] = []
    adding: set[str] = set()
    for note in sorted(tell, key=lambda note: told_share(said, note.content), reverse=True):
        if told_share(said, " ".join((*words, note.content))) > told_share(said, " ".join(words)):
            words.append(note.content)
            adding.add(note.id)
    return tuple(note for note in tell if note.id in adding) or tell


def _source(tell: Sequence[Note]) -> str:
    return " ".join(f"{note.speaker or ''} {note.content}" for note in tell)


def _dated(text: str, tell: Sequence[Note]) -> str:
    """Return a text with the dates that its turns name relative to their own, unless it tells them itself.

    Of several turns only those count whose phrase the text has kept: it need not tell of all that they tell.
    """
    meant = [found for note in tell for found in meant_dates(note.content, note.occurred_at.date())]
    told = [found for found in dict.fromkeys(meant) if len(tell) == 1 or found.phrase.casefold() in text.casefold()]
    missing = [f"{phrase}: {date}" for phrase, date in told if date not in text]
    return f"{text} ({'; '.join(missing)})" if missing else text
