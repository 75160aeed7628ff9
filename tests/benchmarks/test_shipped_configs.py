from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from benchmarks_support import plays
from locomo_support import write_mini

from amem.errors import InputError
from amem.interfaces.cli.shipped import benchmarks_module
from amem.testing.fault_server import FaultServer

config = benchmarks_module("runs.config")
folders = benchmarks_module("runs.folder")
gathering = benchmarks_module("reports.gathering")
runs = benchmarks_module("runs.run")
scoring = benchmarks_module("runs.scoring")
summing = benchmarks_module("reports.summing")

CONFIGS = Path(config.__file__).parents[1] / "configs"
SYSTEMS = {
    "locomo-49-local": ["none", "bm25", "dense", "amem_raw", "oracle", "amem_fused", "full_context"],
    "locomo-49-local-paper": ["none", "bm25", "amem_raw", "oracle", "amem_fused", "amem_paper", "a-mem"],
}


@pytest.fixture
def mini(tmp_path):
    """The mini file, whose first conversation has the name that the configurations ask for."""
    return write_mini(tmp_path, change=lambda data: data[0].update(sample_id="conv-49"))


def loaded(name, data, **given):
    return config.load(CONFIGS / f"{name}.toml", data=data, **given)


def without(wanted, *kinds):
    return wanted.model_copy(update={"systems": tuple(one for one in wanted.systems if one.kind not in kinds)})


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.toml")), ids=lambda path: path.stem)
def test_every_shipped_configuration_can_be_read(path, mini):
    assert config.load(path, data=mini).systems


def test_a_shipped_configuration_is_known_by_its_name_and_a_wrong_name_says_which_there_are(mini):
    name = "dialsim-extractive"
    assert config.load(Path(name), data=mini) == loaded(name, mini)
    with pytest.raises(InputError, match=r"dialsim cannot be read: .* These ship: dialsim-extractive, locomo-49-local"):
        config.load(Path("dialsim"), data=mini)


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_local_model_writes_and_reads_from_start_to_end(name, mini, tmp_path):
    assert [one.label for one in loaded(name, mini).systems] == SYSTEMS[name]
    with FaultServer(default=plays) as server:
        wanted = without(loaded(name, mini, api_base=server.url), "a-mem")
        asyncio.run(runs.run(wanted, tmp_path / "run"))
        asked = len(server.requests)
        asyncio.run(runs.run(wanted, tmp_path / "run"))
        assert len(server.requests) == asked
    asyncio.run(scoring.score(tmp_path / "run"))
    report = summing.report([gathering.read(tmp_path / "run")])
    assert report.limits[0].startswith("One conversation, 4 questions: the intervals are drawn over its questions")
    assert {(row.asked, row.answered, row.failed, row.pending) for row in report.rows} == {(4, 4, 0, 0)}
    raw, built = (next(one for one in report.rows if one.system == f"amem_{way}") for way in ("raw", "fused"))
    assert raw.cost.write.total.calls == 0 < built.cost.write.total.calls
    assert {"evidence_shown", "recall_at_10"} <= raw.measures.keys() & built.measures.keys()


def test_both_use_the_prompts_made_for_small_models(mini, tmp_path):
    for name in SYSTEMS:
        wanted = without(loaded(name, mini), "a-mem")
        manifest = runs.described(benchmarks_module("runs.material").material(wanted))
        assert manifest.reader.startswith("answer@v2+")
        for labels in manifest.prompts.values():
            assert labels.count("@v2+") == labels.count("@")
