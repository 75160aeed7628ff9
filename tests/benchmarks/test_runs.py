from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks_support import BASELINES, RAW, fused, model_reader, plays, write_config
from locomo_support import QUESTIONS, write_mini

import amem
from amem.errors import InputError, ModelRejected, SettingsError
from amem.interfaces.cli.shipped import benchmarks_module
from amem.testing.fault_server import FaultServer, fails, says

config = benchmarks_module("runs.config")
folders = benchmarks_module("runs.folder")
runs = benchmarks_module("runs.run")
scoring = benchmarks_module("runs.scoring")

REPEATABLE = ("ingest.jsonl", "retrieval.jsonl", "answers.jsonl", "scores.jsonl", "llm_calls.jsonl")
"""All but what is measured by the clock."""
COMMAND = [sys.executable, "-c", "from amem.interfaces.cli.app import main; main()", "bench", "run"]
_SECONDS = re.compile(rb'"seconds":[0-9.]+')


@pytest.fixture
def mini(tmp_path):
    return write_mini(tmp_path).name


@pytest.fixture
def model():
    """A server that plays the language model."""
    with FaultServer(default=plays) as server:
        yield server


def read(folder):
    """Return the bytes of a run; how long a live model took for a reply is another number each time."""
    found = {name: (folder / name).read_bytes() for name in REPEATABLE if (folder / name).exists()}
    return {name: _SECONDS.sub(b'"seconds":0', data) for name, data in found.items()}


async def done(path, folder, **given):
    """Run a configuration and score it; return the bytes of what can be repeated."""
    await runs.run(config.load(path), folder, **given)
    await scoring.score(folder)
    return read(folder)


def lines(folder, name):
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


def child(path, folder, *more, seed="0"):
    """Start the command in a process of its own."""
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(amem.__file__).parents[1])}
    return subprocess.Popen(
        [*COMMAND, path, "--out", folder, *more], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )


def completed(process):
    _, said = process.communicate(timeout=900)
    assert process.returncode == 0, said.decode()


async def test_every_system_answers_every_question(tmp_path, mini):
    await done(write_config(tmp_path, mini, BASELINES, RAW), tmp_path / "run")
    scores, _ = scoring.read_scores(tmp_path / "run")
    asked = len(QUESTIONS) + 2
    for system in ("none", "full_context", "bm25", "dense", "amem_raw"):
        assert sum(one.system == system for one in scores) == asked


async def test_a_finished_run_asks_nothing_again(tmp_path, mini, model):
    path = write_config(tmp_path, mini, fused(model.url), reader=model_reader(model.url))
    first = await done(path, tmp_path / "run")
    asked = len(model.requests)
    assert await done(path, tmp_path / "run") == first
    assert len(model.requests) == asked


async def test_a_replay_asks_nobody_and_gives_the_same_bytes(tmp_path, mini, model):
    path = write_config(tmp_path, mini, fused(model.url), reader=model_reader(model.url))
    await done(path, tmp_path / "run")
    asked = len(model.requests)
    await done(path, tmp_path / "again", replay=tmp_path / "run")
    assert len(model.requests) == asked
    for name in REPEATABLE:
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "run" / name).read_bytes()


async def test_a_replay_that_lacks_a_call_names_it(tmp_path, mini, model):
    path = write_config(tmp_path, mini, RAW, reader=model_reader(model.url))
    await done(path, tmp_path / "run")
    other = write_config(tmp_path, mini, fused(model.url), reader=model_reader(model.url), name="other")
    with pytest.raises(SettingsError, match=r"none like this one of note@v1\+.* \(write amem_fused conv-26\)"):
        await done(other, tmp_path / "again", replay=tmp_path / "run")


async def test_a_killed_run_goes_on_to_the_same_bytes_and_repeats_no_call(tmp_path, mini):
    kills = {5, 11}  # a window that is being linked, and an answer

    def dies(seen):
        if len(server.requests) in kills:
            running[-1].kill()
        return plays(seen)

    with FaultServer(default=dies) as server:
        path = write_config(tmp_path, mini, fused(server.url), RAW, reader=model_reader(server.url))
        running = [child(path, tmp_path / "killed")]
        while len(running) <= len(kills):
            _, said = running[-1].communicate(timeout=900)
            assert running[-1].returncode == -signal.SIGKILL, said.decode()
            running.append(child(path, tmp_path / "killed"))
        completed(running[-1])
        replies = [call for call in lines(tmp_path / "killed", "llm_calls.jsonl") if call["reply"]]
        assert len(server.requests) == len(replies) + len(kills)  # only the calls under way were made again
        kills.clear()
        assert await done(path, tmp_path / "plain") == read(tmp_path / "killed")


def test_the_hash_seed_changes_nothing(tmp_path, mini, model):
    systems = (fused(model.url), fused(model.url, "no_links", without=["links"]), BASELINES, RAW)
    path = write_config(tmp_path, mini, *systems, reader=model_reader(model.url))
    for process in [child(path, tmp_path / seed, seed=seed) for seed in ("1", "2")]:
        completed(process)
    assert read(tmp_path / "1") == read(tmp_path / "2")


async def test_a_torn_line_is_taken_away_and_its_unit_done_again(tmp_path, mini):
    path = write_config(tmp_path, mini, BASELINES)
    first = await done(path, tmp_path / "run")
    answers = tmp_path / "run" / "answers.jsonl"
    answers.write_bytes(answers.read_bytes()[:-7])
    assert await done(path, tmp_path / "run") == first


async def test_two_processes_do_not_work_in_one_folder(tmp_path, mini):
    path = write_config(tmp_path, mini, RAW)
    with benchmarks_module("runs.journal").alone(tmp_path / "run"), pytest.raises(InputError, match="another process"):
        await done(path, tmp_path / "run")


