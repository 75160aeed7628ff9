"""How long a run will still take, as its progress tells it."""

from __future__ import annotations

import pytest
from locomo_support import QUESTIONS, write_mini

from amem.interfaces.cli.shipped import benchmarks_module

config = benchmarks_module("runs.config")
folders = benchmarks_module("runs.folder")
pace = benchmarks_module("runs.pace")
records = benchmarks_module("runs.records")

TURNS, ASKED = 14, len(QUESTIONS) + 2
LEXICAL = config.SystemConfig(kind="bm25")
WRITES = config.SystemConfig(kind="amem", strategy="fused", model=config.Model(name="openai/fake"))


@pytest.fixture
def paced(tmp_path):
    data = benchmarks_module("datasets.opening").open_dataset(write_mini(tmp_path))

    def make(*systems, asks=True):
        return pace.Pace(systems, data.conversations, folders.Folder(tmp_path), asks=asks)

    return make


def took(found, stage, label, count, seconds):
    for place in range(count):
        found.took(records.Measured(unit=f"{stage} {label} conv-26#{place}", seconds=seconds))


def test_nothing_is_foretold_before_anything_like_it_was_done(paced):
    found = paced(LEXICAL)
    took(found, "write", "bm25", TURNS, 0.001)
    took(found, "search", "bm25", 1, 0.001)
    assert found.left() is None
    took(found, "answer", "bm25", 1, 30.0)
    assert found.left() == pytest.approx(30 * (ASKED - 1), rel=0.01)


def test_quick_stages_do_not_make_slow_ones_look_quick(paced):
    found = paced(LEXICAL, config.SystemConfig(kind="recent"))
    took(found, "answer", "bm25", ASKED, 30.0)
    took(found, "write", "recent", TURNS, 0.001)
    took(found, "search", "recent", ASKED, 0.001)
    assert found.left() == pytest.approx(30 * ASKED)


def test_who_writes_with_a_model_is_not_measured_by_those_who_do_not(paced):
    found = paced(LEXICAL, WRITES)
    for stage, count, seconds in (("write", TURNS, 0.001), ("search", ASKED, 0.001), ("answer", ASKED, 30.0)):
        took(found, stage, "bm25", count, seconds)
    assert found.left() == pytest.approx(30 * (TURNS + ASKED), rel=0.01)
    took(found, "write", "amem_fused", TURNS, 10.0)
    assert found.left() == pytest.approx(30 * ASKED, rel=0.01)


def test_a_run_that_goes_on_knows_what_was_measured_before(paced, tmp_path):
    kept = folders.Folder(tmp_path)
    for stage in ("write", "search", "answer"):
        kept.measured.append(records.Measured(unit=f"{stage} bm25 conv-26#0", seconds=2.0))
    assert paced(LEXICAL).left() == pytest.approx(2 * (TURNS + ASKED + ASKED - 3))


def test_who_has_answered_everything_has_nothing_left(paced):
    found = paced(LEXICAL)
    took(found, "answer", "bm25", ASKED, 30.0)
    assert found.left() == 0
