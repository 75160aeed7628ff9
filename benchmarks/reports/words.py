"""Numbers as people read them: short, the same everywhere, and never without how sure they are."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..statistics.bootstrap import Estimate  # noqa: TID252 - in a wheel, this package has another name
    from ..statistics.cost import Latency, Side  # noqa: TID252 - likewise

NONE = "\u2013"
"""A dash: there is no such number."""
_MINUS = "\u2212"


def share(value: float | None) -> str:
    """Write a share: `.867`, `1.000`."""
    if value is None:
        return NONE
    text = f"{abs(value):.3f}"
    return f"{_MINUS if value < 0 and float(text) else ''}{text.removeprefix('0') if text != '0.000' else '0'}"


def signed(value: float | None) -> str:
    """Write a difference: `+.034`."""
    if value is None:
        return NONE
    return share(value) if value < 0 or share(value) == "0" else f"+{share(value)}"


def sure(found: Estimate | None, *, difference: bool = False) -> str:
    """Write a mean with its interval: `.249 [.121, .390]`."""
    if found is None:
        return NONE
    write = signed if difference else share
    if found.low is None or found.high is None:
        return write(found.mean)
    return f"{write(found.mean)} [{write(found.low)}, {write(found.high)}]"


def count(value: float | None) -> str:
    """Write a number of things: `1,234`, `3.2`."""
    if value is None:
        return NONE
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:,.1f}"


def milliseconds(found: Latency | None) -> str:
    """Write two quantiles: `12 / 40 ms`, `1.2 / 3.4 s`."""
    if found is None:
        return NONE
    if found.p95_ms < 1000:
        return f"{found.p50_ms:.0f} / {found.p95_ms:.0f} ms"
    return f"{found.p50_ms / 1000:.1f} / {found.p95_ms / 1000:.1f} s"


def money(side: Side) -> str:
    """Write a price; one that is not known is not free."""
    if not side.total.calls:
        return "0"
    return "unknown" if side.money is None else f"${side.money:.4f}"


def size(value: int | None) -> str:
    """Write a number of bytes."""
    if value is None:
        return NONE
    return f"{value / 1e6:.1f} MB" if value >= 100_000 else f"{value / 1e3:.1f} kB"
