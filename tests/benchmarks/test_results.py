"""What is kept of our own runs: ids and scores, small enough to be kept."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from amem.interfaces.cli.shipped import benchmarks_module

Scored = benchmarks_module("runs.records").Scored
RESULTS = Path(benchmarks_module("runs.records").__file__).parents[1] / "results"
KEPT = sorted(path for path in RESULTS.rglob("*") if path.is_file())


def test_results_on_locomo_name_its_authors_and_its_terms():
    said = " ".join((RESULTS / "README.md").read_text().split())
    for part in (
        "Maharana",
        "ACL 2024",
        "arXiv 2402.17753",
        "CC BY-NC 4.0",
        "no commercial use",
        "No text of it is here",
    ):
        assert part in said


def test_results_are_small():
    assert sum(path.stat().st_size for path in KEPT) < 2_000_000


@pytest.mark.parametrize("path", [path for path in KEPT if path.name.startswith("scores.jsonl")], ids=str)
def test_scores_that_are_kept_have_ids_and_numbers_only(path):
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    for line in text.splitlines():
        one = Scored.model_validate_json(line)
        assert one.unit == f"{one.system} {one.conversation}#{one.index}"
        assert all(len(name.split()) == 1 for name in (one.system, one.conversation, one.category))


@pytest.mark.parametrize("path", [path for path in KEPT if path.suffix == ".html"], ids=str)
def test_pages_that_are_kept_need_no_other_file(path):
    text = path.read_text()
    assert "<script" not in text
    assert "src=" not in text
