from __future__ import annotations

import asyncio
import os
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest
from locomo_support import write_mini

from amem.errors import InputError
from amem.interfaces.cli.shipped import benchmarks_module
from amem.memory import AsyncMemory
from amem.opening import open_rooms
from amem.settings import Settings

locomo = benchmarks_module("datasets.locomo")
options = benchmarks_module("recall.options")
run = benchmarks_module("recall.run")

REAL = os.environ.get("AMEM_LOCOMO")
RECALLS = ("recall_at_5", "recall_at_10", "recall_at_20", "recall_within_500_tokens", "recall_within_1000_tokens",
           "recall_within_2000_tokens")  # fmt: skip


@pytest.fixture
def measure(tmp_path):
    """Measure the mini file, changed by a function, with the hashed embedding."""

    async def measured(change=lambda _: None, **given):
        data = locomo.load(write_mini(tmp_path, change=change))
        return await run.measure_turns(data, Settings.load(embedding="hash"), options.Options(**given))

    return measured


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The report on both sets, as users have it."""
    data = locomo.load(write_mini(tmp_path_factory.mktemp("mini")))
    return asyncio.run(run.measure_turns(data, Settings.load(embedding="hash"), options.Options(set="all")))


def asking(question, *evidence):
    """Put one question in place of conv-26's."""

    def change(data):
        data[0]["qa"] = [{"question": question, "answer": "x", "evidence": list(evidence), "category": 4}]

    return change


def test_the_sets_have_their_own_conversations_and_all_has_both(plain):
    assert list(plain.tuning.by_conversation) == ["conv-26"]
    assert list(plain.reporting.by_conversation) == ["conv-1"]
    assert list(plain.all.by_conversation) == ["conv-1", "conv-26"]
    assert [found.questions for found in (plain.tuning, plain.reporting, plain.all)] == [4, 2, 6]


async def test_a_set_that_was_not_asked_for_is_not_measured(measure):
    report = await measure()
    assert (report.reporting, report.all) == (None, None)
    assert list(report.tuning.by_conversation) == ["conv-26"]


def test_questions_without_evidence_are_left_out_and_counted(plain):
    assert [found.left_out for found in (plain.tuning, plain.reporting, plain.all)] == [1, 0, 1]
    assert "3" not in plain.tuning.by_category


def test_json_holds_every_measure_for_recall_and_for_each_baseline(plain):
    dumped = plain.model_dump(mode="json")
    assert set(dumped) == {"about", "tuning", "reporting", "all"}
    for name in ("tuning", "reporting", "all"):
        found = dumped[name]
        assert set(found["baselines"]) == {"bm25", "dense", "rrf_60", "rrf_10", "min_max"}
        for scores in (found, *found["baselines"].values()):
            parts = [scores, *scores["by_category"].values(), *scores["by_conversation"].values()]
            assert all(0 <= part[recall] <= 1 for part in parts for recall in RECALLS)
            assert all(part["questions"] > 0 for part in parts)
        assert set(found["latency"]) == {"embed", "search", "rank"}
        assert all(0 <= took["p50_ms"] <= took["p95_ms"] for took in found["latency"].values())
    assert dumped["all"]["interval"].keys() == set(RECALLS)
    assert len(dumped["about"]["data_sha256"]) == 64


def test_means_are_over_questions_and_by_category(plain):
    # BM25 finds what shares a word: the evidence of three questions of four, and not "as red as a cherry".
    bm25 = plain.tuning.baselines["bm25"]
    assert bm25.recall_at_10 == 0.75
    assert {name: part.recall_at_10 for name, part in bm25.by_category.items()} == {"1": 1.0, "4": 1.0, "5": 0.0}
    assert {name: part.questions for name, part in bm25.by_category.items()} == {"1": 1, "4": 2, "5": 1}


async def test_evidence_is_counted_by_turns_however_it_is_written(measure):
    report = await measure(asking("Which boat?", "D1:1; D1:3"))
    assert report.tuning.baselines["bm25"].recall_at_10 == 0.5
    assert report.tuning.recall_at_10 == 1.0


def test_an_answer_counts_only_where_there_is_one(plain):
    # "a sailing boat", "Oslo" and "visit her" stand in the text; the adversarial question has no answer.
    scores = plain.tuning
    assert scores.answer_within_2000_tokens == 1.0
    assert scores.by_category["5"].answer_within_2000_tokens is None


async def test_time_words_count_from_the_last_session_or_from_a_given_moment(measure):
    change = asking("What was said last month?", "D1:1", "D1:2", "D1:3")
    assert (await measure(change)).tuning.recall_at_5 == 1.0
    july = await measure(change, now=datetime(2023, 7, 10, tzinfo=UTC))
    assert july.tuning.recall_at_5 < 1.0


