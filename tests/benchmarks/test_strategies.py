"""The comparison of strategies runs from start to end, asks for nothing but writing, and counts what a turn costs."""

from __future__ import annotations

import asyncio
from copy import deepcopy
from pathlib import Path

from benchmarks_support import plays
from locomo_support import write_mini

from amem.interfaces.cli.shipped import benchmarks_module
from amem.testing.fault_server import FaultServer

config = benchmarks_module("runs.config")
gathering = benchmarks_module("reports.gathering")
runs = benchmarks_module("runs.run")
scoring = benchmarks_module("runs.scoring")
summing = benchmarks_module("reports.summing")
CONFIG = Path(config.__file__).parents[1] / "configs" / "strategies-local.toml"


def three(data):
    """Have the first conversation thrice, under the names that the configuration asks for."""
    first = data[0]
    data[:] = [{**deepcopy(first), "sample_id": name} for name in ("conv-42", "conv-49", "conv-50")]


def test_four_strategies_are_compared_in_evidence_tokens_and_calls(tmp_path):
    with FaultServer(default=plays) as server:
        wanted = config.load(CONFIG, data=write_mini(tmp_path, change=three), api_base=server.url)
        asyncio.run(runs.run(wanted.model_copy(update={"embedding": "hash"}), tmp_path / "run"))
        asked = [body["messages"][0]["content"] for body in server.bodies]
    asyncio.run(scoring.score(tmp_path / "run"))
    rows = {row.system: row for row in summing.report([gathering.read(tmp_path / "run")]).rows}
    calls = {name: row.cost.write.calls_per_unit for name, row in rows.items()}
    assert not any("memories that answer" in system for system in asked)  # nobody is asked for an answer
    assert calls["amem_raw"] == 0 < calls["amem_atomic"] <= 0.2 < calls["amem_fused"] <= 0.5 < calls["amem_paper"]
    ours = [row for name, row in rows.items() if name.startswith("amem")]
    assert {row.measures["evidence_shown"].everything.all.mean for row in ours} == {1.0}
    assert calls["bm25"] == calls["dense"] == 0
    assert {row.pending for row in rows.values()} == {0}
