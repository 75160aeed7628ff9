"""What two wordings ask of one case, and what they were answered, as unified diffs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.values import Frozen
from amem.workbench.diffing import messages_text, unified, value_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amem.prompts import PromptSet
    from amem.workbench.comparing import Pair

    Labels = tuple[str, str]


class Difference(Frozen):
    """One case, or one template, in two wordings; no lines where they are equal."""

    prompt: str
    case: str = ""
    """Empty for templates."""
    name: str = ""
    asked: tuple[str, ...] = ()
    replied: tuple[str, ...] = ()
    remark: str = ""
    """Why there is nothing to compare."""


def of_pair(pair: Pair, labels: Labels) -> Difference:
    """Compare the messages of one case, and the replies where both have one."""
    a, b = pair.a, pair.b
    about = {"prompt": pair.case.prompt, "case": pair.case.id, "name": pair.case.name}
    if a.request is None or b.request is None:
        return Difference(**about, remark=a.problem if a.request is None else b.problem)
    asked = tuple(unified(messages_text(a.request), messages_text(b.request), labels))
    missing = [label for label, trial in zip(labels, (a, b), strict=True) if trial.missing]
    if missing:
        return Difference(**about, asked=asked, remark=f"no reply is recorded for {' and '.join(missing)}")
    one, two = (value_text(trial.value) if trial.usable else trial.said for trial in (a, b))
    return Difference(**about, asked=asked, replied=tuple(unified(one, two, labels)))


def of_sources(names: Sequence[str], first: PromptSet, second: PromptSet, labels: Labels) -> list[Difference]:
    """Compare the template files."""
    return [
        Difference(prompt=name, asked=tuple(unified(first.get(name).source, second.get(name).source, labels)))
        for name in names
    ]
