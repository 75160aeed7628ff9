"""The example agent runs offline, and what it learned in one session it knows in the next."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(*arguments, cwd):
    env = {**os.environ, "HOME": str(cwd), "TMPDIR": str(cwd)}
    command = [sys.executable, "-W", "error", str(EXAMPLES / "chat_agent.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=env, timeout=600, check=False)


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    done = run("--script", str(EXAMPLES / "two_sessions.json"), cwd=tmp_path_factory.mktemp("home"))
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split("== session ")[1:]


def test_the_first_session_is_built_into_notes_facts_and_episodes(told):
    first = told[0]
    assert first.count("\nuser: ") == first.count("\nagent: ") == 3
    built = first.partition("what waited is built")[2].split("\n")
    assert [line.split()[0] for line in built if line.strip()] == ["note", "note", "note", "episode", "fact"]


def test_the_second_session_reads_them_before_it_answers(told):
    before_answering, _, _ = told[1].partition("wrote")
    assert "Ana lives in Seoul (since 2025-03-03)" in before_answering
    assert "Ana's sister Mina works at the fish market in Busan." in before_answering
    assert "Lesson: say the third floor at most." in before_answering


def test_the_second_session_ends_what_holds_no_more_and_says_what_it_does_not_build(told):
    assert "ended    Ana lives in Seoul (until 2025-06-05)" in told[1]
    assert "wrote    user's turn, not to be built: it is small talk" in told[1]


def test_without_a_model_it_says_what_to_give(tmp_path):
    done = run(cwd=tmp_path)
    assert done.returncode == 2
    assert "--llm MODEL" in done.stderr
    assert list(tmp_path.iterdir()) == []
