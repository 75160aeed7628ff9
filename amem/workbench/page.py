"""The report of a comparison as one HTML page: no script, no other file, readable from a file:// address."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING

from amem.values import Frozen
from amem.workbench.comparing import Compared
from amem.workbench.diffing import Row, messages_text, side_by_side, value_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.model import Usage
    from amem.workbench.comparing import Pair, Report, Totals
    from amem.workbench.scoring import Estimate
    from amem.workbench.trials import Trial

_TEMPLATE = "page.html.j2"
# Not allowed in HTML, even as a character reference; and overrides that make text read as what it is not.
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")


class Entry(Frozen):
    """One case as the page shows it."""

    case: Compared
    messages: tuple[Row, ...]
    replies: tuple[Row, ...]


class Line(Frozen):
    """One measure of the summary: its name, both sides, and what it means."""

    name: str
    a: str = ""
    b: str = ""
    about: str = ""


def page(pairs: Sequence[Pair], report: Report) -> str:
    """Return the whole page."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"shown": shown, "interval": interval, "tokens": tokens}
    template = environment.from_string(files("amem.workbench").joinpath(_TEMPLATE).read_text("utf-8"))
    entries = [_entry(pair, case) for pair, case in zip(pairs, report.cases, strict=True)]
    several = len(report.by_prompt) > 1
    sums = [*report.by_prompt, report.total] if several or not report.by_prompt else list(report.by_prompt)
    return template.render(report=report, entries=entries, sums=[(total, summary(total)) for total in sums]) + "\n"


def shown(text: str) -> str:
    """Write out the characters that HTML forbids, or that would change how others read."""
    return _FORBIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def summary(total: Totals) -> list[Line]:
    """Return the measures of both sides over the cases that both answered."""
    a, b = total.a, total.b
    lines = [
        Line(name="usable replies", a=f"{a.usable} of {total.answered}", b=f"{b.usable} of {total.answered}"),
        Line(
            name="links",
            a=str(a.links),
            b=str(b.links),
            about=f"{total.links_gained} gained, {total.links_lost} lost",
        ),
        Line(
            name="evolutions",
            a=str(a.evolutions),
            b=str(b.evolutions),
            about=f"{total.evolutions_gained} gained, {total.evolutions_lost} lost",
        ),
        Line(name="numbers invented", a=str(a.invented), b=str(b.invented)),
        Line(name="words given twice", a=str(a.repeated), b=str(b.repeated)),
        Line(
            name="script kept",
            a=f"{a.kept} of {a.texts}",
            b=f"{b.kept} of {b.texts}",
            about="texts in the script of their source",
        ),
        Line(name="length", a=f"{a.length:,}", b=f"{b.length:,}", about="characters of text"),
        Line(name="tokens asked", a=f"{a.usage.prompt_tokens:,}", b=f"{b.usage.prompt_tokens:,}"),
        Line(name="tokens answered", a=f"{a.usage.completion_tokens:,}", b=f"{b.usage.completion_tokens:,}"),
        Line(name="calls", a=str(a.usage.calls), b=str(b.usage.calls), about="second chances included"),
        Line(name="seconds", a=f"{a.usage.seconds:.1f}", b=f"{b.usage.seconds:.1f}", about="as recorded"),
        Line(name="cost", a=cost(a.usage.cost, a.usage.unpriced), b=cost(b.usage.cost, b.usage.unpriced)),
    ]
    return [
        *lines,
        Line(name="fields changed", b=f"{total.changed} of {total.fields}"),
        Line(name="keywords in common", b=ratio(total.keyword_overlap), about="Jaccard, averaged"),
        Line(name="tags in common", b=ratio(total.tag_overlap), about="Jaccard, averaged"),
    ]


def cost(usd: float, unpriced: int) -> str:
    """Return a price; what has none is said to be unknown, not free."""
    if unpriced and not usd:
        return "unknown"
    return f"${usd:.4f}" + (f" and {unpriced} calls of unknown price" if unpriced else "")


def ratio(value: float | None) -> str:
    """Return a share with two decimals, or a dash where there is nothing to compare."""
    return "-" if value is None else f"{value:.2f}"


def interval(found: Estimate) -> str:
    """Return a figure with its interval, or a dash where nothing was counted."""
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]" if found.count else "-"


def tokens(spent: Usage, of: int) -> str:
    """Return the tokens asked and answered for each of some cases."""
    return f"{spent.prompt_tokens / of:,.0f} + {spent.completion_tokens / of:,.0f}" if of else "-"


def _entry(pair: Pair, case: Compared) -> Entry:
    asked = side_by_side(_asked(pair.a), _asked(pair.b))
    replied = side_by_side(_said(pair.a), _said(pair.b), context=None)  # they are short, and read whole
    return Entry(case=case, messages=tuple(asked), replies=tuple(replied))


def _asked(trial: Trial) -> str:
    return messages_text(trial.request) if trial.request is not None else ""


def _said(trial: Trial) -> str:
    """Return what was understood, or else what was said."""
    return value_text(trial.value) if trial.usable else trial.said
