"""What the demo shows on a terminal."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.rule import Rule
from rich.text import Text

from amem.interfaces.cli import render
from amem.interfaces.cli.terminal import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import RenderableType

    from amem.interfaces.cli.demo_run import Answered, Shown
    from amem.interfaces.cli.demo_source import Source
    from amem.model import Link, Note, Revision

NOTES, LINKS, CHANGES = 3, 8, 5
"""How many of each are shown unless all are asked for."""


def opening(source: Source) -> Iterator[RenderableType]:
    """Say what will happen, and who answers."""
    notes = source.script.notes
    speakers = " and ".join(dict.fromkeys(note.speaker or "" for note in notes))
    sessions = len({note.session_id for note in notes})
    yield Text(f"{speakers}: {len(notes)} turns of an invented conversation in {sessions} sessions.", style="bold")
    yield Text(answered_by(source), style="yellow")


def answered_by(source: Source) -> str:
    """Say plainly where replies and vectors come from."""
    if source.replay is None:
        where = f" at {source.settings.api_base}" if source.settings.api_base else ""
        kept = f", and are recorded into {source.record}" if source.record else ""
        return f"The replies are LIVE: {source.settings.llm}{where} is asked. They cost what it charges{kept}."
    made = Counter((recording.by, recording.reply.model, recording.on) for recording in source.origin)
    parts = [f"{n} by {by}{_reported(by, model)} on {on}" for (by, model, on), n in sorted(made.items(), key=str)]
    return (
        f"The replies are REPLAYED: {'; '.join(parts)}. The vectors are replayed as well. "
        "No model is asked now, and nothing goes over a network. Live: amem demo --llm MODEL"
    )


def everything(shown: Shown, source: Source, *, whole: bool) -> Iterator[RenderableType]:
    """Show notes, links, changes, answers and cost."""
    yield from _notes(shown, None if whole else NOTES)
    yield from _links(shown, None if whole else LINKS)
    yield from _changes(shown, None if whole else CHANGES)
    yield from _answers(shown)
    yield Rule("What it cost", align="left")
    replayed = " (as recorded)" if source.replay is not None else ""
    yield f"{render.usage(shown.usage)}{replayed}; this run took {shown.seconds:.1f} s"


def _notes(shown: Shown, limit: int | None) -> Iterator[RenderableType]:
    """Show the notes with most links, in the order they were said."""
    degree = Counter(end for link in shown.links for end in (link.source, link.target))
    chosen = set(sorted(shown.notes, key=lambda note_id: (-degree[note_id], note_id))[:limit])
    yield _heading("Notes", len(chosen), len(shown.notes), "those with most links")
    yield from (render.note(note) for note_id, note in shown.notes.items() if note_id in chosen)


def _links(shown: Shown, limit: int | None) -> Iterator[RenderableType]:
    chosen = sorted(shown.links, key=lambda link: (-link.strength, link.id or 0))[:limit]
    yield _heading("Links", len(chosen), len(shown.links), "the strongest")
    yield from (_link(link, shown.notes) for link in chosen)


def _link(link: Link, notes: dict[str, Note]) -> Text:
    text = Text(render.quoted(notes[link.source]))
    text.append(f"\n   {one_line(link.relation)} → ", style="bold green")
    text.append(render.quoted(notes[link.target]))
    text.append(f"\n   because: {one_line(link.reason)}", style="dim")
    return text


def _changes(shown: Shown, limit: int | None) -> Iterator[RenderableType]:
    """Show how later notes changed what older ones are known for, contexts first."""
    ordered = sorted(shown.changes, key=lambda change: (change.field != "context", change.id or 0))
    chosen = ordered[:limit]
    yield _heading("Evolution", len(chosen), len(ordered), "contexts first")
    yield from (_change(change, shown.notes) for change in chosen)


def _change(change: Revision, notes: dict[str, Note]) -> Text:
    text = Text(render.quoted(notes[change.note_id]))
    for cause in change.cause.notes:
        if cause in notes:
            text.append(f"\n   because of {render.quoted(notes[cause])}", style="dim")
    text.append(f"\n   {change.field} before: ", style="red")
    text.append(render.value(change.before))
    text.append(f"\n   {change.field} after:  ", style="green")
    text.append(render.value(change.after))
    return text


def _answers(shown: Shown) -> Iterator[RenderableType]:
    yield Rule("Questions", align="left")
    for number, answer in enumerate(shown.answers, start=1):
        yield from _answer(number, answer)
    wanted = sum(len(answer.asked.expects) for answer in shown.answers)
    found = wanted - sum(len(answer.missing) for answer in shown.answers)
    yield Text(f"{found} of the {wanted} turns that hold the answers were recalled.", style="bold")


def _answer(number: int, answer: Answered) -> Iterator[RenderableType]:
    """Show a question, the notes recalled for it, and which of them hold the answer."""
    yield Text(f"\n{number}. {answer.asked.question}", style="bold")
    for line, turn in zip(_lines(answer.context.text), answer.turns, strict=True):
        held = turn in answer.asked.expects
        yield Text(f" {'✓' if held else ' '} {one_line(line)}", style="green" if held else "")
    yield Text(f"   to be found: {answer.asked.answer}", style="dim")
    if answer.missing:
        yield Text(f"   not recalled: {_numbers(answer.missing)}", style="yellow")


def _lines(text: str) -> Sequence[str]:
    return text.split("\n") if text else ()


def _numbers(turns: Iterable[int]) -> str:
    return ", ".join(f"turn {turn}" for turn in turns)


def _heading(what: str, some: int, total: int, which: str) -> Rule:
    return Rule(f"{what}: {total}" if some == total else f"{what}: {some} of {total}, {which}", align="left")


def _reported(by: str, model: str) -> str:
    return f" ({model})" if model and model not in by else ""
