"""The session of docs/prompts.md happens as it is written there: one command after the other, in one directory."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

from amem.testing.fault_server import FaultServer, says

PAGE = Path(__file__).parents[2] / "docs" / "prompts.md"
STEP = re.compile(r"<!-- (run|edit: (?P<file>\S+)) -->\n```\w+\n(?P<text>.*?)```", re.DOTALL)
ADDRESS = "http://127.0.0.1:8091/v1"


def built(seen):
    """Answer in the place of the model of the page."""
    turns = seen.body["messages"][-1]["content"].count("<turn number=")
    note = {"keywords": ["kw"], "tags": ["tag"], "context": "A plain context."}
    return says(json.dumps({"notes": [{"turn": turn, **note} for turn in range(turns)]}))


def edit(file, text):
    """Replace the line with a minus by the one with a plus."""
    old, new = (line[1:] for line in text.splitlines())
    before = file.read_text("utf-8")
    assert old in before
    file.write_text(before.replace(old, new), "utf-8")


def commands(text):
    """Yield each command with the lines that it is said to print."""
    for part in text.removeprefix("$ ").split("\n$ "):
        command, *printed = part.strip("\n").split("\n")
        yield shlex.split(command), printed


def fits(line):
    """Match a line of the page; … stands for anything."""
    parts = [re.escape(part.strip()) for part in line.split("…")]
    return re.compile(r"[^\n]*".join(parts))


def test_the_session_on_the_page_happens_as_it_is_told(amem, monkeypatch):
    monkeypatch.setenv("AMEM_API_KEY", "none")
    with FaultServer(default=built) as server:
        for step in STEP.finditer(PAGE.read_text("utf-8")):
            if step["file"]:
                edit(Path(step["file"]), step["text"])
                continue
            for (program, *words), printed in commands(step["text"]):
                assert program == "amem"
                result = amem(*(server.url if word == ADDRESS else word for word in words))
                assert result.exit_code in {0, 1}, result.stderr
                said = re.sub(" +", " ", result.stdout + result.stderr)
                for line in printed:
                    assert fits(re.sub(" +", " ", line)).search(said), f"{line!r} is not in\n{said}"
    assert len(server.requests) == 3
