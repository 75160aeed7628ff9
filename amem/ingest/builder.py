"""Stage 1, build (A-Mem, arXiv 2502.12110, equation 2): keywords, tags and a context for each turn of a window.

A template whose replies are of the kind `AnchoredNoteReply` leaves two things to code: to tell by its first words which
turn an entry is about, and to say what `last Friday` means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.ingest.language import keeps_script
from amem.ingest.relative import meant_dates
from amem.ingest.shown import Numbered, earlier
from amem.replies import AnchoredNoteFields, AnchoredNoteReply, NoteReply
from amem.values import Frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from amem.llm.protocol import Request
    from amem.model import Note
    from amem.prompts import PromptSet
    from amem.replies import NoteFields

    AnyReply = NoteReply | AnchoredNoteReply
    AnyFields = NoteFields | AnchoredNoteFields

PROMPT = "note"
REPLIES = (NoteReply, AnchoredNoteReply)
"""The kinds of reply that are read; what a template that names neither is answered with stands first."""


class Built(Frozen):
    """What one note is known for, as the model proposed it."""

    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    context: str


def request(turns: Sequence[Note], before: Sequence[Note], prompts: PromptSet, *, max_tokens: int) -> Request:
    """Ask for the fields of `turns`; `before` is what was said just before, for understanding only."""
    variables = {"earlier": earlier(before), "turns": Numbered(turns).turns()}
    return prompts.render(PROMPT, variables, params={"max_tokens": max_tokens})


def reply_model(prompts: PromptSet) -> type[AnyReply]:
    """Return the model of the replies that the template asks for."""
    return prompts.reply(PROMPT, *REPLIES)


def check(turns: Sequence[Note]) -> Callable[[AnyReply], str | None]:
    """Return a function that says what is wrong with a reply that is valid by its schema."""
    numbered = Numbered(turns)

    def problem(reply: AnyReply) -> str | None:
        if not any(_says_something(fields) for fields in reply.notes):
            return "every field is empty; give keywords, tags and a context for each turn"
        for fields in reply.notes:
            note = _about(fields, numbered)
            if note is not None and not keeps_script(note.content, fields.context):
                return f"the context of turn {fields.turn} is not written in the language of that turn"
        return None

    return problem


def parse(reply: AnyReply, turns: Sequence[Note]) -> dict[str, Built]:
    """Map a reply back to note ids; turns that the reply skips or leaves empty are missing from the result."""
    numbered = Numbered(turns)
    built: dict[str, Built] = {}
    for fields in reply.notes:
        note = _about(fields, numbered)
        if note is not None and note.id not in built and _says_something(fields):
            context = fields.context.strip()
            if isinstance(fields, AnchoredNoteFields):
                context = with_dates(context, note)
            built[note.id] = Built(keywords=tuple(fields.keywords), tags=tuple(fields.tags), context=context)
    return built


def with_dates(context: str, note: Note) -> str:
    """Return a context with the dates that the note's turn names relative to its own, unless it tells them itself."""
    meant = dict.fromkeys(meant_dates(note.content, note.occurred_at.date()))
    missing = [f"{phrase}: {date}" for phrase, date in meant if date not in context]
    return f"{context} ({'; '.join(missing)})" if context and missing else context


def _about(fields: AnyFields, numbered: Numbered) -> Note | None:
    if isinstance(fields, AnchoredNoteFields):
        return numbered.anchored(fields.turn, fields.words)
    return numbered.note(fields.turn)


def _says_something(fields: AnyFields) -> bool:
    return bool(fields.keywords or fields.tags or fields.context.strip())
