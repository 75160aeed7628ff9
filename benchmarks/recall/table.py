"""The results as tables for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from ..datasets.locomo import CATEGORIES  # noqa: TID252 - in a wheel, this package has another name
from ..metrics.evidence import BUDGETS, KS  # noqa: TID252 - likewise
from .report import CUES_ALONE, OURS, WITH_CUES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import RenderableType

    from .report import Report, Scores, SetReport

_LABELS = {
    WITH_CUES: "amem + cues",
    CUES_ALONE: "cues alone",
    "bm25": "BM25",
    "dense": "dense",
    "rrf_60": "RRF, k = 60",
    "rrf_10": "RRF, k = 10",
    "min_max": "min-max sum",
}
_CATEGORIES = {str(number): f"{number} {name}" for number, name in CATEGORIES.items()}
COLUMNS = (
    *((f"R@{k}", f"recall_at_{k}") for k in KS),
    *((f"t{budget}", f"recall_within_{budget}_tokens") for budget in BUDGETS),
    *((f"a{budget}", f"answer_within_{budget}_tokens") for budget in BUDGETS),
)
LEGEND = (
    "R@k: the share of a question's evidence among the first k turns found; tN: within N tokens of the lines that"
    " recall writes; aN: the share of the questions with an answer whose words stand in those lines. Means over"
    " questions."
)


def tables(report: Report) -> Iterator[RenderableType]:
    """Yield the results of each set that was measured, and what was measured with what."""
    for name, found in (("tuning", report.tuning), ("reporting", report.reporting), ("all", report.all)):
        if found is not None:
            yield from _set(name, found)
    yield LEGEND
    about = report.about
    candidates = "every note" if about.candidates is None else f"{about.candidates} candidates of each arm"
    ablated = f"; without {', '.join(about.ablated)}" if about.ablated else ""
    yield f"{about.notes}; {about.embedding}; {about.index}; {candidates}{ablated}; tokens by {about.tokenizer}"
    yield f"{about.machine}; {', '.join(f'{k} {v}' for k, v in about.versions.items())}; {about.seconds:.0f} s"


def _set(name: str, found: SetReport) -> Iterator[RenderableType]:
    conversations = ", ".join(found.by_conversation)
    yield f"\nset {name}: {found.questions} questions of {conversations} ({found.left_out} left out)"
    systems: dict[str, Scores] = {
        OURS: found,
        **{_LABELS[key]: scores for key, scores in (found.variants | found.baselines).items()},
    }
    yield _table("", systems)
    if found.interval:
        spans = [f"{label} {_span(found.interval[key])}" for label, key in COLUMNS if key in found.interval]
        yield f"95 % for amem, by conversation: {', '.join(spans)}"
    by_category = {_CATEGORIES[number]: scores for number, scores in found.by_category.items()}
    yield _table("category", by_category)
    yield _table("conversation", found.by_conversation)
    times = [f"{stage} {took.p50_ms:.1f} / {took.p95_ms:.1f}" for stage, took in found.latency.items()]
    yield f"p50 / p95 ms: {', '.join(times)}"


def _table(head: str, rows: Mapping[str, Scores]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column(head, no_wrap=True)
    table.add_column("n", justify="right")
    for label, _ in COLUMNS:
        table.add_column(label, justify="right")
    for name, scores in rows.items():
        values = [getattr(scores, key) for _, key in COLUMNS]
        table.add_row(name, str(scores.questions), *map(number, values))
    return table


def number(value: float | None) -> str:
    """Write a share as short as a table wants it: `.867`."""
    return "-" if value is None else f"{value:.3f}".removeprefix("0")


def _span(span: tuple[float, float]) -> str:
    return f"{number(span[0])} to {number(span[1])}"
