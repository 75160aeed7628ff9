"""`amem import`: a conversation from a file; running it again resumes, and neither doubles nor loses anything."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path  # noqa: TC003 - typer reads the annotations at run time
from typing import TYPE_CHECKING, Annotated

import typer

from amem.interfaces.cli import parameters as given  # noqa: TC001 - typer reads the annotations at run time
from amem.interfaces.cli.call import Call, call_of
from amem.interfaces.cli.exits import UNFINISHED
from amem.interfaces.cli.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.ingest.worker import Progress
    from amem.intake import NewNote
    from amem.interfaces.cli.conversation_types import Conversation
    from amem.memory import AsyncMemory
    from amem.model import AddResult, Note


@dataclass(frozen=True)
class Outcome:
    """What an import came to."""

    added: Sequence[AddResult]
    """One for each message, in order."""
    finished: Sequence[AddResult] = ()
    """Notes that were pending before."""
    conflicts: list[str] = field(default_factory=list)
    """Sources under which the box holds another text."""

    @property
    def results(self) -> list[AddResult]:
        """What became of everything that was worked on."""
        return [*self.finished, *(result for result in self.added if result.is_new)]

    @property
    def pending(self) -> list[Note]:
        """Notes that should have been finished and were not."""
        known = {result.note.id: result.note for result in (*self.added, *self.finished)}
        return [note for note in known.values() if note.status == "pending"]


def import_(
    ctx: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The conversation, or what another memory holds.")],
    *,
    kind: Annotated[
        str,
        typer.Option(
            "--format", metavar="NAME", help="auto, jsonl, text, locomo; amem, mem0, basic-memory, a-mem, markdown."
        ),
    ] = "auto",
    sessions: Annotated[int | None, typer.Option("--sessions", metavar="N", min=0, help="Only the first N.")] = None,
    conversation: Annotated[
        str | None, typer.Option("--conversation", metavar="ID", help="Which one of a LoCoMo file, such as conv-26.")
    ] = None,
    skip_bad: Annotated[bool, typer.Option("--skip-bad", help="Leave bad lines out, and list them.")] = False,
    as_json: given.Json = False,
) -> None:
    """Import a conversation, or another memory; run it again to go on after an interruption.

    JSON: a list of `AddResult`; of another memory, an `Imported`.
    """
    from amem.interfaces.cli.conversation import read_conversation
    from amem.interfaces.cli.taking_over import memory_kind, take_over

    call = call_of(ctx)
    other = memory_kind(file, kind)
    if other is not None:
        take_over(call, file, other, as_json=as_json)
        return
    found = read_conversation(file, kind, sessions=sessions, sample=conversation)
    _say_what_was_found(call, file, found, skip_bad=skip_bad)
    outcome = _bring_in(call, found.notes)
    if as_json:
        call.terminal.json(outcome.added)
    else:
        _report(call, outcome)
    _finish(call, outcome)


async def bring_in(memory: AsyncMemory, notes: Sequence[NewNote], progress: Progress | None = None) -> Outcome:
    """Finish what an earlier run left pending, then add what is new; the box knows messages by their sources."""
    finished = await memory.process(progress=progress)
    added = await memory.add_many(notes, progress=progress)
    conflicts = [
        result.note.sources[0]
        for result, new in zip(added, notes, strict=True)
        if not result.is_new and result.note.content != new.content
    ]
    return Outcome(added=added, finished=finished, conflicts=conflicts)


def _bring_in(call: Call, notes: Sequence[NewNote]) -> Outcome:
    from amem.interfaces.cli.progress import progress

    with progress(call.terminal, "importing") as moved:
        return call.run(lambda memory: bring_in(memory, notes, moved), create=True)


def _say_what_was_found(call: Call, file: Path, found: Conversation, *, skip_bad: bool) -> None:
    from amem.interfaces.cli.conversation import listed, refuse_bad

    if not skip_bad:
        refuse_bad(file, found.bad)
    for line in listed(file, found.bad):
        call.terminal.warn(f"left out: {line}")
    for warning in found.warnings:
        call.terminal.warn(warning)


def _report(call: Call, outcome: Outcome) -> None:
    from amem.interfaces.cli.writing import summary

    new = sum(result.is_new for result in outcome.added)
    call.terminal.say(
        f"{counted(len(outcome.added), 'message')}: {new} new, {len(outcome.added) - new} known already",
        summary(outcome.results),
    )


def _finish(call: Call, outcome: Outcome) -> None:
    from amem.interfaces.cli.writing import leave_unfinished

    if outcome.conflicts:
        some = ", ".join(outcome.conflicts[:5])
        call.terminal.fail(
            f"not stored: {counted(len(outcome.conflicts), 'message')}. The box has another text by that id: {some}. "
            "Import into another --box, or give other ids."
        )
    leave_unfinished(call.terminal, outcome.pending)
    if outcome.conflicts:
        raise typer.Exit(UNFINISHED)
