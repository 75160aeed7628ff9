"""DialSim's format, from the data to the report, as a user runs it."""

from __future__ import annotations

from pathlib import Path

from dialsim_support import FIXTURE

from amem.interfaces.cli.shipped import benchmarks_module

SHIPPED = Path(benchmarks_module("runs.config").__file__).parents[1] / "configs" / "dialsim-extractive.toml"


def test_one_command_runs_amem_and_its_baselines_over_dialsims_fixture(amem, tmp_path):
    result = amem("bench", "run", SHIPPED, "--data", FIXTURE, "--out", "run")
    assert result.exit_code == 0
    assert result.stdout.splitlines()[0] == "54 answers of 6 systems scored in run"
    written = amem("bench", "report", "run", "--out", "report")
    assert written.exit_code == 0
    report = (tmp_path / "report" / "report.md").read_text()
    for part in (
        "| amem_raw | 9 |", "| bm25 | 9 |", "strict, all", "lenient, all", "(chance)", "(always (E))", "## Refusals",
        "## Time limits", "later than 5 s", "later than 6 s", "amem_raw against the others: strict",
    ):  # fmt: skip
        assert part in report
