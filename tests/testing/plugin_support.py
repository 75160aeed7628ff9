"""Another project, whose tests use amem's pytest plugin, and a pytest of its own that runs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from importlib import metadata
from pathlib import Path

from amem.testing.fault_server import says

ROOT = Path(__file__).parents[2]
INSTALLED = any(entry.name == "amem" for entry in metadata.entry_points(group="pytest11"))
BUILT = {"notes": [{"turn": 0, "keywords": ["boat"], "tags": ["money"], "context": "The boat is sold."}]}
WOVEN = {
    "links": [{"source": 1, "targets": [0], "relation": "paid by", "reason": "The boat paid for the van."}],
    "changes": [],
}
TESTS = """
    def test_it_remembers(amem_memory):
        amem_memory.add("Ana sold the old boat", speaker="Ana")
        added = amem_memory.add("Ana sold the old boat to buy a van", speaker="Ana")
        assert added.status == "ready", added
        assert [link.relation for link in added.links] == ["paid by"]
        assert amem_memory.search("the boat")[0].note.keywords == ("boat",)
"""


def answer(seen):
    """What the model server says: the links where links are asked for, else a note's fields."""
    asks_for_links = '"changes"' in json.dumps(seen.body).replace("\\", "")
    return says(json.dumps(WOVEN if asks_for_links else BUILT))


class Project:
    """A directory with tests, and recordings once they were made."""

    def __init__(self, root, tests=TESTS, ini=""):
        self.root = root
        self.recordings = root / "tests" / "recordings"
        self.write("tests/test_agent.py", tests)
        self.write("pytest.ini", f"[pytest]\n{ini}")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))

    def files(self, prompt="*"):
        return sorted(self.recordings.glob(f"*/{prompt}/*.json"))

    def pytest(self, *options, **env):
        """Run the project's tests as it would, without the plugins it does not have."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith("AMEM_") and key != "CI"}
        plugin = "amem" if INSTALLED else "amem.testing.plugin"
        command = [sys.executable, "-W", "error::ResourceWarning", "-m", "pytest", "-q", "-p", plugin, *options]
        env = {**kept, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT), "OPENAI_API_KEY": "none", **env}
        done = subprocess.run(
            command, cwd=self.root, env=env, capture_output=True, text=True, timeout=300, check=False
        )  # fmt: skip
        done.said = done.stdout + done.stderr
        return done
