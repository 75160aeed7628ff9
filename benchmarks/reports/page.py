"""A report as one HTML page: no script, no other file, readable from a file:// address."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from amem.workbench.page import shown

from .drawing import COLOURS
from .facts import facts, opening
from .plots import plots
from .tables import tables

if TYPE_CHECKING:
    from .types import Report

_TEMPLATE = Path(__file__).parent / "page.html.j2"


def page(report: Report) -> str:
    """Return the whole page."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["shown"] = shown
    return (
        environment.from_string(_TEMPLATE.read_text("utf-8")).render(
            report=report,
            title=report.about.name or report.about.data,
            opening=opening(report),
            tables=list(tables(report)),
            plots=plots(report),
            facts=list(facts(report)),
            colours=COLOURS,
        )
        + "\n"
    )
