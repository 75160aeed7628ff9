"""Which runs stand in one report, and which do not."""

from __future__ import annotations

import asyncio
import re

import pytest
from benchmarks_support import BASELINES, RAW, finished, write_config

from amem.errors import InputError
from amem.interfaces.cli.shipped import benchmarks_module

config = benchmarks_module("runs.config")
gathering = benchmarks_module("reports.gathering")
markdown = benchmarks_module("reports.markdown")
runs = benchmarks_module("runs.run")
summing = benchmarks_module("reports.summing")


@pytest.fixture(scope="module")
def extractive(made, tmp_path_factory):
    """A run over the same data by another reader."""
    folder = tmp_path_factory.mktemp("extractive")
    return finished(write_config(made.folder, "mini.json", RAW, name="extractive"), folder / "run")


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"top": "seed = 2"}, "seed: as by default in run 1, 2 in run 2"),
        ({"wanted": 'categories = ["4"]'}, "data.categories"),
        ({"top": 'compat = "amem"'}, "compat"),
    ],
)
def test_runs_that_differ_are_not_put_together_unless_forced(made, extractive, tmp_path, given, named):
    other = finished(write_config(made.folder, "mini.json", BASELINES, name="other", **given), tmp_path / "other")
    with pytest.raises(InputError, match=re.escape(named)):
        summing.report([extractive, other])
    forced = summing.report([extractive, other], force=True)
    assert any(line.startswith(named.partition(":")[0]) for line in forced.differences)
    assert markdown.markdown(forced).index(forced.differences[0]) < markdown.markdown(forced).index("## Results")


@pytest.mark.parametrize("force", [False, True])
def test_readers_are_never_mixed_in_one_table(made, extractive, force):
    with pytest.raises(InputError, match=r"one table has one reader: .*reader: extractive.* in run 1, answer@v1"):
        summing.report([extractive, made.run], force=force)


def test_other_data_and_measures_are_differences(extractive):
    manifest = extractive.manifest.model_copy(update={"data": {"data": "0" * 64}})
    assert any(
        line.startswith("SHA-256")
        for line in gathering.alike([extractive, extractive._replace(manifest=manifest)], force=True)
    )
    other = extractive.scoring.model_copy(update={"metrics": 99})
    assert gathering.alike([extractive, extractive._replace(scoring=other)], force=True) == [
        "version of the measures: 1 in run 1, 99 in run 2"
    ]


def test_runs_that_are_alike_stand_in_one_table_and_names_are_kept_apart(made, extractive, tmp_path):
    other = finished(write_config(made.folder, "mini.json", BASELINES, RAW, name="other"), tmp_path / "other")
    names = [one.system for one in summing.report([extractive, other]).rows]
    assert names == ["amem_raw", "none", "full_context", "bm25", "dense", "amem_raw (2)"]


def test_a_run_that_is_not_there_or_not_scored_is_refused(made, tmp_path):
    with pytest.raises(InputError, match="there is no run"):
        gathering.read(tmp_path)
    asyncio.run(runs.run(config.load(write_config(made.folder, "mini.json", RAW, name="raw")), tmp_path / "raw"))
    with pytest.raises(InputError, match="nothing is scored"):
        gathering.read(tmp_path / "raw")
