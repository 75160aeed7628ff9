"""Parameters that several verbs share, and the global options, written once so that they mean the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
NoteId = Annotated[str, typer.Argument(metavar="NOTE", help="The note's id.")]
Speaker = Annotated[str | None, typer.Option("--speaker", metavar="NAME", help="Only what this person said.")]
Session = Annotated[str | None, typer.Option("--session", metavar="ID", help="Only notes of this session.")]
Agent = Annotated[str | None, typer.Option("--agent", metavar="ID", help="Only notes of this agent.")]
Tags = Annotated[
    list[str] | None, typer.Option("--tag", metavar="TAG", help="Only notes with this tag; may be repeated.")
]
Since = Annotated[str | None, typer.Option("--since", metavar="DATE", help="Only what happened then or later.")]
Until = Annotated[str | None, typer.Option("--until", metavar="DATE", help="Only what happened before.")]
AsOf = Annotated[
    str | None, typer.Option("--as-of", metavar="DATE", help="Only what had happened and still held good then.")
]
Kinds = Annotated[
    list[str] | None, typer.Option("--kind", metavar="KIND", help="Only note, fact or episode; may be repeated.")
]
Archived = Annotated[bool, typer.Option("--archived", help="Archived notes as well.")]
Outdated = Annotated[bool, typer.Option("--outdated", help="Also what another note has taken the place of.")]

Directory = Annotated[
    Path | None, typer.Option("--dir", metavar="DIR", help="The memory's directory. [AMEM_DIR; default: ./notes]")
]
Box = Annotated[
    str, typer.Option("--box", metavar="NAME", envvar="AMEM_BOX", show_envvar=False, help="The box. [AMEM_BOX]")
]
Model = Annotated[
    str | None, typer.Option("--llm", metavar="MODEL", help="A litellm model name, such as openai/gpt-4o-mini.")
]
ApiBase = Annotated[
    str | None, typer.Option("--api-base", metavar="URL", help="Address of an OpenAI-compatible server.")
]
Strategy = Annotated[
    str | None, typer.Option("--strategy", metavar="NAME", help="fused (the default), atomic, paper, or raw: no model.")
]
BudgetCalls = Annotated[
    int | None, typer.Option("--budget-calls", metavar="N", help="Make at most so many calls in this run.")
]
BudgetTokens = Annotated[
    int | None, typer.Option("--budget-tokens", metavar="N", help="Spend at most so many tokens in this run.")
]
Pairs = Annotated[
    list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="Any other setting; may be repeated.")
]
Config = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="Settings to read instead of ./amem.toml.")
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no remarks; errors only.")]
Verbose = Annotated[bool, typer.Option("--verbose", help="Tell what the rooms are doing, on stderr.")]


def filters(
    *, speaker: str | None, session: str | None, agent: str | None, tags: list[str] | None,
    since: str | None, until: str | None, as_of: str | None, kinds: list[str] | None, archived: bool, outdated: bool,
) -> dict[str, Any]:  # fmt: skip
    """Return the filters as the verbs of a memory take them."""
    return {
        "speaker": speaker,
        "session_id": session,
        "agent_id": agent,
        "tags": tags or [],
        "since": since,
        "until": until,
        "as_of": as_of,
        "kinds": kinds or [],
        "archived": archived,
        "outdated": outdated,
    }
