"""To look for a text in the ledger's files must not give up the locks that SQLite has on them in this process."""

from __future__ import annotations

import subprocess
import sys

from ledger_support import Shelf

from amem.upkeep import searching

WRITES = """
import sqlite3, sys
sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None).execute("BEGIN IMMEDIATE")
"""


def writes(path):
    """Whether another process can begin to write."""
    done = subprocess.run([sys.executable, "-c", WRITES, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0 or "locked" in done.stderr
    return done.returncode == 0


def test_p3_looking_through_the_files_of_the_ledger_lets_nobody_else_write(tmp_path):
    shelf = Shelf(tmp_path)
    shelf.add("the oven is in zanzibar")
    files = sorted(path for path in tmp_path.iterdir() if path.is_file())
    with shelf.ledger.database.writing():
        assert not writes(tmp_path / "ledger.db")
        (found,) = searching._holding([(files, ["zanzibar"])])
        assert {path.name for path in found} <= {path.name for path in files}
        assert found
        assert not writes(tmp_path / "ledger.db")
    assert writes(tmp_path / "ledger.db")
    shelf.close()