async def test_an_outage_stops_the_run_which_goes_on_afterwards(tmp_path, mini):
    with FaultServer(default=fails(401, "no such key")) as server:
        path = write_config(tmp_path, mini, fused(server.url), reader=model_reader(server.url))
        with pytest.raises(ModelRejected):
            await done(path, tmp_path / "run")
        assert len(server.requests) == 1  # nothing more was asked of a server that refuses the key
        server.default = plays
        assert len((await done(path, tmp_path / "run"))["answers.jsonl"].splitlines()) == 7


async def test_a_reply_nobody_can_use_is_a_failed_answer_and_no_refusal(tmp_path, mini):
    with FaultServer(default=says("I would rather not say.")) as server:
        await done(write_config(tmp_path, mini, RAW, reader=model_reader(server.url)), tmp_path / "run")
    scores, _ = scoring.read_scores(tmp_path / "run")
    assert all(one.failed and not one.refused and not one.values["official"] for one in scores)
    assert {one["failed"] for one in lines(tmp_path / "run", "answers.jsonl")} == {"BadReply"}


async def test_the_reader_never_sees_the_category_or_anything_else_of_the_key(tmp_path, model):
    def marked(data):
        data[0]["qa"][4] |= {"adversarial_answer": "a marked trap"}
        data[0]["qa"][0] |= {"answer": "a marked answer"}

    data = write_mini(tmp_path, change=marked).name
    await done(write_config(tmp_path, data, RAW, reader=model_reader(model.url)), tmp_path / "run")
    sent = json.dumps(model.bodies)
    for word in ("categor", "adversarial", "multi-hop", "marked", "D1:3", "evidence"):
        assert word not in sent


async def test_a_compat_run_shows_the_category_and_says_so(tmp_path, model):
    data = write_mini(tmp_path).name
    path = write_config(tmp_path, data, RAW, reader=model_reader(model.url))
    await runs.run(config.load(path, compat="amem"), tmp_path / "run")
    asked = [body["messages"][-1]["content"] for body in model.bodies]
    (choice,) = [text for text in asked if "<choices>" in text]
    assert ") red" in choice
    assert ") Not mentioned in the conversation" in choice
    assert {body["temperature"] for body in model.bodies} == {0.7, 0.5}
    assert folders.read_manifest(tmp_path / "run").config.compat == "amem"


async def test_systems_may_join_later_and_nothing_else_may_change(tmp_path, mini):
    await done(write_config(tmp_path, mini, RAW), tmp_path / "run")
    await done(write_config(tmp_path, mini, BASELINES), tmp_path / "run")
    scores, _ = scoring.read_scores(tmp_path / "run")
    assert {one.system for one in scores} == {"amem_raw", "none", "full_context", "bm25", "dense"}
    with pytest.raises(InputError, match=r"another run \(config_hash differ\)"):
        await done(write_config(tmp_path, mini, RAW, top="seed = 3"), tmp_path / "run")
    with pytest.raises(InputError, match=r"the system amem_raw differ"):
        await done(write_config(tmp_path, mini, RAW.replace("false", "true")), tmp_path / "run")


async def test_other_data_under_the_same_name_is_refused(tmp_path, mini):
    path = write_config(tmp_path, mini, RAW)
    await done(path, tmp_path / "run")
    write_mini(tmp_path, change=lambda data: data[0]["qa"].pop())
    with pytest.raises(InputError, match="data"):
        await done(path, tmp_path / "run")
    with pytest.raises(InputError, match="not what it was"):
        await scoring.score(tmp_path / "run")


async def test_an_ablation_shares_the_calls_it_has_in_common_and_pays_for_them_itself(tmp_path, mini, model):
    systems = (fused(model.url), fused(model.url, "no_evolution", without=["evolution"]))
    await done(write_config(tmp_path, mini, *systems), tmp_path / "run")
    calls = lines(tmp_path / "run", "llm_calls.jsonl")
    first, second = ([one["key"] for one in calls if one["scope"] == f"write {name} conv-26"] for name in
                     ("amem_fused", "no_evolution"))  # fmt: skip
    assert first == second
    assert len(model.requests) == len({one["key"] for one in calls})
    found = benchmarks_module("runs.calls").Calls(tmp_path / "run")
    assert found.usage("write amem_fused conv-26") == found.usage("write no_evolution conv-26")


async def test_questions_asked_at_once_are_written_in_their_order(tmp_path, mini, model):
    path = write_config(tmp_path, mini, RAW, reader=model_reader(model.url))
    fast = write_config(tmp_path, mini, RAW, reader=model_reader(model.url, concurrency=4), name="fast")
    one, four = await done(path, tmp_path / "one"), await done(fast, tmp_path / "four")
    assert one["answers.jsonl"] == four["answers.jsonl"]
    assert config.load(path).hash == config.load(fast).hash


async def test_recorded_answers_are_read_and_a_missing_one_is_an_error(tmp_path, mini):
    await done(write_config(tmp_path, mini, RAW), tmp_path / "run")
    recorded = 'kind = "recorded"\nanswers = "run/answers.jsonl"'
    again = await done(write_config(tmp_path, mini, RAW, reader=recorded), tmp_path / "again")
    assert again["answers.jsonl"] == (tmp_path / "run" / "answers.jsonl").read_bytes()
    with pytest.raises(InputError, match="no answer for 'bm25 conv-26#0'"):
        await done(write_config(tmp_path, mini, BASELINES.partition('[[systems]]\nkind = "dense"')[0].replace(
            '[[systems]]\nkind = "none"\n', "").replace('[[systems]]\nkind = "full_context"\n', ""), reader=recorded),
            tmp_path / "more")  # fmt: skip
