"""The example agent runs offline, and what it learned in one session it knows in the next."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from amem.testing.fault_server import FaultServer, says

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(*arguments, cwd, typed=None, strict=True):
    env = {**os.environ, "HOME": str(cwd), "TMPDIR": str(cwd), "OPENAI_API_KEY": "none"}
    command = [sys.executable, *(["-W", "error"] if strict else []), str(EXAMPLES / "chat_agent.py"), *arguments]
    return subprocess.run(
        command, input=typed, capture_output=True, text=True, cwd=cwd, env=env, timeout=600, check=False
    )


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


# -- with a real client of a real server -----------------------------------------------------------

LIVES = {
    "notes": [
        {"turns": [0], "text": "Ana swims in the sea of Busan every morning.", "keywords": ["Busan"], "tags": ["sport"]}
    ],
    "facts": [{"turns": [0], "subject": "Ana", "predicate": "lives in", "object": "Busan", "single": True}],
    "episodes": [],
}


def plays(seen):
    """Distil what it is shown to distil, and answer what it is asked."""
    system, asked = (message["content"] for message in seen.body["messages"][:2])
    if "helpful assistant" not in system:
        return says(json.dumps(LIVES))
    return says("At the east gate." if "lives in Busan" in asked else "I do not know yet.")


@pytest.fixture(scope="module")
def live(tmp_path_factory):
    """Two sessions in two processes, of one memory; what each printed, and what the model was asked."""
    home = tmp_path_factory.mktemp("live")
    lines = {
        "monday": "I am Ana, I live in Busan and swim in the sea every morning.\nWhere is the nearest pool?\n\n",
        "thursday": "Where can I swim in Busan?\n\n",
    }
    with FaultServer(default=plays) as server:
        common = ["--llm", "openai/fake", "--api-base", server.url, "--dir", str(home / "agent")]
        done = [run(*common, "--session", name, cwd=home, typed=typed, strict=False) for name, typed in lines.items()]
        assert [(one.returncode, one.stderr) for one in done] == [(0, ""), (0, "")]
        yield [one.stdout for one in done], server.bodies


def test_a_live_model_answers_each_message_and_distils_a_session_in_one_call(live):
    _, asked = live
    kinds = ["agent" if "helpful assistant" in body["messages"][0]["content"] else "memory" for body in asked]
    assert kinds == ["agent", "agent", "memory", "agent", "memory"]


def test_what_one_process_learned_the_next_one_shows_its_model(live):
    (first, second), asked = live
    assert "fact     Ana lives in Busan" in first
    shown = asked[3]["messages"][1]["content"]
    assert shown.startswith("<memory>\n")
    assert "Ana lives in Busan (since " in shown
    assert "agent: At the east gate." in second


def test_the_trace_of_a_live_turn_says_what_it_read_and_wrote(live):
    (_, second), _ = live
    assert "read     facts: 1 of 1" in second
    assert "read     notes: " in second
    assert second.count("wrote    ") == 2