async def test_an_ablated_feature_counts_for_nothing(measure):
    change = asking("What was said last month?", "D1:1", "D1:2", "D1:3")
    report = await measure(change, now=datetime(2023, 7, 10, tzinfo=UTC), ablate=("date",))
    assert report.tuning.recall_at_5 == 1.0  # July no longer draws the other session before this one
    assert report.about.ablated == ("date",)
    assert "date" not in report.about.weights


async def test_an_unknown_feature_is_refused_with_those_there_are(measure):
    with pytest.raises(InputError, match=r"no feature colour; there are .*cover"):
        await measure(ablate=("colour",))


async def test_candidates_bound_what_can_be_found(measure):
    change = asking("Who teaches chemistry?", "D1:1")
    assert (await measure(change, candidates=1)).tuning.recall_at_10 == 0.0
    assert (await measure(change, candidates=None)).tuning.recall_at_10 == 1.0


async def test_reconstruction_has_rows_of_its_own_where_it_is_asked_for(measure, plain):
    assert plain.tuning.variants == {}
    variants = (await measure(reconstruct=True)).tuning.variants
    assert set(variants) == {"amem_with_reconstruction", "reconstruction"}
    assert variants["reconstruction"].recall_at_10 > 0


async def test_a_file_without_a_conversation_of_the_set_is_refused(measure):
    with pytest.raises(InputError, match="no conversation of the set 'tuning'; it has conv-1"):
        await measure(lambda data: data.pop(0))


async def test_two_runs_find_the_same(measure, plain):
    def stable(found):
        return found.model_dump(mode="json", exclude={"latency"})

    again = await measure(set="all")
    assert stable(again.tuning) == stable(plain.tuning)
    assert stable(again.all) == stable(plain.all)


async def test_kept_notes_are_used_again_and_others_refused(measure, plain, tmp_path):
    for _ in range(2):
        assert (await measure(keep=tmp_path / "kept")).tuning.baselines == plain.tuning.baselines
    with pytest.raises(InputError, match="other notes of conv-26"):
        await measure(lambda data: data[0]["conversation"]["session_1"][0].update(text="New."), keep=tmp_path / "kept")


async def test_vectors_can_be_searched_through_chroma(measure, plain):
    chroma = await measure(index="chroma")
    assert chroma.about.index == "chroma"
    assert plain.about.index.startswith("exact")
    assert chroma.tuning.recall_at_10 == plain.tuning.recall_at_10


# -- a memory that exists --------------------------------------------------------------------------


@pytest.fixture
def measure_box(tmp_path):
    """Fill a box, and measure it."""

    async def measured(fill, **given):
        data = locomo.load(write_mini(tmp_path))
        rooms = open_rooms(tmp_path / "memory", Settings.load(embedding="hash", chroma=False))
        async with AsyncMemory(rooms) as memory:
            await fill(memory)
            report = await run.measure_memory(data, rooms, memory.name, options.Options(**given))
            return report, await memory.list()

    return measured


async def distilled(memory):
    first = await memory.add("Ana: I bought a sailing boat.", source="conv-26/D1:1")
    await memory.add("Ana owns a sailing boat with a red hull.", source=first.id)
    await memory.add("She asked for the hull.", source="conv-26/D1:2")


async def test_evidence_is_traced_through_the_sources_of_notes(measure_box):
    report, _ = await measure_box(distilled)
    # Of the questions whose evidence lies in the first session, only the one about the boat has its turn in a note.
    assert report.tuning.questions == 2
    assert report.tuning.by_category["4"].recall_within_1000_tokens == 1.0
    assert report.tuning.by_category["5"].recall_within_1000_tokens == 0.0
    assert report.tuning.left_out == 3
    assert "3 notes" in report.about.notes
    assert any("by tokens only" in warning for warning in report.about.warnings)


async def test_a_measured_box_stays_as_it_was(measure_box, tmp_path):
    _, page = await measure_box(distilled)
    assert len(page.notes) == 3
    with closing(sqlite3.connect(tmp_path / "memory" / "ledger.db")) as ledger:
        assert ledger.execute("SELECT count(*) FROM access").fetchone() == (0,)


async def test_a_box_without_such_sources_is_refused(measure_box):
    async def fill(memory):
        await memory.add("I bought a boat", source="chat-1")

    with pytest.raises(InputError, match="conv-26/D1:1"):
        await measure_box(fill)


@pytest.mark.slow
@pytest.mark.skipif(REAL is None, reason="AMEM_LOCOMO does not name the official locomo10.json")
async def test_p9_recall_finds_more_evidence_of_a_tuning_conversation_than_any_baseline_at_every_budget():
    data = locomo.load(Path(REAL))
    one = data.model_copy(update={"conversations": (data.conversation("conv-26"),)})
    report = await run.measure_turns(one, Settings.load(), options.Options())
    assert report.tuning.recall_at_10 >= 0.84
    found = report.tuning
    for measure in ("recall_within_500_tokens", "recall_within_1000_tokens", "recall_within_2000_tokens"):
        best = max(getattr(scores, measure) for scores in found.baselines.values())
        assert getattr(found, measure) > best
