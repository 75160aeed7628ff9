from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    out = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)  # by way of the sdist, as releases are made
    with zipfile.ZipFile(next(out.glob("*.whl"))) as packed:
        yield {name: packed.getinfo(name).file_size for name in packed.namelist()}


def test_prompts_and_benchmarks_ship_in_the_wheel(wheel):
    assert {"amem/_prompts/v1/note.j2", "amem/_prompts/versions.toml", "amem/_benchmarks/datasets/locomo.py"} <= set(
        wheel
    )


def test_golden_values_and_the_judges_prompts_ship_with_the_benchmarks(wheel):
    assert {
        "amem/_benchmarks/selftest/golden_metrics.json",
        "amem/_benchmarks/selftest/golden_dialsim.json",
        "amem/_benchmarks/judge/prompts/v1/strict.j2",
    } <= set(wheel)


def test_the_tokenizer_the_demo_and_the_type_marker_ship_in_the_wheel(wheel):
    assert {
        "amem/_data/tokenizer.json",
        "amem/_data/NOTICE",
        "amem/_data/demo/conversation.jsonl",
        "amem/py.typed",
    } <= set(wheel)


def test_the_wheel_holds_nothing_of_the_tests_and_stays_small(wheel):
    assert not [name for name in wheel if name.startswith("tests")]
    assert sum(wheel.values()) < 6_000_000
