"""What `check` and `diff` show on a terminal; texts of prompts and replies pass through `visible`."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rich.text import Text

from amem.interfaces.cli.terminal import counted, one_line, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from amem.workbench.checking import Checked, Finding
    from amem.workbench.differing import Difference

_LISTED = 12
"""Recordings named of a group; --json names all."""


def difference(found: Difference) -> list[RenderableType]:
    """Show what two wordings ask, and what they were answered."""
    parts: list[RenderableType] = [Text(f"{found.prompt}  {found.case} {one_line(found.name)}".rstrip(), style="bold")]
    for title, lines in (("asked", found.asked), ("replied", found.replied)):
        if lines:
            parts += [Text(f"--- {title}", style="bold cyan"), *map(diff_line, lines)]
    if found.remark:
        parts.append(Text(one_line(found.remark), style="yellow"))
    return parts


def diff_line(line: str) -> Text:
    """Colour one line of a unified diff."""
    styles = {"+": "green", "-": "red", "@": "cyan"}
    return Text(visible(line), style=styles.get(line[:1], ""))


def findings(checked: Checked) -> Iterator[RenderableType]:
    """Show what `check` found: each kind of fault of each prompt once, with its recordings and its remedy."""

    def group(finding: Finding) -> tuple[str, ...]:
        return finding.prompt, finding.kind, finding.root, finding.fix

    for _, alike in groupby(sorted(checked.findings, key=group), key=group):
        yield from _alike(list(alike))


def _alike(found: Sequence[Finding]) -> Iterator[RenderableType]:
    first = found[0]
    how_many = f", {counted(len(found), 'recording')}" if first.path else ""
    yield Text.assemble((f"{first.prompt}: {first.kind}{how_many}", "bold red"), f"\n   {one_line(first.problem)}")
    for finding in found[:_LISTED]:
        if finding.path:
            yield Text(f"   {one_line(finding.root)}/{one_line(finding.path)}", style="dim")
    if len(found) > _LISTED:
        yield Text(f"   and {len(found) - _LISTED} more", style="dim")
    yield from (diff_line(line) for line in first.diff)
    if first.fix:
        yield Text.assemble("   fix: ", (first.fix, "bold"))
