"""Where recall's weights come from: `python -m benchmarks.recall.fit --data locomo10.json`.

A listwise logistic model: of a question's candidates, each with its features as the production code gives them, the
evidence should have the probability. One number a feature, a small ridge on features of equal spread, Newton's method.
Every choice was made by fitting on two of the tuning conversations and asking the third, which is what the table shows;
the shipped weights are the fit on all three, rounded to two places. The reporting conversations are never read.
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from amem.recall.features import WEIGHTS, WEIGHTS_WITHOUT_VECTORS
from amem.recall.search import CANDIDATES
from amem.settings import Settings

from ..datasets import from_locomo, locomo  # noqa: TID252 - in a wheel, this package has another name
from .box import ids_of
from .indexing import indexed, own_memory
from .options import Options
from .report import OURS, Asked, breakdown
from .run import answerable
from .table import COLUMNS, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ..datasets.conversation import Dataset, Question  # noqa: TID252 - likewise
    from .reader import Reader

    Floats = NDArray[np.float64]

RIDGE = 20.0
FEATURES = tuple(WEIGHTS)
GROUPS = {
    "cover": ("cover",),
    "all dense": tuple(name for name in FEATURES if name.startswith("dense")),
    "dense of the neighbours": tuple(name for name in FEATURES if name.startswith("dense") and name != "dense"),
    "session": ("session",),
    "speaker": ("speaker",),
    "asks, answers": ("asks", "answers"),
    "time, when, date": ("time", "when", "date"),
}
"""What the ablation takes away together."""


class Example(NamedTuple):
    """One question with its candidates."""

    reader: Reader
    question: Question
    ids: list[str]
    values: Floats
    """A row for each candidate, a column for each of FEATURES."""
    wanted: Floats
    """The probability each candidate should have."""


async def examples(data: Dataset, settings: Settings, options: Options) -> list[Example]:
    """Return the questions of the tuning conversations, with the features of their candidates."""
    found = []
    ones = dict.fromkeys(FEATURES, 1.0)
    async with own_memory(settings, options) as rooms:
        for conversation in filter(lambda one: options.takes(one.id), data.conversations):
            box = await indexed(rooms, conversation, options)
            for question in answerable(conversation):
                asked = await box.search(question.question, question.at)
                ranked = box.rank(asked, weights=ones, candidates=options.limit())
                ids = ids_of(ranked, ranked.rows)
                evidence = set(question.evidence)
                hits = np.array([bool(evidence.intersection(box.reader.turns[i])) for i in ids], dtype=float)
                values = np.stack([ranked.parts[name] for name in FEATURES], axis=1)
                wanted = hits / max(hits.sum(), 1.0)
                found.append(Example(box.reader, question, ids, values, wanted))
    return found


def fit(chosen: Sequence[Example], names: Sequence[str], ridge: float = RIDGE) -> dict[str, float]:
    """Return the weights of some features under which the evidence is most probable."""
    columns = [FEATURES.index(name) for name in names]
    chosen = [one for one in chosen if one.wanted.any()]
    spread = np.concatenate([one.values[:, columns] for one in chosen]).std(axis=0) + 1e-9
    scaled = [(one.values[:, columns] / spread, one.wanted) for one in chosen]
    weights = np.zeros(len(columns))
    for _ in range(50):
        gradient, curvature = ridge * weights, ridge * np.eye(len(columns))
        for values, wanted in scaled:
            probable = _softmax(values @ weights)
            mean = probable @ values
            gradient += mean - wanted @ values
            curvature += values.T @ (probable[:, None] * values) - np.outer(mean, mean)
        step = np.linalg.solve(curvature, gradient)
        weights -= step * min(1.0, 1.0 / float(np.abs(step).max()))
        if np.abs(step).max() < 1e-9:
            break
    return dict(zip(names, (weights / spread).tolist(), strict=True))


def _softmax(scores: Floats) -> Floats:
    powers = np.exp(scores - scores.max())
    return np.asarray(powers / powers.sum())


def held_out(found: Sequence[Example], names: Sequence[str]) -> tuple[list[Asked], float]:
    """Ask each conversation with weights fitted on the others; return the results and the mean held-out loss."""
    asked, losses = [], []
    for conversation in dict.fromkeys(one.question.conversation for one in found):
        weights = fit([one for one in found if one.question.conversation != conversation], names)
        for one in found:
            if one.question.conversation == conversation:
                scores = one.values @ [weights.get(name, 0.0) for name in FEATURES]
                order = np.lexsort((np.array(one.ids), -np.round(scores, 9)))
                worth = one.reader.worth([one.ids[place] for place in order], one.question)
                asked.append(Asked(conversation, one.question.category, {OURS: worth}, {}))
                if one.wanted.any():
                    losses.append(-float(one.wanted @ np.log(_softmax(scores) + 1e-300)))
    return asked, sum(losses) / len(losses)


def main() -> None:
    """Fit, compare with what is shipped, and show what each part adds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="LoCoMo's locomo10.json")
    parser.add_argument("--keep", type=Path, help="keep the notes of the turns there, for further runs")
    parser.add_argument("--everything", action="store_true", help="fit on all notes instead of candidates")
    given = parser.parse_args()
    options = Options(keep=given.keep, candidates=None if given.everything else CANDIDATES)
    found = asyncio.run(examples(from_locomo.dataset(locomo.load(given.data)), Settings.load(), options))
    words = [name for name in FEATURES if not name.startswith("dense")]
    for title, names, shipped in (
        ("with vectors", FEATURES, WEIGHTS),
        ("without vectors", words, WEIGHTS_WITHOUT_VECTORS),
    ):
        fitted = fit(found, names)
        print(f"{title}, fitted (shipped):")
        print("  " + ", ".join(f"{name} {fitted[name]:.2f} ({shipped[name]:.2f})" for name in names))
    print(f"{'held out':26} loss  {' '.join(f'{label:5}' for label, _ in COLUMNS)}")
    for title, left_out in {"all features": (), **{f"- {name}": names for name, names in GROUPS.items()}}.items():
        asked, loss = held_out(found, [name for name in FEATURES if name not in left_out])
        scores = breakdown(asked, OURS)
        means = [number(getattr(scores, measure)) for _, measure in COLUMNS]
        print(f"{title:26} {loss:.3f} {' '.join(f'{mean:5}' for mean in means)}", flush=True)


if __name__ == "__main__":
    main()
