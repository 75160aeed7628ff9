from __future__ import annotations

import json
import math
import os
from pathlib import Path

import pytest
from locomo_support import write_mini

from amem import onnx
from amem.embedding import HashEmbedder
from amem.errors import InputError
from amem.interfaces.cli.shipped import benchmarks_module

golden = benchmarks_module("selftest.golden")
floors = benchmarks_module("selftest.floors")
retrieval = benchmarks_module("selftest.retrieval")
selftest = benchmarks_module("selftest.run")
overlap = benchmarks_module("metrics.overlap")
locomo = benchmarks_module("datasets.locomo")
disputed = benchmarks_module("datasets.disputed")

LOCOMO, GOLDEN, DISPUTED = (os.environ.get(f"AMEM_{name}") for name in ("LOCOMO", "GOLDEN", "LOCOMO_DISPUTED"))
real_file = pytest.mark.skipif(LOCOMO is None, reason="AMEM_LOCOMO does not name the official locomo10.json")
more_golden = pytest.mark.skipif(GOLDEN is None, reason="AMEM_GOLDEN names no folder of further golden values")
real_list = pytest.mark.skipif(DISPUTED is None, reason="AMEM_LOCOMO_DISPUTED does not name the list of disputed items")


async def checks(path, embedder=None):
    return await golden.golden_checks(path, overlap.Scorer(), embedder or HashEmbedder())


def changed(tmp_path, change):
    data = json.loads(golden.SHIPPED[0].read_text())
    change(data["examples"])
    path = tmp_path / "golden.json"
    path.write_text(json.dumps(data))
    return path


async def test_both_families_of_metrics_give_the_golden_values_that_ship():
    found = await checks(golden.SHIPPED[0])
    assert len(found) > 200
    assert [check for check in found if not check.holds] == []


async def test_dialsims_strict_verdicts_are_the_golden_ones_that_ship():
    found = await checks(golden.SHIPPED[1])
    assert {check.expected for check in found} == {"correct", "wrong", "ambiguous"}
    assert [check for check in found if not check.holds] == []


@more_golden
@pytest.mark.parametrize("name", ["golden_metrics.json", "golden_dialsim_judge.json"])
async def test_further_golden_values_are_met(name):
    found = await checks(Path(GOLDEN) / name, onnx.minilm())
    assert len(found) >= 17
    assert [check for check in found if not check.holds] == []


async def test_a_value_that_deviates_by_little_more_than_the_tolerance_is_found(tmp_path):
    def change(examples):
        examples[0]["amem_bleu4"] += 2e-6
        examples[1]["official_f1_split"] += 5e-7

    found = [check for check in await checks(changed(tmp_path, change)) if not check.holds]
    assert [check.name for check in found] == ["a date, the same: A-Mem's bleu4"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda examples: examples[2].pop("official_em"), r"examples\[2\]: expected an object with the key"),
        (lambda examples: examples[0].update(amem_f1="1"), r"examples\[0\]\.amem_f1: expected a number, found text"),
        (lambda examples: examples[0].update(prediction=7), r"examples\[0\]\.prediction: expected text"),
    ],
)
async def test_a_file_of_another_form_is_refused_with_the_place(tmp_path, change, message):
    with pytest.raises(InputError, match=message):
        await checks(changed(tmp_path, change))


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ({"true": "(F)", "answer": "", "judge_result": "Wrong"}, r"judge\[0\]\.true: expected a letter"),
        ({"true": "(A)", "answer": "", "judge_result": "?"}, r"judge\[0\]\.judge_result: expected one of Correct"),
    ],
)
async def test_a_verdict_of_another_form_is_refused_with_the_place(tmp_path, case, message):
    path = tmp_path / "judge.json"
    path.write_text(json.dumps({"judge": [case]}))
    with pytest.raises(InputError, match=message):
        await checks(path)


def test_the_answerers_know_everything_or_nothing(tmp_path):
    questions = locomo.load(write_mini(tmp_path)).conversations[0].questions
    said = {name: [answer(questions[0]), answer(questions[4])] for name, answer in floors.answerers().items()}
    refusal = "Not mentioned in the conversation"
    assert said == {
        "gold, refuses the adversarial": ["a sailing boat", refusal],
        "gold, falls into every trap": ["a sailing boat", "red"],
        "always refuses": [refusal, refusal],
        "echoes the question": ["What kind of boat did Ana buy?", "What colour is the hull of Ben's car?"],
        "always says yes": ["Yes", "Yes"],
    }
    assert said.keys() == floors.FLOORS.keys()


def test_okapi_scores_as_the_formula_says():
    bm25 = retrieval.Okapi(["red boat", "red car car", "red house in Oslo", "Oslo"])
    idf = {"car": math.log(3.5 / 1.5), "oslo": math.log(2.5 / 2.5), "red": math.log(1.5 / 3.5)}
    mean = (3 * math.log(3.5 / 1.5) + math.log(3.5 / 1.5) + idf["oslo"] + idf["red"]) / 6
    norm = 1.5 * (0.25 + 0.75 * 3 / 2.5)
    expected = 2 * idf["car"] * 2 * 2.5 / (2 + norm) + 0.25 * mean * 2.5 / (1 + norm)
    assert bm25.scores("Car, car red sky")[1] == pytest.approx(expected)
    assert bm25.scores("sky").tolist() == [0.0] * 4


async def test_another_file_deviates_and_each_deviation_is_named(tmp_path):
    moved = []
    data = locomo.load(write_mini(tmp_path))
    report = await selftest.selftest(data, [], HashEmbedder(), progress=lambda *step: moved.append(step))
    names = [one.name for one in report.deviations]
    assert names[0] == "SHA-256 of the file"
    assert "always refuses: official score, categories all" in names
    assert not [name for name in names if "date" in name]  # the golden values hold whatever the file
    assert report.checked > 250
    assert moved[-1] == (42, 42)
    assert set(report.versions) == {"amem", "nltk", "rouge-score", "numpy", "WordNet"}


@pytest.mark.slow
@real_file
async def test_the_official_file_has_the_published_floors_and_ceilings():
    report = await selftest.selftest(locomo.load(Path(LOCOMO)), [], HashEmbedder())
    assert report.deviations == ()
    assert report.checked > 300


def test_disputed_answers_are_read_and_disputed_citations_are_not(tmp_path):
    path = tmp_path / "disputed.json"
    rows = [{"sample_id": "conv-26", "qa_index": 1, "affects_score": False},
            {"sample_id": "conv-26", "qa_index": 2, "affects_score": True}]  # fmt: skip
    path.write_text(json.dumps({"items": rows}))
    assert disputed.load(path) == {("conv-26", 2)}
    path.write_text(json.dumps({"items": [{**rows[0], "affects_score": "yes"}]}))
    with pytest.raises(InputError, match=r"items\[0\]\.affects_score: expected true or false, found text 'yes'"):
        disputed.load(path)


@real_list
def test_the_audit_disputes_99_answers():
    assert len(disputed.load(Path(DISPUTED))) == 99
