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
    yield "reader", about.reader + (f", model {about.models['reader']}" if "reader" in about.models else "")
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


def worked(report: Report) -> str:
    """Say how long the processes worked, and how long what they did took: of a killed process only that is known."""
    sittings = report.about.sittings
    spans = [(one.started, one.ended) for one in sittings if one.ended is not None]
    seconds = sum((datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds() for start, end in spans)
    killed = len(sittings) - len(spans)
    lost = f", without {killed} that {'was' if killed == 1 else 'were'} killed" if killed else ""
    work = sum(row.cost.write.seconds + row.cost.read.seconds for row in report.rows)
    return (
        f"{seconds / 3600:.2f} hours in {len(spans)} {'sitting' if len(spans) == 1 else 'sittings'}{lost};"
        f" writing, searching and answering took {work / 3600:.2f} hours"
    )
