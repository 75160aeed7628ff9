"""A framework is imported by its own module only, and its absence says what to install."""

from __future__ import annotations

import subprocess
import sys

import pytest


def run(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.parametrize(
    ("module", "package", "extra"),
    [("langgraph", "langgraph", "langgraph"), ("openai_agents", "agents", "openai-agents")],
)
def test_a_missing_framework_is_a_clear_error(module, package, extra):
    done = run(f"import sys; sys.modules[{package!r}] = None; import amem.adapters.{module}")
    assert done.returncode == 1
    assert f"pip install 'amem[{extra}]'" in done.stderr


def test_p7_the_tools_import_no_framework():
    done = run(
        "import sys, amem.adapters.tools\n"
        "print(sorted({'langgraph', 'langchain_core', 'agents', 'litellm'} & set(sys.modules)))"
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")
