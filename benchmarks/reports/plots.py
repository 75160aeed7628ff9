"""Plots as inline SVG: no script, no other file; colours follow the page, and every mark says what it is."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from . import words
from .drawing import COLOURS, WIDTH, Frame, beside, grid, label, line, mark, spread, svg, whisker
from .measures import measure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .types import Report, Row

_TICKS = (0, 50, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 200_000)


class Plot(NamedTuple):
    """One plot and what it shows."""

    title: str
    about: str
    svg: str


def plots(report: Report) -> list[Plot]:
    """Return the plots of a report."""
    title = measure(report.main).title
    return [
        Plot(
            "Quality against tokens",
            f"{title} over all questions, with 95 % intervals, against the tokens of context that the reader was given."
            " Up and to the left is better. Marks that would lie on each other stand side by side.",
            _quality(report),
        ),
        Plot("By category", f"{title} with 95 % intervals.", _categories(report)),
        Plot(
            "Cost per system",
            "Tokens of the language models: to write one turn, and to answer one question; and the time of each.",
            _costs(report),
        ),
    ]


def _quality(report: Report) -> str:
    frame, height = Frame(56, 16, WIDTH - 190, 330), 380
    rows = [(place, row) for place, row in enumerate(report.rows) if report.main in row.measures]
    points = [(place, row, one) for place, row in rows if (one := row.measures[report.main].everything.all) is not None]
    points.sort(key=lambda point: -point[2].mean)
    top = _ceiling([one.high if one.high is not None else one.mean for _, _, one in points])
    most = max((_tokens(row) for _, row, _ in points), default=1.0)
    scale = math.log1p(max(most, 10) / 20)

    def across(tokens: float) -> float:
        return frame.x(math.log1p(tokens / 20) / scale)

    parts = [*grid(frame, top), label(frame.x(0.5), height - 6, "tokens of context (logarithmic)", "middle")]
    ticks = [tick for tick in _TICKS if tick <= most * 1.05]
    parts += [label(across(tick), frame.bottom + 18, f"{tick:,}", "middle") for tick in ticks]
    heights = [frame.y(one.mean / top) for _, _, one in points]
    places = beside([across(_tokens(row)) for _, row, _ in points], 12)
    names = spread(heights, 16, frame.bottom)
    for (place, row, one), x, y, name in zip(points, places, heights, names, strict=True):
        what = f"{row.system}: {words.sure(one)}; {words.count(_tokens(row))} tokens"
        lead = line(x + 8, y, max(frame.right, x) + 16, name, "lead")
        parts += [lead, *whisker(x, one, frame, top, place), mark(x, y, place, what)]
        parts.append(
            label(WIDTH - 156, name + 4, f"{row.system} {words.share(one.mean)}", "start", f"c{place % COLOURS}")
        )
    return svg(height, parts, "Quality against tokens")


def _tokens(row: Row) -> float:
    return row.context_tokens.mean if row.context_tokens else 0.0


def _categories(report: Report) -> str:
    rows = [(place, row) for place, row in enumerate(report.rows) if report.main in row.measures]
    found = {
        key: one.questions for _, row in rows for key, one in row.measures[report.main].everything.by_category.items()
    }
    names = sorted(found)
    across, band = 3, (WIDTH - 64) / 3
    lines = math.ceil(len(names) / across)
    panel = 34 + 20 * len(rows)
    parts: list[str] = []
    for number, name in enumerate(names):
        left, top = 10 + (number % across) * band, 8 + (number // across) * (panel + 22)
        frame = Frame(left + 108, top + 22, left + band - 8, top + panel)
        title = " ".join(filter(None, (name, report.about.category_names.get(name), f"(n = {found[name]})")))
        parts.append(label(left, top + 12, title, "start", "strong"))
        parts += _dots(report, rows, name, frame)
    return svg(lines * (panel + 22) + 20, parts, "By category")


def _dots(report: Report, rows: Sequence[tuple[int, Row]], name: str, frame: Frame) -> Iterator[str]:
    for share in (0.0, 0.5, 1.0):
        yield line(frame.x(share), frame.top, frame.x(share), frame.bottom, "grid")
        yield label(frame.x(share), frame.bottom + 14, f"{share:g}", "middle")
    for step, (place, row) in enumerate(rows):
        y = frame.top + 12 + 20 * step
        yield label(frame.left - 12, y + 4, _short(row.system), "end")
        one = row.measures[report.main].everything.by_category.get(name)
        if one is None:
            continue
        if one.low is not None and one.high is not None:
            yield line(frame.x(one.low), y, frame.x(one.high), y, f"bar c{place % COLOURS}")
        yield mark(frame.x(one.mean), y, place, f"{row.system}, {name}: {words.sure(one)}, n = {one.questions}")


def _costs(report: Report) -> str:
    panels = (
        ("tokens to write a turn", [row.cost.write.tokens_per_unit for row in report.rows], words.count),
        ("tokens to answer a question", [row.cost.read.tokens_per_unit for row in report.rows], words.count),
        (
            "seconds to write a turn",
            [_mean(row.cost.write.seconds, row.cost.write.units) for row in report.rows],
            _seconds,
        ),
        (
            "seconds to answer a question",
            [_mean(row.cost.read.seconds, row.cost.read.units) for row in report.rows],
            _seconds,
        ),
    )
    panel, half = 30 + 20 * len(report.rows), WIDTH / 2
    parts: list[str] = []
    for number, (title, values, write) in enumerate(panels):
        left, top = (number % 2) * half + 4, 6 + (number // 2) * (panel + 12)
        most = max([*values, 1e-9])
        parts.append(label(left + 4, top + 12, title, "start", "strong"))
        for place, (row, value) in enumerate(zip(report.rows, values, strict=True)):
            y = top + 22 + 20 * place
            long = (half - 210) * value / most
            parts.append(label(left + 118, y + 12, _short(row.system), "end"))
            parts.append(
                f'<rect x="{left + 124:.1f}" y="{y + 2:.1f}" width="{max(long, 0.5):.1f}" height="12" class="fill'
                f' c{place % COLOURS}"><title>{escape(row.system)}: {write(value)} {title}</title></rect>'
            )
            parts.append(label(left + 130 + long, y + 12, write(value), "start"))
    return svg(2 * (panel + 12) + 10, parts, "Cost per system")


def _seconds(value: float) -> str:
    return f"{value:,.1f} s" if value >= 0.1 else f"{value * 1000:.1f} ms"


def _mean(total: float, units: int) -> float:
    return total / units if units else 0.0


def _short(name: str) -> str:
    return name if len(name) <= 17 else f"{name[:16]}…"


def _ceiling(values: Sequence[float]) -> float:
    """Return a round end of the scale above all values."""
    return min(1.0, math.ceil(max([*values, 0.1]) * 10 + 0.2) / 10)
