from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from benchmarks_support import BASELINES, RAW, finished, fused, model_reader, plays, write_config
from locomo_support import write_mini

from amem.interfaces.cli.shipped import benchmarks_module
from amem.testing.fault_server import FaultServer

ORACLE = '\n[[systems]]\nkind = "oracle"\n'


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """One run of all baselines and of an amem that writes with a model, read by that model, and its report."""
    folder = tmp_path_factory.mktemp("made")
    data = write_mini(folder).name
    (folder / "disputed.json").write_text(
        json.dumps({"items": [{"sample_id": "conv-26", "qa_index": 0, "affects_score": True}]})
    )
    with FaultServer(default=plays) as server:
        path = write_config(
            folder, data, BASELINES, ORACLE, RAW, fused(server.url),
            reader=model_reader(server.url), wanted='disputed = "disputed.json"',
        )  # fmt: skip
        found = finished(path, folder / "run")
    report = benchmarks_module("reports.summing").report([found])
    return SimpleNamespace(run=found, report=report, folder=folder, path=path)
