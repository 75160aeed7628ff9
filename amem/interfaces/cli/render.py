"""Notes, links and revisions as text for a terminal; every text of a note passes through `visible`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from rich.text import Text

from amem.interfaces.cli.terminal import one_line, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pydantic import JsonValue

    from amem.model import AddResult, Hit, Link, Note, Revision, Skipped, Usage

_EXCERPT = 100
"""Characters of another note's text shown beside a link."""


def note(note: Note, *, number: int | None = None, score: float | None = None) -> Text:
    """Show a note: when, who, what, and what it is known for."""
    text = Text()
    if number is not None:
        text.append(f"{number}. ", style="bold")
    text.append(f"{note.occurred_at:%Y-%m-%d}", style="cyan")
    if note.speaker:
        text.append(f" {one_line(note.speaker)}", style="bold cyan")
    text.append(f"  {one_line(note.id)}", style="dim")
    if score is not None:
        text.append(f"  score {score:.2f}", style="dim")
    text.append(state(note), style="yellow")
    text.append(f"\n{_indented(note.content)}")
    for name, value in known_for(note):
        text.append(f"\n   {name}: ", style="dim")
        text.append(one_line(value), style="italic" if name == "context" else "")
    return text


def known_for(note: Note) -> list[tuple[str, str]]:
    """Return the fields a model or the user gave a note, those that are not empty."""
    fields = [("context", note.context), ("keywords", ", ".join(note.keywords)), ("tags", ", ".join(note.tags))]
    return [(name, value) for name, value in fields if value]


def state(note: Note) -> str:
    """Say what is unusual about a note's state, or nothing."""
    if note.status == "archived":
        return "  archived"
    if note.status == "pending":
        return f"  pending ({note.pending_reason})"
    return ""


def hit(number: int, found: Hit) -> Text:
    """Show a note that was found, and how."""
    text = note(found.note, number=number, score=found.score)
    for step in found.path:
        text.append(f"\n   by link: {one_line(step.relation)}: {one_line(step.reason)}", style="dim")
    if found.explanation is not None:
        why = found.explanation
        parts = [f"{name} {value:+.2f}" for name, value in why.parts.items()]
        ranks = [f"{arm} {rank}" for arm, rank in why.ranks.items()]
        text.append(f"\n   why: {', '.join(parts)}", style="dim")
        text.append(f"\n   rank in each arm: {', '.join(ranks) or 'none'}", style="dim")
        for remark in why.remarks:
            text.append(f"\n   {one_line(remark)}", style="dim")
    return text


def link(found: Link, others: Mapping[str, Note], *, seen_from: str) -> Text:
    """Show a link from one of its ends: the relation, the other note, and the reason."""
    other_id = found.other(seen_from)
    arrow = "→" if found.source == seen_from else "←"
    text = Text(f" {arrow} ")
    text.append(one_line(found.relation), style="bold green")
    other = others.get(other_id)
    text.append(f"  {quoted(other)}" if other else "")
    text.append(f"  {one_line(other_id)}  strength {found.strength:.2f}", style="dim")
    text.append(f"\n   because: {one_line(found.reason)}")
    return text


def quoted(other: Note) -> str:
    """Return a note as one short line, to stand beside something else."""
    who = f" {one_line(other.speaker)}" if other.speaker else ""
    return f"{other.occurred_at:%Y-%m-%d}{who}: {one_line(other.content, _EXCERPT)}"


def revision(change: Revision, *, causes: Iterable[Note] = ()) -> Text:
    """Show one change: what stood before, what stands after, and why."""
    text = Text(f"#{change.id} ", style="bold")
    text.append(f"{change.created_at:%Y-%m-%d %H:%M} ", style="cyan")
    text.append(f"{change.field} ", style="bold magenta")
    by = f" by {', '.join(map(one_line, change.cause.notes))}" if change.cause.notes else ""
    undoes = f" of #{change.cause.undoes}" if change.cause.undoes is not None else ""
    agent = f", agent {one_line(change.cause.agent_id)}" if change.cause.agent_id else ""
    text.append(f"({change.cause.kind}{undoes}{by}{agent})", style="dim")
    text.append("  undone" if change.undone else "", style="yellow")
    for cause in causes:
        text.append(f"\n   because of {quoted(cause)}", style="dim")
    text.append("\n   before: ", style="red")
    text.append(value(change.before))
    text.append("\n   after:  ", style="green")
    text.append(value(change.after))
    return text


def value(field: JsonValue) -> str:
    """Return a field's value on one line."""
    if field is None or field in ("", []):
        return "(nothing)"
    if isinstance(field, str):
        return one_line(field)
    if isinstance(field, list):
        return one_line(", ".join(map(str, field)))
    if isinstance(field, dict) and "relation" in field:
        return one_line(f"{field['relation']} → {field.get('target')}: {field.get('reason')}")
    return visible(json.dumps(field, ensure_ascii=False))


def result(added: AddResult, others: Mapping[str, Note]) -> Text:
    """Show what became of one text."""
    text = note(added.note)
    if not added.is_new:
        text.append("\n   this source was known already; the stored note is shown", style="yellow")
    for found in added.links:
        text.append("\n").append_text(link(found, others, seen_from=added.note.id))
    for change in added.evolved:
        text.append(f"\n changed {one_line(change.note_id)}: ").append_text(revision(change))
    for reason in added.suspicions:
        text.append(f"\n   suspicious: {one_line(reason)}", style="yellow")
    if added.held is not None:
        text.append(f"\n   its links and changes wait for review: amem review, proposal {added.held}", style="yellow")
    for line in skipped(added.skipped):
        text.append(f"\n   {line}", style="yellow")
    return text


def skipped(items: Sequence[Skipped]) -> list[str]:
    """Return one line for each thing that was not done."""
    return [f"skipped {item.stage}: {one_line(item.what)}: {one_line(item.why)}" for item in items]


def usage(spent: Usage) -> str:
    """Return what calls cost, in one line."""
    failed = f" ({spent.failed} failed)" if spent.failed else ""
    money = f", ${spent.cost:.4f}" if spent.cost else ""
    return (
        f"{spent.calls} calls{failed}, {spent.prompt_tokens:,} + {spent.completion_tokens:,} tokens "
        f"(prompt + reply), {spent.seconds:.1f} s of model time{money}"
    )


def _indented(content: str) -> str:
    return "\n".join(f"   {line}" for line in visible(content).split("\n"))
