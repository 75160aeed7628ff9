"""Prove that the tests behind docs/trust.md can fail: `make mutants`, or `python tests/mutants.py T01 T25`.

Each case of `mutants.toml` names a test and one line of the code to spoil. The checkout is copied, the line spoilt in
the copy, and the test run there: a test that still passes is no test, and makes this fail. `--table` prints the table
of docs/trust.md.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
COPIED = ("amem", "benchmarks", "prompts", "tests", "pyproject.toml", "README.md", "CHANGELOG.md", "docs")
PATIENCE = 900


class Case(NamedTuple):
    """One thing that broke elsewhere, the test that it cannot here, and how to spoil the code behind it."""

    id: str
    what: str
    test: str
    file: str
    old: str
    new: str


def cases() -> list[Case]:
    """Read all cases."""
    return [Case(**case) for case in tomllib.loads((ROOT / "tests/mutants.toml").read_text())["case"]]


def table() -> str:
    """Return the table of docs/trust.md."""
    lines = ["| case | what broke elsewhere | the test that it cannot here | fails without |", "|---|---|---|---|"]
    for case in cases():
        line = " ".join(case.old.split()).replace("|", "\\|")
        lines.append(f"| {case.id} | {case.what} | `{case.test.replace('|', '/')}` | `{line}` in `{case.file}` |")
    return "\n".join(lines)


def survives(case: Case) -> str | None:
    """Return why a case proves nothing, or None where its test fails as it should."""
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place)
        for name in COPIED:
            source = ROOT / name
            (shutil.copytree if source.is_dir() else shutil.copy)(source, copy / name)
        spoilt = copy / case.file
        text = spoilt.read_text()
        if text.count(case.old) != 1:
            return f"{case.file} has the line to spoil {text.count(case.old)} times"
        spoilt.write_text(text.replace(case.old, case.new))
        try:
            run = subprocess.run(
                [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", case.test],
                cwd=copy, env={**os.environ, "PYTHONPATH": str(copy)}, capture_output=True, text=True, timeout=PATIENCE,
                check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"the test did not end within {PATIENCE} s"
    if run.returncode == 1:
        return None
    return "the test passes" if run.returncode == 0 else f"the test did not run:\n{run.stdout[-2000:]}"


def main(wanted: list[str]) -> int:
    """Try the wanted cases, or all; return how many prove nothing."""
    chosen = [case for case in cases() if not wanted or case.id in wanted]
    failed = 0
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for case, why in zip(chosen, pool.map(survives, chosen), strict=True):
            failed += why is not None
            print(
                f"{'killed  ' if why is None else 'SURVIVED'} {case.id:5} {case.test}",
                *filter(None, [why]),
                sep=": ",
                flush=True,
            )
    print(f"{len(chosen)} mutations, {failed} survived")
    return failed


if __name__ == "__main__":
    if sys.argv[1:] == ["--table"]:
        print(table())
    else:
        sys.exit(main(sys.argv[1:]) > 0)
