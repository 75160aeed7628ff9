"""Prove that the tests behind docs/trust.md can fail: `make mutants`, or `python tests/mutants.py T01 adapters/`.

Each case of `mutants.toml` names a test and one line of the code to spoil. The checkout is copied; in the copy all
tests must pass; then, case by case, the line is spoilt in a copy of it and the test run there: a test that still passes
is no test, and makes this fail. What runs does not look at the checkout again, so it may be worked on meanwhile.

`--log FILE` keeps the verdicts: started again, it tries only what was not killed yet, or has changed since. `--table`
prints the table of docs/trust.md.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
COPIED = ("amem", "benchmarks", "prompts", "tests", "examples", "pyproject.toml", "README.md", "CHANGELOG.md", "docs")
PATIENCE = 900
_SUMMARY = re.compile(r"^(?:FAILED|ERROR) \S.*? - (.*)$", re.MULTILINE)


class Case(NamedTuple):
    """One thing that broke elsewhere, the test that it cannot here, and how to spoil the code behind it."""

    id: str
    what: str
    test: str
    file: str
    old: str
    new: str

    def is_about(self, word: str) -> bool:
        """Say whether a word of the command line means this case: its id, or a part of its test's or file's name."""
        return word == self.id or word in self.test or word in self.file

    def digest(self, root: Path) -> str:
        """Return what a verdict holds for: the case, the code and the test as they stand."""
        test = root / self.test.partition("::")[0]
        parts = (*self, (root / self.file).read_text(), test.read_text())
        return sha256("\0".join(parts).encode()).hexdigest()[:12]


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


def copied(base: Path, copy: Path) -> Path:
    """Copy what the tests need of a checkout."""
    for name in COPIED:
        source = base / name
        (shutil.copytree if source.is_dir() else shutil.copy2)(source, copy / name)
    return copy


def ran(copy: Path, *arguments: str, times: int = 1) -> subprocess.CompletedProcess[str]:
    """Run pytest in a copy, on the code of that copy."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments],
        cwd=copy, env={**os.environ, "PYTHONPATH": str(copy), "COLUMNS": "240"}, capture_output=True, text=True,
        timeout=times * PATIENCE, check=False,
    )  # fmt: skip


def unspoilt(base: Path, tests: list[str], jobs: int) -> str | None:
    """Return what pytest says of tests that fail though no line is spoilt, or None where all pass."""
    run = ran(base, "-n", str(jobs), *dict.fromkeys(tests), times=4)
    return run.stdout[-4000:] if run.returncode else None


def verdict(base: Path, case: Case) -> tuple[bool, str]:
    """Say whether a case's test fails as it should, and how; or why the case proves nothing."""
    with tempfile.TemporaryDirectory(prefix="amem-mutant-") as place:
        spoilt = copied(base, Path(place)) / case.file
        text = spoilt.read_text()
        if text.count(case.old) != 1:
            return False, f"{case.file} has the line to spoil {text.count(case.old)} times"
        spoilt.write_text(text.replace(case.old, case.new))
        try:
            run = ran(Path(place), "-x", case.test)
        except subprocess.TimeoutExpired:
            return False, f"the test did not end within {PATIENCE} s"
    if run.returncode == 1:
        return True, "; ".join(_SUMMARY.findall(run.stdout))
    return False, "the test passes" if run.returncode == 0 else f"the test did not run:\n{run.stdout[-2000:]}"


def tried(base: Path, chosen: list[Case], jobs: int, log: Path | None) -> int:
    """Try cases; say and note down each verdict; return how many prove nothing."""
    failed = 0
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        for case, (killed, how) in zip(chosen, pool.map(partial(verdict, base), chosen), strict=True):
            failed += not killed
            line = f"{'killed  ' if killed else 'SURVIVED'} {case.digest(base)} {case.id:5} {case.test}: {how}"
            print(line, flush=True)
            if log is not None:
                with log.open("a") as file:
                    file.write(line + "\n")
    return failed


def main() -> int:
    """Try the wanted cases, or all; return how many prove nothing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="ids, or parts of names of tests or files; default: all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--log", type=Path, help="where verdicts are kept, and taken up again")
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    if given.table:
        print(table())
        return 0
    known = given.log.read_text() if given.log is not None and given.log.exists() else ""
    with tempfile.TemporaryDirectory(prefix="amem-mutants-") as place:
        base = copied(ROOT, Path(place))
        chosen = [case for case in cases() if not given.words or any(map(case.is_about, given.words))]
        ahead = [case for case in chosen if f"killed   {case.digest(base)} " not in known]
        print(f"{len(chosen)} mutations, {len(chosen) - len(ahead)} of them tried before", flush=True)
        if ahead and (faults := unspoilt(base, [case.test for case in ahead], given.jobs)):
            print(f"tests that fail on unspoilt code prove nothing:\n{faults}")
            return len(ahead)
        failed = tried(base, ahead, given.jobs, given.log)
    print(f"{len(chosen)} mutations, {failed} survived")
    return failed


if __name__ == "__main__":
    sys.exit(main() > 0)
