"""Prove that the tests behind docs/trust.md can fail: `make mutants`, or `python tests/mutants.py T01 adapters/`.

Each case of `mutants.toml` names a test and one line of the code to spoil. The checkout is copied; in a copy the test
must pass as it is, and fail once the line is spoilt: a test that still passes is no test, and makes this fail. What
runs does not look at the checkout again, so it may be worked on meanwhile.

`--log FILE` keeps the verdicts: started again, it tries only what was not killed yet, or has changed since. `--table`
prints the table of docs/trust.md.
"""

from __future__ import annotations

import argparse
import gc
import os
import re
import shutil
import signal
import sys
import tempfile
import tomllib
import traceback
from contextlib import suppress
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
COPIED = ("amem", "benchmarks", "prompts", "tests", "examples", "pyproject.toml", "README.md", "CHANGELOG.md", "docs")
PATIENCE = 900
LIBRARIES = (
    "pytest_asyncio", "_hypothesis_pytestplugin", "hypothesis", "numpy", "pydantic", "sqlalchemy", "alembic",
    "tenacity", "jinja2", "json_repair", "typer", "rich", "onnxruntime", "tokenizers", "chromadb", "litellm",
)  # fmt: skip
"""Imported once, for all cases: each is a fork, and would otherwise spend most of its time on importing them."""
QUIETLY = (
    "-q", "-p", "no:cacheprovider", "-p", "no:langsmith_plugin",
    "-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning",
)  # fmt: skip
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


def tested(copy: Path, test: str) -> tuple[int, str]:
    """Run one test on the code of a copy, in a process of its own; return pytest's exit code and what it said."""
    said = copy / "said.txt"
    sys.stdout.flush()
    gc.collect()  # or what the copying left is found in the child, and counted as the test's
    child = os.fork()
    if child == 0:
        _test(copy, test, said)
    status = os.waitpid(child, 0)[1]
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what the test left behind
    return os.waitstatus_to_exitcode(status), said.read_text(errors="replace")


def _test(copy: Path, test: str, said: Path) -> None:
    os.setsid()
    signal.alarm(PATIENCE)
    file = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.chdir(copy)
    os.environ.update(PYTHONPATH=str(copy), COLUMNS="240")
    sys.path[:] = [str(copy), *(place for place in sys.path if not Path(place).resolve().is_relative_to(ROOT))]
    code = 3
    try:
        code = int(pytest.main([*QUIETLY, "-x", test]))
    except BaseException:  # noqa: BLE001 - nothing of it may go on in the parent's place
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)


def verdict(base: Path, case: Case, *, trusting: bool) -> tuple[bool, str]:
    """Say whether a case's test fails as it should, and how; or why the case proves nothing."""
    with tempfile.TemporaryDirectory(prefix="amem-mutant-", ignore_cleanup_errors=True) as place:
        copy = copied(base, Path(place))
        spoilt = copy / case.file
        text = spoilt.read_text()
        if text.count(case.old) != 1:
            return False, f"{case.file} has the line to spoil {text.count(case.old)} times"
        code, said = (0, "") if trusting else tested(copy, case.test)
        if code != 0 or "skipped" in said:
            return False, f"the test does not pass as it is ({code}):\n{said[-2000:]}"
        spoilt.write_text(text.replace(case.old, case.new))
        code, said = tested(copy, case.test)
    failures = _SUMMARY.findall(said)
    if code == 1 or (code == 3 and failures):  # pytest itself may stumble over what a failed test leaves behind
        return True, "; ".join(failures)
    return False, "the test passes" if code == 0 else f"the test did not run to its end ({code}):\n{said[-2000:]}"


def tried(base: Path, chosen: list[Case], log: Path | None, *, trusting: bool) -> int:
    """Try cases one after another; say and note down each verdict; return how many prove nothing."""
    failed = 0
    for case in chosen:
        killed, how = verdict(base, case, trusting=trusting)
        failed += not killed
        line = f"{'killed  ' if killed else 'SURVIVED'} {case.digest(base)} {case.id:5} {case.test}: {how}"
        print(line, flush=True)
        if log is not None:
            with log.open("a") as file:
                file.write(line + "\n")
    return failed


def in_parts(base: Path, chosen: list[Case], jobs: int, log: Path | None, *, trusting: bool) -> int:
    """Try cases in several processes; return how many prove nothing."""
    children = []
    for number in range(jobs):
        child = os.fork()
        if child == 0:
            os._exit(min(100, tried(base, chosen[number::jobs], log, trusting=trusting)))
        children.append(child)
    return sum(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)


def main() -> int:
    """Try the wanted cases, or all; return how many prove nothing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="ids, or parts of names of tests or files; default: all")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--log", type=Path, help="where verdicts are kept, and taken up again")
    parser.add_argument("--trusting", action="store_true", help="believe that the tests pass on unspoilt code")
    parser.add_argument("--table", action="store_true")
    given = parser.parse_args()
    if given.table:
        print(table())
        return 0
    known = given.log.read_text() if given.log is not None and given.log.exists() else ""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # or its import fetches a list of prices
    for name in LIBRARIES:
        import_module(name)
    with tempfile.TemporaryDirectory(prefix="amem-mutants-", ignore_cleanup_errors=True) as place:
        base = copied(ROOT, Path(place))
        chosen = [case for case in cases() if not given.words or any(map(case.is_about, given.words))]
        ahead = [case for case in chosen if f"killed   {case.digest(base)} " not in known]
        print(f"{len(chosen)} mutations, {len(chosen) - len(ahead)} of them tried before", flush=True)
        failed = in_parts(base, ahead, given.jobs, given.log, trusting=given.trusting)
    print(f"{len(chosen)} mutations, {failed} survived")
    return failed


if __name__ == "__main__":
    sys.exit(main() > 0)
