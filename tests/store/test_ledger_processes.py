"""Several processes over one ledger, and processes that are killed: nothing is lost, doubled or half done."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from ledger_support import ANY, VECTORS, Shelf

from amem.filters import Filter
from amem.store.database import _create
from amem.store.doctor import doctor

TESTS = Path(__file__).parent.parent


def start(directory, name, rounds):
    command = [sys.executable, str(TESTS / "ledger_child.py"), str(directory), name, str(rounds)]
    paths = os.pathsep.join([str(TESTS.parent), str(TESTS)])
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
    )


def told(output, what):
    """What a child said was done."""
    return {line.removeprefix(f"{what} ") for line in output.splitlines() if line.startswith(f"{what} ")}


def stored(shelf):
    page = shelf.ledger.page("default", ANY, after=None, limit=10_000)
    return [note.content for note in page.notes]


def test_processes_that_open_a_new_directory_at_once_all_get_in_and_lose_nothing(tmp_path):
    children = [start(tmp_path, name, 12) for name in ("a", "b", "c", "d")]
    outputs = []
    for child in children:
        output, errors = child.communicate(timeout=300)
        assert (child.returncode, errors) == (0, "")
        outputs.append(output)
    accepted = set().union(*(told(output, "accepted") for output in outputs))
    forgotten = set().union(*(told(output, "forgotten") for output in outputs))
    assert len(accepted) == 48
    shelf = Shelf(tmp_path)
    assert sorted(stored(shelf)) == sorted(accepted - forgotten)
    positions = [position for (position,) in shelf.sql("SELECT position FROM note ORDER BY position")]
    assert len(positions) == len(set(positions))
    assert doctor(shelf.ledger, shelf.vectors).problems == ()
    shelf.close()


def test_whoever_comes_second_leaves_the_tables_as_they_are(tmp_path):
    shelf = Shelf(tmp_path)
    shelf.add("bread")
    _create(shelf.ledger.database)  # as a process that saw no table when it looked
    assert stored(shelf) == ["bread"]
    shelf.close()


@pytest.mark.slow
def test_a_process_killed_at_any_moment_loses_nothing_that_was_acknowledged_and_doubles_nothing(tmp_path):
    randomly = random.Random(11)
    accepted, forgotten, committed = set(), set(), set()
    for life in range(15):
        child = start(tmp_path, f"life{life}", 10_000)
        first = child.stdout.readline()  # only once it is at work does the clock of its life start
        time.sleep(randomly.uniform(0.0, 0.25))
        child.send_signal(signal.SIGKILL)
        rest, errors = child.communicate(timeout=300)
        assert (child.returncode, errors) == (-signal.SIGKILL, "")
        output = first + rest[: rest.rfind("\n") + 1]
        accepted |= told(output, "accepted")
        committed |= told(output, "committed")
        forgotten |= told(output, "forgotten")
        shelf = Shelf(tmp_path)
        there = stored(shelf)
        assert len(there) == len(set(there))
        assert not set(there) & forgotten
        # The last moment may have done one thing more than could be told.
        unsaid = {text for text in accepted - forgotten if text not in there}
        assert len(unsaid) <= life + 1
        assert all(int(text.split()[1]) % 10 == 9 for text in unsaid), "only a forgetting takes a note away"
        page = shelf.ledger.page("default", Filter(), after=None, limit=10_000)
        ready = {note.content for note in page.notes if note.status == "ready"}
        assert committed - forgotten - unsaid <= ready
        # Killed after a forgetting, before the texts it changed were embedded anew: that is taken up again here.
        shelf.ledger.put_vectors(shelf.ledger.without_vector(), VECTORS)
        assert doctor(shelf.ledger, shelf.vectors).problems == ()
        shelf.close()
    assert len(accepted) > 15
