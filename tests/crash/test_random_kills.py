"""P1, P3: forty processes that do random things are killed at a random statement, and every look finds all in order."""

from __future__ import annotations

import asyncio
import random

import pytest
from crash_support import lead
from soak.inspector import inspect
from soak.oracle import Oracle
from soak.worker import work

LIVES = 40
SETTINGS = {"chroma": False, "similarity_floor": -1.0}


def live_and_die(fuse, directory, journal, seed):
    """Do random things; every statement that SQLite begins is a step."""
    from sqlalchemy import Engine, event

    event.listen(Engine, "connect", lambda raw, _: raw.set_trace_callback(lambda _: fuse.reach("statement")))
    fuse.is_lit = True
    work(directory, journal, seed, 60.0, SETTINGS)


@pytest.mark.slow
def test_p3_processes_killed_at_any_statement_lose_double_and_make_up_nothing(tmp_path):
    randomly = random.Random(4)
    oracle = Oracle()
    for number in range(LIVES):
        doomed = f"statement {randomly.randint(1, 1200)}"
        journal = tmp_path / f"{number}.jsonl"
        life = lead(live_and_die, tmp_path / "m", journal, randomly.getrandbits(40), doomed=doomed)
        assert life.was_killed, (doomed, life)
        oracle.read(journal)
        assert oracle.failures == []
        looked, wrong = asyncio.run(inspect(tmp_path / "m", oracle, SETTINGS))
        assert wrong == [], (number, doomed)
        assert looked > 20
    assert oracle.operations.total() > LIVES
