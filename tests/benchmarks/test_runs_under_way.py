"""Runs that are not done: what is known of them, what can be reported, and what is refused before hours of work."""

from __future__ import annotations

import asyncio
import json
import time

import pytest
from benchmarks_support import BASELINES, RAW, model_reader, plays, write_config
from locomo_support import write_mini

from amem.errors import InputError, ModelRejected
from amem.interfaces.cli.shipped import benchmarks_module
from amem.testing import ScriptedLLM
from amem.testing.fault_server import FaultServer, fails

calls = benchmarks_module("runs.calls")
config = benchmarks_module("runs.config")
facts = benchmarks_module("reports.facts")
folders = benchmarks_module("runs.folder")
gathering = benchmarks_module("reports.gathering")
journal = benchmarks_module("runs.journal")
judging = benchmarks_module("runs.judging")
markdown = benchmarks_module("reports.markdown")
page = benchmarks_module("reports.page")
runs = benchmarks_module("runs.run")
scoring = benchmarks_module("runs.scoring")
summing = benchmarks_module("reports.summing")
work = benchmarks_module("runs.work")


@pytest.fixture
def mini(tmp_path):
    return write_mini(tmp_path).name


async def test_a_process_that_cannot_go_on_says_when_it_ended(tmp_path, mini):
    with FaultServer(default=fails(401, "no such key")) as server:
        path = write_config(tmp_path, mini, RAW, reader=model_reader(server.url))
        with pytest.raises(ModelRejected):
            await runs.run(config.load(path), tmp_path / "run")
    (sitting,) = folders.read_manifest(tmp_path / "run").sittings
    assert sitting.ended is not None


async def test_of_a_process_that_is_killed_it_is_known_when_it_was_last_at_work(tmp_path, mini, monkeypatch):
    monkeypatch.setattr(runs, "_SEEN_EVERY", 0.0)
    seen = []

    def told(_step):
        seen.append(folders.read_manifest(tmp_path / "run").sittings[-1])

    await runs.run(config.load(write_config(tmp_path, mini, RAW)), tmp_path / "run", progress=told)
    assert all(one.seen is not None and one.ended is None for one in seen)


def test_hours_are_those_of_work_and_not_of_the_pauses_between(tmp_path, mini):
    async def run():
        await runs.run(config.load(write_config(tmp_path, mini, RAW)), tmp_path / "run")
        await scoring.score(tmp_path / "run")

    asyncio.run(run())
    report = summing.report([gathering.read(tmp_path / "run")])
    (one,) = report.about.sittings

    def at(started, ended, seen):
        moments = {"started": started, "ended": ended, "seen": seen}
        return one.model_copy(
            update={name: moment and f"2026-01-0{moment}:00+00:00" for name, moment in moments.items()}
        )

    sittings = (at("1T08:00", "1T09:00", "1T09:00"), at("3T08:00", None, "3T08:30"), at("5T08:00", None, None))
    said = facts.worked(report.model_copy(update={"about": report.about.model_copy(update={"sittings": sittings})}))
    assert said.startswith(
        "1.50 hours in 2 sittings, without the pauses between them, 1 that did not end counted until last seen at work,"
        " without 1 of which no end is known; writing"
    )


async def test_a_run_is_scored_and_reported_while_it_is_under_way(tmp_path, mini):
    await runs.run(config.load(write_config(tmp_path, mini, BASELINES, RAW)), tmp_path / "run")
    answers = tmp_path / "run" / "answers.jsonl"
    kept = answers.read_text().splitlines(keepends=True)[:10]  # of 7 each: the first system's, and 3 of the next one
    answers.write_text("".join(kept))
    with journal.alone(tmp_path / "run"):
        await scoring.score(tmp_path / "run")
        report = summing.report([gathering.read(tmp_path / "run")])
    assert report.unfinished == (
        "full_context: 3 of 7 questions answered",
        *(f"{name}: none of 7 questions answered" for name in ("bm25", "dense", "amem_raw")),
    )
    for shown in (markdown.markdown(report), page.page(report)):
        assert shown.index("Not finished") < shown.index("bm25: none of 7 questions answered") < shown.index("Results")
        assert "3 of 7" in shown
    (always,) = report.references
    assert always.summary.everything.all.questions == 7  # and not of those that one system came to
    answers.write_text("".join([*kept, kept[-1].replace("#2", "#3")]))
    assert summing.report([gathering.read(tmp_path / "run")]).unfinished[-1] == (
        "answers that came after the scores were made: 1; `amem bench score` takes them in"
    )


async def test_where_no_run_is_nothing_is_laid_down(tmp_path):
    nowhere = tmp_path / "nowhere"
    with pytest.raises(InputError, match="there is no run"):
        await scoring.score(nowhere)
    with pytest.raises(InputError, match="there is no run"):
        await judging.judge(nowhere, config.Model(name="openai/x"), ("strict",), cases=0)
    assert not nowhere.exists()


async def test_opening_a_model_is_not_counted_as_the_time_of_its_first_call(tmp_path):
    def slowly():
        time.sleep(1.0)
        return ScriptedLLM({"answer": {"memories": [], "answer": "Oslo"}})

    client = calls.Calls(tmp_path).client(calls.Live("scripted", slowly), "answer")
    readers = benchmarks_module("readers.protocol")
    asked = readers.Asked(system="x", key="k", question="Where?", context="[1] 2023-05-08 Ben: In Oslo.")
    watch = work.Watch(client)
    with watch:
        said = await benchmarks_module("readers.llm").ModelReader().answer(asked, client)
    assert said.text == "Oslo"
    assert watch.read("answer").seconds < 0.9


async def test_models_of_one_name_that_are_not_the_same_are_not_put_together(tmp_path, mini):
    found = []
    with FaultServer(default=plays) as server:
        for about in ("1.5 billion parameters", "32 billion parameters"):
            reader = model_reader(server.url).replace("model = {", f'model = {{ about = "{about}",')
            folder = tmp_path / about[:2].strip(".")
            await runs.run(config.load(write_config(tmp_path, mini, RAW, reader=reader)), folder)
            await scoring.score(folder)
            found.append(gathering.read(folder))
    with pytest.raises(InputError, match=r"reader's model: openai/fake \(1.5 billion.*32 billion"):
        summing.report(found)


async def test_disputed_questions_can_be_named_when_a_run_is_done(tmp_path, mini):
    listed = tmp_path / "disputed.json"
    listed.write_text(json.dumps({"items": [{"sample_id": "conv-26", "qa_index": 0, "affects_score": True}]}))
    await runs.run(config.load(write_config(tmp_path, mini, RAW)), tmp_path / "run")
    await scoring.score(tmp_path / "run")
    plain = gathering.read(tmp_path / "run")
    await scoring.score(tmp_path / "run", listed)
    doubted = gathering.read(tmp_path / "run")
    report = summing.report([doubted])
    assert report.rows[0].measures["official"].disputed == 1
    assert len(report.about.data_hashes["disputed"]) == 64
    with pytest.raises(InputError, match="SHA-256 of disputed: none in run 1"):
        summing.report([plain, doubted])
