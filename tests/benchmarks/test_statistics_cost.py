from __future__ import annotations

import pytest

from amem.interfaces.cli.shipped import benchmarks_module
from amem.model import Usage

cost = benchmarks_module("statistics.cost")


def spent(calls, prompt, reply, seconds, **more):
    return cost.Spent(Usage(calls=calls, prompt_tokens=prompt, completion_tokens=reply, **more), seconds)


def test_writing_and_reading_are_counted_apart():
    found = cost.cost([spent(2, 100, 20, 1.0), spent(1, 50, 10, 3.0)], [spent(1, 900, 5, 0.5)])
    assert (found.write.units, found.write.total.calls, found.write.tokens_per_unit) == (2, 3, 90.0)
    assert (found.write.calls_per_unit, found.write.seconds) == (1.5, 4.0)
    assert (found.read.units, found.read.tokens_per_unit) == (1, 905.0)


def test_a_turn_that_was_worked_on_twice_is_one_turn():
    found = cost.cost([spent(2, 100, 20, 1.0), spent(1, 50, 10, 3.0)], [], turns=1)
    assert (found.write.units, found.write.calls_per_unit, found.write.tokens_per_unit) == (1, 3.0, 180.0)
    assert found.write.latency.p50_ms == 2000.0


def test_latency_is_that_of_single_turns_and_questions():
    found = cost.cost([], [spent(0, 0, 0, place / 100) for place in range(101)])
    assert (found.read.latency.p50_ms, found.read.latency.p95_ms) == (500.0, 950.0)
    assert found.write.latency is None


def test_money_is_unknown_as_soon_as_one_price_is():
    known, unknown = spent(1, 1, 1, 1.0, cost=0.25), spent(1, 1, 1, 1.0, unpriced=1)
    assert cost.cost([known, known], []).write.money == 0.5
    assert cost.cost([known, unknown], []).write.money is None


@pytest.mark.parametrize("there", [True, False])
def test_the_index_is_all_that_lies_in_the_memorys_folder(tmp_path, there):
    (tmp_path / "chroma").mkdir()
    (tmp_path / "notes.db").write_bytes(b"x" * 100)
    (tmp_path / "chroma" / "graph.bin").write_bytes(b"x" * 23)
    (tmp_path / "elsewhere").symlink_to(tmp_path / "notes.db")
    assert cost.cost([], [], tmp_path if there else None).index_bytes == (123 if there else None)
