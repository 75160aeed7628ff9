"""What plots are drawn with: pieces of inline SVG whose colours follow the page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ..statistics.bootstrap import Estimate  # noqa: TID252 - in a wheel, this package has another name

WIDTH = 760
_SHAPES = ("circle", "square", "diamond", "triangle", "ring", "cross")
COLOURS = 8
"""Classes `c0` to `c7` of the page; systems beyond share them, with another shape."""


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


def spread(wanted: Sequence[float], gap: float, last: float) -> list[float]:
    """Return places near those wanted, in the same order, at least a gap apart, and none behind the last one.

    Args:
        wanted: ascending.
        gap: between two of them.
        last: the end of the line.
    """
    placed: list[float] = []
    for place in wanted:
        placed.append(max(place, placed[-1] + gap) if placed else place)
    end = last
    for number in reversed(range(len(placed))):
        placed[number] = min(placed[number], end)
        end = placed[number] - gap
    return placed


def beside(wanted: Sequence[float], gap: float) -> list[float]:
    """Return places that are a gap apart where those wanted are nearer than that, in the order given."""
    placed: list[float] = []
    for place in wanted:
        at = place
        while any(abs(at - other) < gap for other in placed):
            at += gap
        placed.append(at)
    return placed


def grid(frame: Frame, top: float) -> Iterator[str]:
    """Yield five lines across, with the values they stand for."""
    for step in range(6):
        y = frame.y(step / 5)
        yield line(frame.left, y, frame.right, y, "grid")
        yield label(frame.left - 8, y + 4, f"{top * step / 5:.2g}", "end")


def whisker(x: float, one: Estimate, frame: Frame, top: float, place: int) -> Iterator[str]:
    """Yield an interval as an upright line."""
    if one.low is not None and one.high is not None:
        yield line(x, frame.y(one.low / top), x, frame.y(min(one.high, top) / top), f"bar c{place % COLOURS}")


def mark(x: float, y: float, place: int, what: str) -> str:
    """Return a mark in a system's colour and shape, which says what it is."""
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


def line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    """Return a line."""
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def label(x: float, y: float, text: str, anchor: str, kind: str = "") -> str:
    """Return a text."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">{escape(text)}</text>'


def svg(height: float, parts: Sequence[str], title: str) -> str:
    """Return the whole drawing."""
    head = f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" aria-label="{escape(title)}">'
    return "\n".join([head, *parts, "</svg>"])
