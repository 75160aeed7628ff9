"""What was measured with what, line by line."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .types import Report, Sitting


def facts(report: Report) -> Iterator[tuple[str, str]]:
    """Yield names and texts."""
    about = report.about
    yield "data", f"{about.data}; {'; '.join(f'SHA-256 of {k} {v}' for k, v in about.data_hashes.items())}"
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
    yield "worked", f"{hours(about.sittings):.1f} hours in {len(about.sittings)} sittings"
    for name in dict.fromkeys(one.code for one in about.sittings):
        yield "code", name
    for name in dict.fromkeys(one.machine for one in about.sittings):
        yield "machine", name
    for versions in dict.fromkeys(", ".join(f"{k} {v}" for k, v in one.versions.items()) for one in about.sittings):
        yield "versions", versions
    for warning in about.warnings:
        yield "warning", warning


def hours(sittings: tuple[Sitting, ...]) -> float:
    """Return how long processes worked; of one that was killed nobody knows."""
    spans = [(one.started, one.ended) for one in sittings if one.ended is not None]
    return (
        sum((datetime.fromisoformat(end) - datetime.fromisoformat(start)).total_seconds() for start, end in spans)
        / 3600
    )
