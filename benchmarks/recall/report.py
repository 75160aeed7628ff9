"""The results: what is printed as JSON, and how it is summed up from single questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from amem.values import Frozen

from ..metrics.evidence import BUDGETS, KS  # noqa: TID252 - in a wheel, this package has another name
from ..statistics.bootstrap import interval  # noqa: TID252 - likewise
from ..statistics.cost import Latency, latency  # noqa: TID252 - likewise
from .baselines import NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from ..metrics.evidence import Worth  # noqa: TID252 - likewise

    Floats = NDArray[np.float64]

OURS, WITH_CUES, CUES_ALONE = "amem", "amem_with_reconstruction", "reconstruction"
RECALLS = (*(f"recall_at_{k}" for k in KS), *(f"recall_within_{budget}_tokens" for budget in BUDGETS))
MEASURES = (*RECALLS, *(f"answer_within_{budget}_tokens" for budget in BUDGETS))
_DIGITS = 4


class Asked(NamedTuple):
    """One question, and what each system's ranking was worth to it."""

    conversation: str
    category: str
    worth: Mapping[str, Worth]
    """By system: OURS, its variants, and the baselines."""
    seconds: Mapping[str, float]
    """By stage."""


class Scores(Frozen):
    """Means over questions."""

    questions: int
    recall_at_5: float
    recall_at_10: float
    recall_at_20: float
    recall_within_500_tokens: float
    recall_within_1000_tokens: float
    recall_within_2000_tokens: float
    answer_within_500_tokens: float | None
    """Share of the questions with an answer whose answer's words stand in the context; None where there are none."""
    answer_within_1000_tokens: float | None
    answer_within_2000_tokens: float | None


class Breakdown(Scores):
    """Means over all questions, and over parts of them."""

    by_category: dict[str, Scores]
    """By LoCoMo's number: 1 multi-hop, 2 temporal, 3 open-domain, 4 single-hop, 5 adversarial."""
    by_conversation: dict[str, Scores]
    interval: dict[str, tuple[float, float]]
    """95 % of a bootstrap by conversation, for each recall; empty where there is one conversation only."""


class SetReport(Breakdown):
    """The results of recall on one set of conversations, with those of the baselines."""

    baselines: dict[str, Breakdown]
    variants: dict[str, Breakdown]
    """Recall with reconstruction, and reconstruction alone, where that was asked for."""
    left_out: int
    """Questions that were not asked, since nothing is known of their evidence, or it was not imported."""
    latency: dict[str, Latency]
    """`embed`: embedding the question. `search`: all else that a search for ten notes does, as users have it. `rank`:
    its part from the vector to the ranking, with the run's own candidates and weights."""


class About(Frozen):
    """What was measured with what."""

    data_sha256: str
    notes: str
    """`raw turns`, or the memory that was measured."""
    set: str
    now: str
    tokenizer: str
    embedding: str
    index: str
    candidates: int | None
    """Of each arm; null where every note was scored."""
    ablated: tuple[str, ...]
    weights: dict[str, float]
    versions: dict[str, str]
    machine: str
    seconds: float
    warnings: tuple[str, ...]


class Report(Frozen):
    """The whole result; a set that was not asked for, or of which the file has no conversation, is null."""

    about: About
    tuning: SetReport | None = None
    reporting: SetReport | None = None
    all: SetReport | None = None


def set_report(asked: Sequence[Asked], left_out: int) -> SetReport | None:
    """Sum up the questions of a set; None where it has none."""
    if not asked:
        return None
    return SetReport(
        **dict(breakdown(asked, OURS)),
        baselines={name: breakdown(asked, name) for name in NAMES},
        variants={name: breakdown(asked, name) for name in (WITH_CUES, CUES_ALONE) if name in asked[0].worth},
        left_out=left_out,
        latency={stage: latency([one.seconds[stage] for one in asked]) for stage in asked[0].seconds},
    )


def breakdown(asked: Sequence[Asked], system: str) -> Breakdown:
    """Sum up one system's questions."""
    values = np.array([_row(one.worth[system]) for one in asked])
    conversations = [one.conversation for one in asked]
    spans = {name: interval(values[:, place], conversations) for place, name in enumerate(RECALLS)}
    return Breakdown.model_validate(
        {
            **_means(values),
            "by_category": _parts(values, [one.category for one in asked]),
            "by_conversation": _parts(values, conversations),
            "interval": {name: _rounded(span) for name, span in spans.items() if span is not None},
        }
    )


def _row(worth: Worth) -> list[float]:
    """Return one question's measures, in the order of MEASURES; NaN where there is no answer to look for."""
    answers = worth.answer_within or [float("nan")] * len(BUDGETS)
    return [*worth.recall_at, *worth.recall_within, *map(float, answers)]


def _parts(values: Floats, of: Sequence[str]) -> dict[str, dict[str, float | None]]:
    names = np.asarray(of)
    return {str(name): _means(values[names == name]) for name in np.unique(names)}


def _means(values: Floats) -> dict[str, float | None]:
    known = [column[~np.isnan(column)] for column in values.T]
    means = [round(float(column.mean()), _DIGITS) if len(column) else None for column in known]
    return {"questions": len(values), **dict(zip(MEASURES, means, strict=True))}


def _rounded(span: tuple[float, float]) -> tuple[float, float]:
    return round(span[0], _DIGITS), round(span[1], _DIGITS)
