"""What holds, and what was done: `amem facts list|add|search` and `amem episodes add|search`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

import typer

from amem.interfaces.cli import parameters as given  # noqa: TC001 - typer reads the annotations at run time
from amem.interfaces.cli.call import call_of
from amem.interfaces.cli.terminal import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.interfaces.cli.call import Call
    from amem.model import Outcome
    from amem.session.episodes import KnownEpisode
    from amem.session.facts import KnownFact

Question = Annotated[str, typer.Argument(metavar="QUESTION", help="What is asked, in any words.")]
Tellers = Annotated[
    list[str] | None, typer.Option("--from", metavar="NOTE", help="A note that says so, by its id; may be repeated.")
]


def list_facts(
    ctx: typer.Context,
    *,
    subject: Annotated[str | None, typer.Option("--subject", metavar="NAME", help="Only of this one.")] = None,
    predicate: Annotated[str | None, typer.Option("--predicate", metavar="WORDS", help="Only in this respect.")] = None,
    as_of: given.AsOf = None,
    outdated: given.Outdated = False,
    as_json: given.Json = False,
) -> None:
    """List the facts that hold, the earliest first.

    JSON: a list of `KnownFact`.
    """
    call = call_of(ctx)
    found = call.run(
        lambda memory: memory.facts.list(subject=subject, predicate=predicate, as_of=as_of, outdated=outdated)
    )
    _facts(call, found, as_json=as_json)


def search_facts(
    ctx: typer.Context,
    question: Question,
    *,
    k: Annotated[int, typer.Option("-k", metavar="N", help="How many facts at most.")] = 5,
    as_json: given.Json = False,
) -> None:
    """Find the facts that fit a question, of the time it asks for.

    JSON: a list of `KnownFact`.
    """
    call = call_of(ctx)
    _facts(call, call.run(lambda memory: memory.facts.search(question, k=k)), as_json=as_json)


def add_fact(
    ctx: typer.Context,
    subject: Annotated[str, typer.Argument(metavar="SUBJECT", help="Of whom or what.")],
    predicate: Annotated[str, typer.Argument(metavar="PREDICATE", help="In which respect, such as 'lives in'.")],
    object: Annotated[str, typer.Argument(metavar="OBJECT", help="What.")],
    *,
    since: Annotated[str | None, typer.Option("--since", metavar="DATE", help="When it began. [now]")] = None,
    several: Annotated[bool, typer.Option("--several", help="One may have several such; it ends no other.")] = False,
    sources: Tellers = None,
    as_json: given.Json = False,
) -> None:
    """Store a fact; the one it follows ends where it begins, and is kept.

    JSON: a `Stated`.
    """
    call = call_of(ctx)
    stated = call.run(
        lambda memory: memory.facts.add(
            subject, predicate, object, since=since, single=not several, sources=tuple(sources or ())
        ),
        create=True,
    )
    if as_json:
        call.terminal.json(stated)
        return
    call.terminal.say(_fact(stated.fact))
    if not stated.is_new:
        call.terminal.remark("it was known already")
    for note_id in stated.ended:
        call.terminal.remark(f"{note_id} has ended")
    if stated.held is not None:
        call.terminal.remark(f"what it would end waits for review: proposal {stated.held}")


def add_episode(
    ctx: typer.Context,
    trigger: Annotated[str, typer.Argument(metavar="TRIGGER", help="What called for action.")],
    *,
    actions: Annotated[
        list[str] | None, typer.Option("--did", metavar="ACTION", help="What was done; may be repeated, in order.")
    ] = None,
    outcome: Annotated[
        str, typer.Option("--outcome", metavar="NAME", help="success, failure, mixed or unknown.")
    ] = "unknown",
    result: Annotated[str, typer.Option("--result", metavar="TEXT", help="How it ended.")] = "",
    lesson: Annotated[str, typer.Option("--lesson", metavar="TEXT", help="What to do the next time.")] = "",
    at: Annotated[str | None, typer.Option("--at", metavar="DATE", help="When it was. [now]")] = None,
    sources: Tellers = None,
    as_json: given.Json = False,
) -> None:
    """Store what was done about something, and how it ended.

    JSON: a `KnownEpisode`.
    """
    call = call_of(ctx)
    stored = call.run(
        lambda memory: memory.episodes.add(
            trigger, tuple(actions or ()), cast("Outcome", outcome), result=result, lesson=lesson, occurred_at=at,
            sources=tuple(sources or ()),
        ),
        create=True,
    )  # fmt: skip
    if as_json:
        call.terminal.json(stored)
    else:
        call.terminal.say(_episode(stored))


def search_episodes(
    ctx: typer.Context,
    trigger: Annotated[str, typer.Argument(metavar="TRIGGER", help="What calls for action now.")],
    *,
    k: Annotated[int, typer.Option("-k", metavar="N", help="How many episodes at most.")] = 3,
    outcome: Annotated[str | None, typer.Option("--outcome", metavar="NAME", help="Only those that ended so.")] = None,
    as_json: given.Json = False,
) -> None:
    """Find the episodes most like what is at hand.

    JSON: a list of `KnownEpisode`.
    """
    call = call_of(ctx)
    wanted = cast("Outcome | None", outcome)
    found = call.run(lambda memory: memory.episodes.search(trigger, k=k, outcome=wanted))
    if as_json:
        call.terminal.json(found)
        return
    call.terminal.say(*map(_episode, found))
    if not found:
        call.terminal.remark("nothing was found")


def _facts(call: Call, found: Sequence[KnownFact], *, as_json: bool) -> None:
    if as_json:
        call.terminal.json(found)
        return
    call.terminal.say(*map(_fact, found))
    if not found:
        call.terminal.remark("nothing was found")


def _fact(fact: KnownFact) -> str:
    until = "" if fact.until is None else f" until {fact.until:%Y-%m-%d}"
    agent = f", by {one_line(fact.agent_id)}" if fact.agent_id else ""
    against = f", contradicted by {', '.join(fact.contradicts)}" if fact.contradicts else ""
    return f"{fact.id}  {one_line(fact.text)} (since {fact.since:%Y-%m-%d}{until}{agent}{against})"


def _episode(episode: KnownEpisode) -> str:
    agent = f" ({one_line(episode.agent_id)})" if episode.agent_id else ""
    return f"{episode.id}  {episode.occurred_at:%Y-%m-%d}{agent} {one_line(episode.text)}"
