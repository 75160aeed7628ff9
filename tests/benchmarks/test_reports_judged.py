"""What a report says of a judge."""

from __future__ import annotations

import asyncio
import json
import re

import pytest
from benchmarks_support import BASELINES, RAW, finished, write_config

from amem.errors import InputError
from amem.interfaces.cli.shipped import benchmarks_module
from amem.testing.fault_server import FaultServer, says

config = benchmarks_module("runs.config")
export = benchmarks_module("reports.export")
gathering = benchmarks_module("reports.gathering")
judging = benchmarks_module("runs.judging")
markdown = benchmarks_module("reports.markdown")
summing = benchmarks_module("reports.summing")


def rules(seen):
    """A judge that passes what has the key's words."""
    asked = seen.body["messages"][-1]["content"]
    key, answer = (re.search(rf"<{tag}>\n(.*?)\n</{tag}>", asked, re.DOTALL)[1] for tag in ("key", "answer"))
    right = key.lower() in answer.lower() or ("not said" in key and "not mentioned" in answer)
    return says(json.dumps({"reason": f"{answer[:40]} against {key[:40]}", "label": "CORRECT" if right else "WRONG"}))


def test_a_judge_is_tested_counted_and_resumed_and_its_words_stay_at_home(made, tmp_path):
    folder = tmp_path / "judged"
    finished(write_config(made.folder, "mini.json", BASELINES, RAW, name="judged"), folder)
    with FaultServer(default=rules) as server:
        model = config.Model(name="openai/judge", api_base=server.url)
        asyncio.run(judging.judge(folder, model, ("strict", "lenient"), cases=3))
        asked = len(server.requests)
        asyncio.run(judging.judge(folder, model, ("strict", "lenient"), cases=3))
        assert len(server.requests) == asked
        with pytest.raises(InputError, match="was judged by openai/judge already"):
            asyncio.run(judging.judge(folder, config.Model(name="openai/other"), ("strict",), cases=3))
    report = summing.report([gathering.read(folder)])
    assert next(one for one in report.rows if one.system == "none").measures[
        "judge_strict"
    ].everything.all.mean == pytest.approx(1 / 7)
    strict = next(one for one in report.judges if one.manner == "strict")
    assert (strict.gold, strict.shuffled, strict.kappa) == (1.0, 0.0, 1.0)
    assert "The judge, judged" in markdown.markdown(report)
    for path in export.export(report, [gathering.read(folder)], tmp_path / "out"):
        assert " against " not in path.read_text().replace(f"{report.ours} against the others", "").replace(
            "Quality against tokens", "").replace(", against the tokens", ""), path.name  # fmt: skip
