"""What was measured with what, line by line."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from ..datasets.known import attribution  # noqa: TID252 - in a wheel, this package has another name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .types import Report


def facts(report: Report) -> Iterator[tuple[str, str]]:
    """Yield names and texts."""
    about = report.about
    yield "data", f"{about.data}; {'; '.join(f'SHA-256 of {k} {v}' for k, v in about.data_hashes.items())}"
    owed = attribution(about.data)
    if owed is not None:
        yield "made by", f"{owed}. This report has ids and scores, and none of its texts"
    yield "asked", f"{about.questions} questions of {', '.join(about.conversations)}; {about.choice}"
    yield "reader", read_by(report)
    yield "category", "not shown to the reader" if about.compat == "fair" else f"shown to the reader ({about.compat})"
    yield "budget", f"{about.budget:,} tokens of context, by {about.tokenizer}"
    yield "embedding", about.embedding
    for row in report.rows:
        prompts = f"; prompts {about.prompts[row.system]}" if row.system in about.prompts else ""
        yield row.system, f"{row.about}{prompts}"
    yield "measures", f"version {about.metrics}"
    yield "configuration", ", ".join(about.config)
    yield "seed", str(about.seed)
    yield "worked", worked(report)
    for name in dict.fromkeys(one.code for one in about.sittings):
        yield "code", name
    for name in dict.fromkeys(one.machine for one in about.sittings):
        yield "machine", name
    for versions in dict.fromkeys(", ".join(f"{k} {v}" for k, v in one.versions.items()) for one in about.sittings):
        yield "versions", versions
    for warning in about.warnings:
        yield "warning", warning


def opening(report: Report) -> str:
    """Say in one sentence what was asked of whom."""
    about = report.about
    one = len(about.conversations) == 1
    where = f"one conversation, {about.conversations[0]}" if one else f"{len(about.conversations)} conversations"
    return (
        f"{about.questions} questions about {where} ({about.data}). Reader: {read_by(report)}. Budget: {about.budget:,}"
        " tokens of context."
    )


def read_by(report: Report) -> str:
    """Say who answered."""
    about = report.about
    return about.reader + (f", model {about.models['reader']}" if "reader" in about.models else "")


def worked(report: Report) -> str:
    """Say how long the processes worked, without the pauses between them, and how long what they did took."""
    sittings = report.about.sittings
    spans = [(one.started, until) for one in sittings if (until := one.ended or one.seen) is not None]
    seconds = sum((datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds() for start, end in spans)
    cut = sum(one.ended is None and one.seen is not None for one in sittings)
    lost = len(sittings) - len(spans)
    parts = [f"{seconds / 3600:.2f} hours in {len(spans)} {'sitting' if len(spans) == 1 else 'sittings'}"]
    parts += ["without the pauses between them"] if len(spans) > 1 else []
    parts += [f"{cut} that did not end counted until last seen at work"] if cut else []
    parts += [f"without {lost} of which no end is known"] if lost else []
    work = sum(row.cost.write.seconds + row.cost.read.seconds for row in report.rows)
    return f"{', '.join(parts)}; writing, searching and answering took {work / 3600:.2f} hours"
