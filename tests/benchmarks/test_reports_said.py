"""What a report says of the run it was made of, beside its numbers."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest
from benchmarks_support import BASELINES, RAW, write_config
from locomo_support import write_mini

from amem.interfaces.cli.shipped import benchmarks_module

config = benchmarks_module("runs.config")
export = benchmarks_module("reports.export")
facts = benchmarks_module("reports.facts")
gathering = benchmarks_module("reports.gathering")
runs = benchmarks_module("runs.run")
scoring = benchmarks_module("runs.scoring")
summing = benchmarks_module("reports.summing")

REAL = os.environ.get("AMEM_LOCOMO")


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


def test_results_on_other_peoples_data_name_them_and_their_terms(reported):
    said = dict(facts.facts(reported(BASELINES)))["made by"]
    for part in ("Maharana", "ACL 2024", "github.com/snap-research/locomo", "CC BY-NC 4.0", "none of its texts"):
        assert part in said
    known = benchmarks_module("datasets.known")
    assert known.attribution("synthetic-dialsim") is None


@pytest.mark.skipif(REAL is None, reason="AMEM_LOCOMO does not name the official locomo10.json")
def test_no_text_of_the_official_file_is_in_any_file_of_a_report(tmp_path):
    wanted = 'conversations = ["conv-49"]\nlimit = 40'
    path = write_config(tmp_path, REAL, BASELINES, RAW, wanted=wanted)
    asyncio.run(runs.run(config.load(path), tmp_path / "run"))
    asyncio.run(scoring.score(tmp_path / "run"))
    found = gathering.read(tmp_path / "run")
    (talk,) = [one for one in json.loads(Path(REAL).read_bytes()) if one["sample_id"] == "conv-49"]
    texts = list(_texts([talk["conversation"], talk["qa"], talk["observation"], talk["session_summary"]]))
    assert len(texts) > 1000
    for file in export.export(summing.report([found]), [found], tmp_path / "report"):
        written = file.read_text()
        assert not [text for text in texts if text in written], file.name


def _texts(value):
    """Yield every text of three words and more."""
    if isinstance(value, str):
        if len(value.split()) > 2:
            yield value.strip()
    else:
        for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
            yield from _texts(one)
