"""DialSim's and LongMemEval's formats through the whole runner, as LoCoMo's goes in test_runs.py."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from types import SimpleNamespace

import pytest
from benchmarks_support import BASELINES, RAW, fused, model_reader, plays, write_config
from dialsim_support import fixture_parts, write_pickles

from amem.errors import ModelRejected
from amem.interfaces.cli.shipped import benchmarks_module
from amem.testing.fault_server import FaultServer, fails

config = benchmarks_module("runs.config")
folders = benchmarks_module("runs.folder")
gathering = benchmarks_module("reports.gathering")
opening = benchmarks_module("datasets.opening")
runs = benchmarks_module("runs.run")
scoring = benchmarks_module("runs.scoring")
summing = benchmarks_module("reports.summing")

SHIPPED = Path(config.__file__).parents[1] / "configs" / "dialsim-extractive.toml"
SYSTEMS = ["none", "recent", "bm25", "hybrid", "amem_raw", "oracle"]
LONGMEMEVAL = Path(__file__).parents[1] / "fixtures" / "longmemeval_fixture.json"


def reported(path, folder, **given):
    asyncio.run(runs.run(config.load(path, **given), folder))
    asyncio.run(scoring.score(folder))
    found = gathering.read(folder)
    return SimpleNamespace(run=found, report=summing.report([found]), folder=folder)


def rows(made):
    return {row.system: row for row in made.report.rows}


def lines(folder, name):
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


# -- DialSim ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def synthetic(tmp_path_factory):
    """A small synthetic set under the shipped configuration."""
    folder = tmp_path_factory.mktemp("synthetic")
    shape = benchmarks_module("synthetic.size").Shape(size=0.15, conversations=2)
    benchmarks_module("synthetic.writing").write_dialsim(shape, folder / "shows")
    return reported(SHIPPED, folder / "run", data=folder / "shows")


def test_a_synthetic_set_is_run_by_the_shipped_configuration_and_called_synthetic(synthetic):
    assert [row.system for row in synthetic.report.rows] == SYSTEMS
    assert {row.answered for row in synthetic.report.rows} == {synthetic.report.about.questions}
    assert synthetic.report.about.data == "synthetic-dialsim"
    assert any("must not be called so" in line for line in synthetic.report.limits)


def test_every_system_has_the_same_budget_and_the_same_questions(synthetic):
    contexts = lines(synthetic.folder, "retrieval.jsonl")
    assert 0 < max(one["tokens"] for one in contexts) <= 500
    asked = {name: [one["unit"].partition(" ")[2] for one in contexts if one["unit"].startswith(f"{name} ")]
             for name in SYSTEMS}  # fmt: skip
    assert all(questions == asked["none"] for questions in asked.values())


def test_search_brings_more_evidence_than_the_end_of_the_talk_and_less_than_the_oracle(synthetic):
    found = {name: row.measures["evidence_shown"].everything.all.mean for name, row in rows(synthetic).items()}
    assert found["none"] == 0
    assert found["recent"] < min(found["bm25"], found["hybrid"], found["amem_raw"]) <= found["oracle"]
    assert found["oracle"] == 1


@pytest.fixture(scope="module")
def fixture_run(tmp_path_factory):
    """The fixture read by a model that always chooses (E)."""
    folder = tmp_path_factory.mktemp("dialsim")
    write_pickles(folder / "data", fixture_parts())
    with FaultServer(default=plays) as server:
        path = write_config(folder, "data", BASELINES, RAW, reader=model_reader(server.url))
        made = reported(path, folder / "run")
        return SimpleNamespace(**vars(made), bodies=server.bodies)


def test_a_reader_is_shown_the_options_and_no_kind_of_question(fixture_run):
    asked = [body["messages"][-1]["content"] for body in fixture_run.bodies]
    assert all("<options>" in text and "(E) I don't know" in text for text in asked)
    sent = json.dumps(fixture_run.bodies)
    assert not [name for name in ("past_past", "unans", "ans_w_time", "evidence") if name in sent]


@pytest.mark.parametrize(("answers", "compared"), [("structured", False), ("open", True)])
def test_words_are_compared_where_words_are_asked_for(tmp_path, answers, compared):
    write_pickles(tmp_path / "data", fixture_parts("friends"))
    path = write_config(tmp_path, "data", RAW, wanted=f'answers = "{answers}"')
    measures = rows(reported(path, tmp_path / "run"))["amem_raw"].measures
    assert ("amem_f1" in measures) == ("amem_similarity" in measures) == compared
    assert "strict" in measures


def test_who_always_chooses_e_scores_as_the_reference_that_does(fixture_run):
    references = {one.name: one.summary.everything.all.mean for one in fixture_run.report.references}
    assert references["chance"] == pytest.approx(0.2)
    for row in rows(fixture_run).values():
        strict, lenient = (row.measures[key].everything.all.mean for key in ("strict", "lenient"))
        assert strict == lenient == references["always (E)"] > 0
        assert (row.refusals.answered, row.refusals.wrongly_answered) == (0, 0)


def test_answers_that_came_late_are_counted_against_both_limits(fixture_run, tmp_path):
    late = rows(fixture_run)["bm25"].late
    assert [(one.limit, one.share.mean) for one in late.limits] == [(5.0, 0.0), (6.0, 0.0)]
    measured = lines(fixture_run.folder, "measured.jsonl")
    slow = next(one for one in measured if one["unit"].startswith("answer bm25 "))
    changed = tmp_path / "changed"
    changed.mkdir()
    for file in fixture_run.folder.iterdir():
        if file.is_file() and file.name != "lock":
            (changed / file.name).write_bytes(file.read_bytes())
    with (changed / "measured.jsonl").open("a") as file:
        file.write(json.dumps({**slow, "seconds": 5.5}) + "\n")
    found = next(row for row in summing.report([gathering.read(changed)]).rows if row.system == "bm25")
    five, six = found.late.limits
    assert five.share.mean == pytest.approx(1 / found.answered)
    assert five.strict.mean <= six.strict.mean == found.measures["strict"].everything.all.mean
    assert six.share.mean == 0


def test_what_was_asked_in_the_middle_is_searched_for_in_what_was_known_then_also_after_an_outage(tmp_path):
    write_pickles(tmp_path / "data", fixture_parts("friends"))
    answers = {}
    for name, breaks in (("whole", False), ("broken", True)):
        with FaultServer(default=plays) as server:
            path = write_config(tmp_path, "data", fused(server.url), reader='kind = "extractive"')
            if breaks:
                server.default = lambda seen: plays(seen) if len(server.requests) <= 5 else fails(401, "no such key")
                with pytest.raises(ModelRejected):
                    asyncio.run(runs.run(config.load(path), tmp_path / name))
                server.default = plays
            asyncio.run(runs.run(config.load(path), tmp_path / name))
        answers[name] = [(tmp_path / name / file).read_bytes() for file in ("retrieval.jsonl", "answers.jsonl")]
    assert answers["whole"] == answers["broken"]
    (talk,) = opening.open_dataset(tmp_path / "data", shows=("friends",)).conversations
    place = {turn.id: number for number, turn in enumerate(talk.turns)}
    asked = {question.key: question.after for question in talk.questions}
    for one in lines(tmp_path / "whole", "retrieval.jsonl"):
        assert all(place[turn] < asked[one["unit"].partition(" ")[2]] for turn in one["shown"])


# -- LongMemEval -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def long_memory(tmp_path_factory):
    folder = tmp_path_factory.mktemp("longmemeval")
    (folder / "data.json").write_bytes(LONGMEMEVAL.read_bytes())
    oracle = '\n[[systems]]\nkind = "oracle_sessions"\n'
    return reported(write_config(folder, "data.json", BASELINES, RAW, oracle), folder / "run")


def test_longmemevals_questions_each_have_a_memory_of_their_own(long_memory):
    assert long_memory.report.main == "right_words"
    assert {(row.asked, row.answered) for row in long_memory.report.rows} == {(7, 7)}
    assert len(long_memory.run.folder.ingest.records()) == 7 * len(long_memory.report.rows)
    by_type = rows(long_memory)["amem_raw"].measures["right_words"].everything.by_category
    assert {"single-session-user", "knowledge-update", "temporal-reasoning", "multi-session"} <= by_type.keys()


def test_a_question_without_an_answer_is_right_if_refused(long_memory):
    matrix = rows(long_memory)["none"].refusals
    assert (matrix.rightly_refused, matrix.wrongly_answered, matrix.answered) == (1, 0, 0)
    assert rows(long_memory)["none"].measures["right_words"].everything.all.mean == pytest.approx(1 / 7)


def test_the_ids_that_give_the_evidence_away_reach_no_system_and_no_report(long_memory):
    contexts = [one["text"] for one in lines(long_memory.folder, "retrieval.jsonl")]
    assert not [text for text in contexts if "answer_" in text or "has_answer" in text or "_abs" in text]
    shown = {row.system: row.measures["sessions_shown"].everything.all.mean for row in long_memory.report.rows}
    assert shown["full_context"] == 1
    assert shown["none"] == 0
