from __future__ import annotations

import os

import pytest
from typer.testing import CliRunner

from amem.interfaces.cli.app import app


@pytest.fixture
def amem(tmp_path, monkeypatch):
    """Run a command line in this process, in an empty directory; the result has exit_code, stdout and stderr."""
    for name in [name for name in os.environ if name.startswith("AMEM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AMEM_EMBEDDING", "hash")
    monkeypatch.setenv("AMEM_CHROMA", "false")
    monkeypatch.chdir(tmp_path)

    def run(*args, stdin=None):
        result = CliRunner().invoke(app, [str(arg) for arg in args], input=stdin)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run
