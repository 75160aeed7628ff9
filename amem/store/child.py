"""Running a module of ours in a process of its own: a damaged Chroma kills whoever opens it."""

from __future__ import annotations

import os
import subprocess
import sys


class ChildFailed(Exception):
    """The child found fault, died, or did not end in time; the message says which."""


def run_child(module: str, *arguments: str, seconds: float) -> bytes:
    """Run `python -m module arguments…`, which imports what this process would, and return what it wrote.

    Raises:
        ChildFailed: it could not be started, ended with an error, or did not end within `seconds`.
    """
    if not sys.executable:
        raise ChildFailed("there is no Python to look at it with")
    paths = os.pathsep.join(path for path in sys.path if path)
    try:
        child = subprocess.run(  # noqa: S603 - our own module, and arguments of its own
            [sys.executable, "-m", module, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=seconds,
            check=False,
            env={**os.environ, "PYTHONPATH": paths},
        )
    except subprocess.TimeoutExpired as error:
        raise ChildFailed(f"no answer within {seconds:g} s") from error
    if child.returncode:
        said = child.stderr.decode(errors="replace").strip().splitlines()
        why = said[-1][:300] if said and child.returncode > 0 else f"it kills its process ({child.returncode})"
        raise ChildFailed(why)
    return child.stdout
