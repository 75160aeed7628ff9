"""What a report says of the run it was made of, beside its numbers."""

from __future__ import annotations

import asyncio

import pytest
from benchmarks_support import BASELINES, write_config
from locomo_support import write_mini

from amem.interfaces.cli.shipped import benchmarks_module

config = benchmarks_module("runs.config")
facts = benchmarks_module("reports.facts")
gathering = benchmarks_module("reports.gathering")
runs = benchmarks_module("runs.run")
scoring = benchmarks_module("runs.scoring")
summing = benchmarks_module("reports.summing")


@pytest.fixture
def reported(tmp_path):
    """Run a configuration over the mini file, and report it."""

    def report(*systems, **given):
        path = write_config(tmp_path, write_mini(tmp_path).name, *systems, **given)
        folder = tmp_path / f"run{len(list(tmp_path.iterdir()))}"
        asyncio.run(runs.run(config.load(path), folder))
        asyncio.run(scoring.score(folder))
        return summing.report([gathering.read(folder)])

    return report


@pytest.mark.parametrize(("window", "cut"), [(30, True), (3000, False)])
def test_full_context_that_did_not_fit_the_window_is_said_to_be_cut(reported, window, cut):
    report = reported(f'\n[[systems]]\nkind = "full_context"\nwindow = {window}\n')
    said = [line for line in report.limits if "does not fit the window of 30 tokens in 2 of 2 conversations" in line]
    assert bool(said) == cut


def test_a_process_that_was_killed_is_counted_apart(reported):
    report = reported(BASELINES)
    assert "hours in 1 sitting; writing, searching and answering took" in facts.worked(report)
    (sitting,) = report.about.sittings
    killed = report.about.model_copy(update={"sittings": (sitting.model_copy(update={"ended": None}), sitting)})
    said = facts.worked(report.model_copy(update={"about": killed}))
    assert "in 1 sitting, without 1 that was killed; writing" in said
