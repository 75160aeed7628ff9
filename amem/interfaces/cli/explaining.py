"""The verb `explain`: why a note is found for a question, or why it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from amem.interfaces.cli import parameters as given
from amem.interfaces.cli.call import call_of

if TYPE_CHECKING:
    from amem.model import Explanation


def explain(
    ctx: typer.Context,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="What was asked.")],
    note_id: given.NoteId,
    *,
    k: Annotated[int, typer.Option("-k", metavar="N", help="How many notes the search returns.")] = 10,
    budget: Annotated[
        int | None, typer.Option("--budget", metavar="TOKENS", help="Explain recall within so many tokens.")
    ] = None,
    speaker: given.Speaker = None,
    session: given.Session = None,
    agent: given.Agent = None,
    tags: given.Tags = None,
    since: given.Since = None,
    until: given.Until = None,
    as_of: given.AsOf = None,
    kinds: given.Kinds = None,
    archived: given.Archived = False,
    outdated: given.Outdated = False,
    as_json: given.Json = False,
) -> None:
    """Say why a note is found for a question, or why it is not.

    JSON: an `Explanation`.
    """
    call = call_of(ctx)
    chosen = given.filters(
        speaker=speaker, session=session, agent=agent, tags=tags, since=since, until=until, as_of=as_of, kinds=kinds,
        archived=archived, outdated=outdated,
    )  # fmt: skip
    found = call.run(lambda memory: memory.explain(question, note_id, k=k, budget=budget, **chosen))
    if as_json:
        call.terminal.json(found)
        return
    call.terminal.say(*_lines(found, "recall" if budget is not None else "search"))


def _lines(found: Explanation, verb: str) -> list[str]:
    from amem.interfaces.cli.terminal import one_line

    dropped = found.dropped_by
    rank = "" if found.rank is None else f"rank {found.rank}, "
    best = sorted(found.parts.items(), key=lambda part: -abs(part[1]))
    return [
        f"{verb} returns it" if dropped is None else f"{verb} does not return it: {one_line(dropped)}",
        *([] if found.score is None else [f"   {rank}score {found.score:.2f}"]),
        *(f"   {name} {value:+.2f}" for name, value in best),
        *(f"   rank in the {arm} arm: {place}" for arm, place in found.ranks.items()),
        *(
            f"   by way of {one_line(step.source)}: {one_line(step.relation)}: {one_line(step.reason)}"
            for step in found.path
        ),
        *(f"   {one_line(remark)}" for remark in found.remarks),
    ]
