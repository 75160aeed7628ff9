"""Which LoCoMo answers are disputed: the third-party audit dial481/locomo-audit, as a list of questions.

It was made mostly by a language model and is no truth; results are given with and without these questions. The list
holds LoCoMo's text and is no part of this project.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .checking import read

if TYPE_CHECKING:
    from pathlib import Path


def load(path: Path) -> frozenset[tuple[str, int]]:
    """Read the questions whose answer is disputed, each as its conversation and its place in there.

    Questions of which only the cited evidence is disputed are left out.

    Raises:
        InputError: it cannot be read or departs from the schema, with the place.
    """
    root, _ = read(path)
    return frozenset(
        (item["sample_id"].text(), item["qa_index"].integer())
        for item in root["items"].items()
        if item["affects_score"].truth()
    )
