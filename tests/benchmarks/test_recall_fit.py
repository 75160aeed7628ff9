from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from locomo_support import write_mini

from amem.interfaces.cli.shipped import benchmarks_module
from amem.settings import Settings

fit = benchmarks_module("recall.fit")
from_locomo = benchmarks_module("datasets.from_locomo")
locomo = benchmarks_module("datasets.locomo")
options = benchmarks_module("recall.options")


def example(values, wanted):
    """An example of two features, cover and date; the others are 0."""
    whole = np.zeros((len(values), len(fit.FEATURES)))
    whole[:, [fit.FEATURES.index("cover"), fit.FEATURES.index("date")]] = values
    return fit.Example(None, None, [str(i) for i in range(len(values))], whole, np.asarray(wanted, dtype=float))


def invented(seed=1, count=400):
    """Questions whose evidence is drawn by the weights 3 and -1."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        values = random.standard_normal((12, 2))
        powers = np.exp(values @ [3.0, -1.0])
        yield example(values, np.eye(12)[random.choice(12, p=powers / powers.sum())])


def test_the_weights_that_evidence_was_drawn_by_are_found():
    weights = fit.fit(list(invented()), ["cover", "date"], ridge=1e-6)
    assert weights["cover"] == pytest.approx(3.0, abs=0.4)
    assert weights["date"] == pytest.approx(-1.0, abs=0.3)


def test_no_other_weights_make_the_evidence_more_probable():
    found = list(invented(count=40))

    def loss(cover, date):
        scores = [
            one.values @ [{"cover": cover, "date": date}.get(name, 0.0) for name in fit.FEATURES] for one in found
        ]
        return -sum(float(one.wanted @ np.log(fit._softmax(s))) for one, s in zip(found, scores, strict=True))

    best = fit.fit(found, ["cover", "date"], ridge=1e-9)
    least = loss(best["cover"], best["date"])
    for step in (-0.01, 0.01):
        assert loss(best["cover"] + step, best["date"]) > least
        assert loss(best["cover"], best["date"] + step) > least


def test_a_ridge_draws_weights_to_nothing():
    assert abs(fit.fit(list(invented(count=40)), ["cover"], ridge=1e6)["cover"]) < 0.01


def test_questions_whose_evidence_is_no_candidate_teach_nothing():
    found = list(invented(count=40))
    lost = example([[9.0, 9.0], [0.0, 0.0]], [0.0, 0.0])
    assert fit.fit([*found, lost], ["cover"]) == fit.fit(found, ["cover"])


async def test_only_tuning_conversations_are_read_with_the_features_of_production(tmp_path):
    data = from_locomo.dataset(locomo.load(write_mini(tmp_path)))
    found = await fit.examples(data, Settings.load(embedding="hash"), options.Options())
    assert {one.question.conversation for one in found} == {"conv-26"}
    boat = found[0]
    assert boat.question.question == "What kind of boat did Ana buy?"
    assert boat.wanted.sum() == 1.0
    (place,) = np.flatnonzero(boat.wanted)
    assert boat.values[place, fit.FEATURES.index("speaker")] == 1.0
    assert boat.values[place, fit.FEATURES.index("cover")] == boat.values[:, fit.FEATURES.index("cover")].max()


def test_the_documentation_tells_the_shipped_weights():
    text = (Path(__file__).parents[2] / "docs" / "recall.md").read_text(encoding="utf-8")
    told = [{}, {}]  # with vectors, and without
    for line in filter(lambda line: line.startswith("| `"), text.splitlines()):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        names = [name for name in fit.FEATURES if f"`{name}`" in cells[0]]
        for column, weights in zip(cells[1:3], told, strict=False):
            weights.update(zip(names, map(float, filter(None, column.split(", "))), strict=False))
    assert told == [dict(fit.WEIGHTS), dict(fit.WEIGHTS_WITHOUT_VECTORS)]
