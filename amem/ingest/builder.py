"""Stage 1, build (A-Mem, arXiv 2502.12110, equation 2): keywords, tags and a context for each turn of a window."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.ingest.language import keeps_script
from amem.ingest.shown import Numbered, earlier
from amem.model import Frozen

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from amem.llm.protocol import Request
    from amem.model import Note
    from amem.prompts import PromptSet
    from amem.replies import NoteFields, NoteReply

PROMPT = "note"


class Built(Frozen):
    """What one note is known for, as the model proposed it."""

    keywords: tuple[str, ...]
    tags: tuple[str, ...]
    context: str


def request(turns: Sequence[Note], before: Sequence[Note], prompts: PromptSet, *, max_tokens: int) -> Request:
    """Ask for the fields of `turns`; `before` is what was said just before, for understanding only."""
    variables = {"earlier": earlier(before), "turns": Numbered(turns).turns()}
    return prompts.render(PROMPT, variables, params={"max_tokens": max_tokens})


def check(turns: Sequence[Note]) -> Callable[[NoteReply], str | None]:
    """Return a function that says what is wrong with a reply that is valid by its schema."""
    numbered = Numbered(turns)

    def problem(reply: NoteReply) -> str | None:
        if not any(fields.keywords or fields.tags or fields.context.strip() for fields in reply.notes):
            return "every field is empty; give keywords, tags and a context for each turn"
        for fields in reply.notes:
            note = numbered.note(fields.turn)
            if note is not None and not keeps_script(note.content, fields.context):
                return f"the context of turn {fields.turn} is not written in the language of that turn"
        return None

    return problem


def parse(reply: NoteReply, turns: Sequence[Note]) -> dict[str, Built]:
    """Map a reply back to note ids; turns that the reply skips or leaves empty are missing from the result."""
    numbered = Numbered(turns)
    built: dict[str, Built] = {}
    for fields in reply.notes:
        note = numbered.note(fields.turn)
        if note is not None and note.id not in built and _says_something(fields):
            built[note.id] = Built(
                keywords=tuple(fields.keywords), tags=tuple(fields.tags), context=fields.context.strip()
            )
    return built


def _says_something(fields: NoteFields) -> bool:
    return bool(fields.keywords or fields.tags or fields.context.strip())
