"""The verbs about what older prompts made: stale and rebuild."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from amem.interfaces.cli import parameters as given  # noqa: TC001 - typer reads the annotations at run time
from amem.interfaces.cli.call import call_of
from amem.interfaces.cli.exits import UNFINISHED
from amem.interfaces.cli.terminal import counted, one_line
from amem.interfaces.cli.writing import require_model

if TYPE_CHECKING:
    from collections.abc import Iterable

    from amem.ingest.rebuilt import Rebuilt
    from amem.interfaces.cli.terminal import Terminal

Prompt = Annotated[
    str | None,
    typer.Option("--prompt", metavar="NAME", help="Only what this prompt made; a label names one wording of it."),
]
Maker = Annotated[
    str | None, typer.Option("--model", metavar="MODEL", help="What any other model than this one made is stale too.")
]


def stale(ctx: typer.Context, *, prompt: Prompt = None, model: Maker = None, as_json: given.Json = False) -> None:
    """List what older wordings of the prompts made.

    JSON: a `Stale`.
    """
    call = call_of(ctx)
    found = call.run(lambda memory: memory.stale(prompt=prompt, model=model))
    if as_json:
        call.terminal.json(found)
        return
    for (label, by), count in found.makers.items():
        call.terminal.say(f"{count:>7,}  {one_line(label)}  {one_line(by)}")
    parts = (
        counted(len(found.notes), "note"),
        counted(len(found.links), "link"),
        counted(len(found.revisions), "change"),
        counted(len(found.memories), "memory", "memories"),
    )
    call.terminal.say(f"stale: {', '.join(parts)}")
    if len(found):
        call.terminal.remark("`amem rebuild --stale` makes them anew, and nothing else")


def rebuild(
    ctx: typer.Context,
    *,
    stale: Annotated[
        bool, typer.Option("--stale", help="What older wordings of the prompts made; there is nothing else to rebuild.")
    ] = True,
    prompt: Prompt = None,
    model: Maker = None,
    limit: Annotated[int | None, typer.Option("--limit", metavar="N", min=0, help="At most so many notes.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be made anew.")] = False,
    as_json: given.Json = False,
) -> None:
    """Make anew what older wordings of the prompts made, and only that.

    What fails stays as it was; the same command goes on from there. `amem undo` takes it back.

    JSON: a `Rebuilt`.
    """
    del stale
    from amem.interfaces.cli.progress import progress

    call = call_of(ctx)
    if not dry_run:
        require_model(call.settings().llm)
    with progress(call.terminal, "rebuilding") as moved:
        done = call.run(
            lambda memory: memory.rebuild(prompt=prompt, model=model, limit=limit, dry_run=dry_run, progress=moved)
        )
    if as_json:
        call.terminal.json(done)
    else:
        _tell(call.terminal, done)
    if done.left:
        why = one_line(done.left[0].why)
        call.terminal.fail(f"left as they were: {counted(len(done.left), 'note')}; the same command goes on. {why}")
        raise typer.Exit(UNFINISHED)


def _tell(terminal: Terminal, done: Rebuilt) -> None:
    built, woven = counted(len(done.built), "note"), counted(len(done.woven), "note")
    memories = counted(len(done.rewritten), "memory", "memories")
    for why, count in Counter(kept.why for kept in done.kept).items():
        terminal.remark(f"staying as made before: {counted(count, 'memory', 'memories')} ({one_line(why)})")
    if done.dry_run:
        terminal.say(f"would build {built} anew, and link {woven} anew; would distil or sum up {memories} anew")
        return
    from amem.interfaces.cli import render

    terminal.say(f"{built} built anew, {woven} linked anew: {counted(len(done.links), 'new link')}")
    if done.rewritten:
        terminal.say(f"{memories} distilled or summed up anew: {counted(len(done.written), 'new one')}")
    if done.usage.calls:
        terminal.remark(render.usage(done.usage))
    if done.revisions:
        numbers = " ".join(spans(r.id for r in done.revisions if r.id is not None))
        terminal.say(f"to take it back: amem undo {numbers}")


def spans(numbers: Iterable[int]) -> list[str]:
    """Return numbers as `3`, or as `3-7` where they follow each other."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and found[-1][-1] == number - 1:
            found[-1] = [found[-1][0], number]
        else:
            found.append([number])
    return [str(span[0]) if len(span) == 1 else f"{span[0]}-{span[1]}" for span in found]
