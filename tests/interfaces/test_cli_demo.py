from __future__ import annotations

import re
import shutil
import subprocess
import sys

import pytest
from support import NOTHING, builds

from amem.embedding import HashEmbedder
from amem.errors import InputError, ModelUnavailable
from amem.interfaces.cli import demo_show
from amem.interfaces.cli.call import Call, finish
from amem.interfaces.cli.demo_run import Script
from amem.interfaces.cli.demo_source import choose, open_alike, recorded
from amem.interfaces.cli.shipped import DEMO
from amem.interfaces.cli.terminal import Terminal
from amem.settings import Settings
from amem.testing import FaultyLLM, ScriptedLLM


def weaves(request):
    """Link each new note to the nearest older one, and change that one."""
    older, newer = request.variables["neighbours"], request.variables["notes"]
    if not older:
        return NOTHING
    new, old = newer[0]["number"], older[0]["number"]
    link = {"source": new, "targets": [old], "relation": "goes on", "reason": "The same thing."}
    context = f"{older[0]['context']} Known better since {newer[0]['date']}."
    change = {"neighbour": old, "because": [new], "context": context, "keywords": ["later"], "tags": []}
    return {"links": [link], "changes": [change]}


def scripted():
    return ScriptedLLM({"note": builds, "link_evolve": weaves})


def empty(path):
    """Make a folder with the demo's conversation and questions, and no recordings."""
    path.mkdir()
    for name in ("conversation.jsonl", "questions.json"):
        shutil.copy(DEMO / name, path / name)
    return path


def record(folder, path, llm):
    script = Script.load(folder)
    return finish(
        lambda: open_alike(path, Settings.model_construct(), script, llm, HashEmbedder()),
        lambda rooms: recorded(rooms, folder, script, Terminal(quiet=True)),
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """The folder of a recording by a scripted model, and what the run showed."""
    root = tmp_path_factory.mktemp("made")
    folder = empty(root / "demo")
    return folder, record(folder, root / "memory", scripted())


@pytest.fixture
def source(made):
    return choose(Call(), None, made[0])


def lines(shown, source, *, whole=True):
    return "\n".join(str(part) for part in demo_show.everything(shown, source, whole=whole))


def test_what_was_recorded_replays_to_the_same_notes_links_changes_and_answers(made, source, tmp_path, monkeypatch):
    monkeypatch.setenv("AMEM_WINDOW", "3")  # nothing from the environment may change what is asked
    monkeypatch.setenv("AMEM_STRATEGY", "paper")
    shown, again = made[1], source.run(tmp_path, Terminal(quiet=True))
    assert shown.pending == []
    assert shown.links
    assert shown.changes
    assert (again.notes, again.links, again.changes) == (shown.notes, shown.links, shown.changes)
    assert [answer.context for answer in again.answers] == [answer.context for answer in shown.answers]
    assert again.usage == shown.usage


def test_an_interrupted_recording_goes_on_where_it_stopped(made, tmp_path):
    folder = empty(tmp_path / "demo")
    failing = FaultyLLM(scripted(), dict.fromkeys(range(5, 100), ModelUnavailable("outage")))
    assert record(folder, tmp_path / "a", failing).pending
    second = scripted()
    assert record(folder, tmp_path / "b", second).pending == []
    assert len(second.calls) == made[1].usage.calls - 4


def test_it_says_plainly_that_replies_and_vectors_are_replayed_and_who_made_them(source):
    said = demo_show.answered_by(source)
    assert re.search(rf"REPLAYED: {len(source.origin)} by .*hand.* on \d{{4}}-\d\d-\d\d", said)
    assert "vectors are replayed" in said
    assert "No model is asked" in said


def test_it_says_plainly_that_replies_are_live(tmp_path):
    call = Call(given={"llm": "openai/x", "api_base": "http://127.0.0.1:1/v1"})
    said = demo_show.answered_by(choose(call, None, empty(tmp_path / "demo")))
    assert "LIVE: openai/x at http://127.0.0.1:1/v1" in said


def test_it_shows_before_and_after_with_the_cause_and_marks_the_expected_turns(made, source):
    text = lines(made[1], source)
    assert "context before: About: " in text
    assert re.search(r"context after:  About: .* Known better since", text)
    assert "because of 2024-" in text
    assert "goes on → 2024-" in text
    assert re.search(r"^ ✓ \[\d+\] 2024-02-03 Tomasz: Guess what", text, re.MULTILINE)


def test_it_counts_what_was_recalled_and_what_it_cost(made, source):
    text = lines(made[1], source)
    found, wanted = map(int, re.search(r"(\d+) of the (\d+) turns that hold the answers", text).groups())
    assert wanted == sum(len(answer.asked.expects) for answer in made[1].answers)
    assert 0 < found < wanted
    assert text.count("✓") == found
    assert f"{made[1].usage.calls} calls" in text.splitlines()[-1]
    assert "as recorded" in text.splitlines()[-1]


def test_a_few_are_shown_unless_all_are_asked_for(made, source):
    shown = made[1]
    assert lines(shown, source, whole=False).count("because: ") == demo_show.LINKS
    assert lines(shown, source).count("because: ") == len(shown.links)


@pytest.mark.parametrize(
    ("given", "record"),
    [({}, "somewhere"), ({"strategy": "paper"}, None), ({"llm": "openai/x", "window": "3"}, "somewhere")],
)
def test_options_that_contradict_each_other_are_refused(made, tmp_path, given, record):
    with pytest.raises(InputError):
        choose(Call(given=given), record and tmp_path / record, made[0])


def test_without_recordings_it_says_what_to_do(tmp_path):
    with pytest.raises(InputError, match="--llm MODEL"):
        choose(Call(), None, empty(tmp_path / "demo"))


def test_the_shipped_demo_replays_offline_without_litellm(tmp_path):
    program = (
        "import atexit, sys\n"
        "from amem.interfaces.cli.app import main\n"
        "atexit.register(lambda: print('litellm' in sys.modules, file=sys.stderr))\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "demo", "--dir", str(tmp_path / "demo")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stderr.splitlines()[-1] == "False"
    assert "REPLAYED" in done.stdout
    assert "Questions" in done.stdout
