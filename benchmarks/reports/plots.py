"""Plots as inline SVG: no script, no other file; colours follow the page, and every mark says what it is."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from . import words
from .measures import measure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..statistics.bootstrap import Estimate  # noqa: TID252 - in a wheel, this package has another name
    from .types import Report, Row

WIDTH = 760
_SHAPES = ("circle", "square", "diamond", "triangle", "ring", "cross")
COLOURS = 8
"""Classes `c0` to `c7` of the page; systems beyond share them, with another shape."""


class Plot(NamedTuple):
    """One plot and what it shows."""

    title: str
    about: str
    svg: str


class Frame(NamedTuple):
    """Where the data lies in a plot."""

    left: float
    top: float
    right: float
    bottom: float

    def x(self, share: float) -> float:
        """Return the place of a share of the width."""
        return self.left + share * (self.right - self.left)

    def y(self, share: float) -> float:
        """Return the place of a share of the height, counted from below."""
        return self.bottom - share * (self.bottom - self.top)


def plots(report: Report) -> list[Plot]:
    """Return the plots of a report."""
    title = measure(report.main).title
    return [
        Plot(
            "Quality against tokens",
            f"{title} over all questions, with 95 % intervals, against the tokens of context that the reader was given."
            " Up and to the left is better.",
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
    frame, height = Frame(64, 16, WIDTH - 150, 330), 380
    rows = [(place, row) for place, row in enumerate(report.rows) if report.main in row.measures]
    points = [(place, row, one) for place, row in rows if (one := row.measures[report.main].everything.all) is not None]
    top = _ceiling([one.high if one.high is not None else one.mean for _, _, one in points])
    most = max((_tokens(row) for _, row, _ in points), default=1.0)
    scale = math.log1p(max(most, 10) / 20)

    def across(tokens: float) -> float:
        return frame.x(math.log1p(tokens / 20) / scale)

    parts = [*_grid(frame, top), _label(frame.x(0.5), height - 6, "tokens of context (logarithmic)", "middle")]
    ticks = [
        tick for tick in (0, 50, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 200_000) if tick <= most * 1.05
    ]
    parts += [_label(across(tick), frame.bottom + 18, f"{tick:,}", "middle") for tick in ticks]
    taken: list[float] = []
    for place, row, one in sorted(points, key=lambda point: -point[2].mean):
        x, y = across(_tokens(row)), frame.y(one.mean / top)
        parts += [*_whisker(x, one, frame, top, place), _mark(x, y, place, f"{row.system}: {words.sure(one)}")]
        beside = _free(y, taken)
        taken.append(beside)
        parts.append(_line(x + 8, y, frame.right + 12, beside, "lead"))
        parts.append(_label(frame.right + 16, beside + 4, row.system, "start", f"c{place % COLOURS}"))
    return _svg(height, parts, "Quality against tokens")


def _tokens(row: Row) -> float:
    return row.context_tokens.mean if row.context_tokens else 0.0


def _free(y: float, taken: Sequence[float]) -> float:
    """Return a height for a name that no other name has."""
    while any(abs(y - other) < 15 for other in taken):
        y += 3
    return y


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
        parts.append(_label(left, top + 12, title, "start", "strong"))
        parts += _dots(report, rows, name, frame)
    return _svg(lines * (panel + 22) + 20, parts, "By category")


def _dots(report: Report, rows: Sequence[tuple[int, Row]], name: str, frame: Frame) -> Iterator[str]:
    for share in (0.0, 0.5, 1.0):
        yield _line(frame.x(share), frame.top, frame.x(share), frame.bottom, "grid")
        yield _label(frame.x(share), frame.bottom + 14, f"{share:g}", "middle")
    for step, (place, row) in enumerate(rows):
        y = frame.top + 12 + 20 * step
        yield _label(frame.left - 6, y + 4, _short(row.system), "end")
        one = row.measures[report.main].everything.by_category.get(name)
        if one is None:
            continue
        if one.low is not None and one.high is not None:
            yield _line(frame.x(one.low), y, frame.x(one.high), y, f"bar c{place % COLOURS}")
        yield _mark(frame.x(one.mean), y, place, f"{row.system}, {name}: {words.sure(one)}, n = {one.questions}")


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
        parts.append(_label(left + 4, top + 12, title, "start", "strong"))
        for place, (row, value) in enumerate(zip(report.rows, values, strict=True)):
            y = top + 22 + 20 * place
            long = (half - 210) * value / most
            parts.append(_label(left + 118, y + 12, _short(row.system), "end"))
            parts.append(
                f'<rect x="{left + 124:.1f}" y="{y + 2:.1f}" width="{max(long, 0.5):.1f}" height="12" class="fill'
                f' c{place % COLOURS}"><title>{escape(row.system)}: {write(value)} {title}</title></rect>'
            )
            parts.append(_label(left + 130 + long, y + 12, write(value), "start"))
    return _svg(2 * (panel + 12) + 10, parts, "Cost per system")


def _seconds(value: float) -> str:
    return f"{value:,.1f} s" if value >= 0.1 else f"{value * 1000:.1f} ms"


def _mean(total: float, units: int) -> float:
    return total / units if units else 0.0


def _short(name: str) -> str:
    return name if len(name) <= 17 else f"{name[:16]}…"


def _ceiling(values: Sequence[float]) -> float:
    """Return a round end of the scale above all values."""
    return min(1.0, math.ceil(max([*values, 0.1]) * 10 + 0.2) / 10)


def _grid(frame: Frame, top: float) -> Iterator[str]:
    for step in range(6):
        y = frame.y(step / 5)
        yield _line(frame.left, y, frame.right, y, "grid")
        yield _label(frame.left - 8, y + 4, f"{top * step / 5:.2g}", "end")


def _whisker(x: float, one: Estimate, frame: Frame, top: float, place: int) -> Iterator[str]:
    if one.low is not None and one.high is not None:
        yield _line(x, frame.y(one.low / top), x, frame.y(min(one.high, top) / top), f"bar c{place % COLOURS}")


def _mark(x: float, y: float, place: int, what: str) -> str:
    colour, shape = f"fill c{place % COLOURS}", _SHAPES[(place // COLOURS + place) % len(_SHAPES)]
    title = f"<title>{escape(what)}</title>"
    drawn = {
        "circle": f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" class="{colour}">{title}</circle>',
        "ring": f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" class="hollow c{place % COLOURS}">{title}</circle>',
        "square": f'<rect x="{x - 4.5:.1f}" y="{y - 4.5:.1f}" width="9" height="9" class="{colour}">{title}</rect>',
    }
    paths = {
        "diamond": "M0 -6 L6 0 L0 6 L-6 0 Z",
        "triangle": "M0 -6 L5.5 4.5 L-5.5 4.5 Z",
        "cross": "M-5 -2 H-2 V-5 H2 V-2 H5 V2 H2 V5 H-2 V2 H-5 Z",
    }
    if shape in drawn:
        return drawn[shape]
    return f'<path d="{paths[shape]}" transform="translate({x:.1f} {y:.1f})" class="{colour}">{title}</path>'


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def _label(x: float, y: float, text: str, anchor: str, kind: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">{escape(text)}</text>'


def _svg(height: float, parts: Sequence[str], title: str) -> str:
    head = f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{escape(title)}">'
    return "\n".join([head, *parts, "</svg>"])
