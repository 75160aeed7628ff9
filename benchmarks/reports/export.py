"""Writing a report: only ids, scores and what is made of them. What may not be passed on is not in these files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from amem.llm.recording_file import write_whole
from amem.values import canonical_json

from ..runs.folder import SCORES  # noqa: TID252 - in a wheel, this package has another name
from .markdown import markdown
from .page import page

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from .gathering import Run
    from .types import Report

MARKDOWN, PAGE, NUMBERS = "report.md", "report.html", "report.json"


def export(report: Report, runs: Sequence[Run], folder: Path) -> list[Path]:
    """Write a report and the scores it is made of; return the files.

    Args:
        report: as summed up.
        runs: what it was made of.
        folder: where to write.
    """
    numbers = json.dumps(report.model_dump(mode="json"), ensure_ascii=False, indent=1)
    scores = "".join(f"{canonical_json(one.model_dump(mode='json'))}\n" for run in runs for one in run.scores)
    texts = {MARKDOWN: markdown(report), PAGE: page(report), NUMBERS: f"{numbers}\n", SCORES: scores}
    for name, text in texts.items():
        write_whole(folder / name, text.encode("utf-8", "replace"))
    return [folder / name for name in texts]
