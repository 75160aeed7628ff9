from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from amem import errors
from amem.interfaces.cli.app import app
from amem.interfaces.cli.exits import code_of
from amem.interfaces.cli.verbs import hoisted

DOCS = Path(__file__).resolve().parents[2] / "docs" / "cli.md"
RUN = [sys.executable, "-c", "from amem.interfaces.cli.app import main; main()"]


def names(root=None, before=""):
    """Every verb, groups spelled out: `prompts list`."""
    for name, verb in (root or get_command(app)).commands.items():
        if hasattr(verb, "commands"):
            yield from names(verb, f"{before}{name} ")
        else:
            yield f"{before}{name}"


def test_help_costs_little_cpu_and_loads_nothing_heavy():
    program = (
        "import sys, atexit\n"
        "from amem.interfaces.cli.app import main\n"
        "heavy = {'sqlalchemy', 'litellm', 'chromadb', 'numpy', 'pydantic', 'rich', 'asyncio'}\n"
        "atexit.register(lambda: print(sorted(heavy & set(sys.modules)), file=sys.stderr))\n"
        "main()\n"
    )
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([sys.executable, "-c", program, "--help"], capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.stderr == "[]\n"
    # Measured .3 s; a machine with other work to do needs twice that now and then.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 0.9


def test_help_lists_every_verb_and_the_exit_codes(amem):
    text = amem("--help").stdout
    for verb in ["add", "import", "search", "recall", "list", "show", "links", "history", "undo", "process", "doctor",
                 "reindex", "stats", "demo", "prompts"]:  # fmt: skip
        assert f"\n  {verb} " in text
    assert "Exit codes: 0 done" in text


@pytest.mark.parametrize("verb", list(names()))
def test_every_verb_explains_itself(amem, verb):
    result = amem(*verb.split(), "--help")
    assert result.exit_code == 0
    assert result.stdout.startswith(f"Usage: amem {verb}")


def test_global_options_stand_before_or_after_the_verb(amem, woven):
    for line in (["--dir", "notes", "--box", "default", "stats"], ["stats", "--dir=notes", "--box", "default"]):
        assert "2 notes" in amem(*line).stdout


def test_what_follows_two_dashes_is_text():
    options = get_command(app).params
    assert hoisted(["add", "--", "--dir", "x"], options) == ["add", "--", "--dir", "x"]
    assert hoisted(["search", "q", "--dir", "x", "-q", "--json"], options) == [
        "--dir",
        "x",
        "-q",
        "search",
        "q",
        "--json",
    ]


def test_settings_come_from_options_over_environment_over_file(amem, woven, tmp_path, monkeypatch):
    (tmp_path / "amem.toml").write_text("window = 99\n")
    assert "window" in amem("stats").stderr
    monkeypatch.setenv("AMEM_WINDOW", "98")
    assert amem("stats").exit_code == 2
    assert amem("stats", "--set", "window=4").exit_code == 0


def test_another_settings_file_can_be_named(amem, woven, tmp_path):
    (tmp_path / "amem.toml").write_text("window = 99\n")
    (tmp_path / "other.toml").write_text("window = 4\n")
    assert amem("stats", "--config", "other.toml").exit_code == 0


@pytest.mark.parametrize("content", ["window = ", "no_such_setting = 1\n"])
def test_a_settings_file_that_is_wrong_is_a_usage_error(amem, woven, tmp_path, content):
    (tmp_path / "amem.toml").write_text(content)
    result = amem("stats")
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1


def test_a_settings_file_that_is_not_there_is_an_error_where_it_was_named(amem, woven):
    assert amem("stats", "--config", "none.toml").exit_code == 2


def test_the_directory_comes_from_the_environment_too(amem, woven, tmp_path, monkeypatch):
    monkeypatch.setenv("AMEM_DIR", str(tmp_path / "notes"))
    monkeypatch.chdir("/")
    assert "2 notes" in amem("stats").stdout


@pytest.mark.parametrize("pair", ["window", "=4", "api_key=secret"])
def test_a_setting_that_is_no_pair_or_a_secret_is_refused(amem, pair):
    result = amem("stats", "--set", pair)
    assert result.exit_code == 2
    assert "secret" not in result.stderr


def test_an_unknown_verb_or_option_is_a_usage_error(amem):
    assert amem("remember").exit_code == 2
    assert amem("search", "x", "--colour").exit_code == 2


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.InputError("x"), 2),
        (errors.SettingsError("x"), 2),
        (errors.PromptNotFound("x"), 2),
        (errors.NoteNotFound("x"), 2),
        (errors.RevisionNotFound("x"), 2),
        (errors.UndoConflict(1, [2]), 3),
        (errors.LedgerUnavailable("x"), 3),
        (errors.EmbeddingMismatch("x"), 3),
        (errors.ModelUnavailable("x"), 4),
        (errors.BudgetSpent("x"), 4),
        (errors.EmbeddingError("x"), 4),
    ],
)
def test_each_kind_of_error_has_its_exit_code(error, code):
    assert code_of(error) == code


def test_stopping_from_the_keyboard_ends_without_a_traceback():
    program = (
        "import io, signal, sys\n"
        "from amem.interfaces.cli.app import main\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # it may be ignored where the tests were started
        "class Input(io.StringIO):\n"
        "    def read(self, *_):\n"
        "        signal.raise_signal(signal.SIGINT)\n"
        "sys.stdin = Input()\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", program, "add"], capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert done.stderr.startswith("amem: stopped.")
    assert len(done.stderr.splitlines()) == 1


def test_a_programming_error_is_not_hidden(amem, woven, monkeypatch):
    from amem.memory import AsyncMemory

    async def broken(self):
        raise NameError("slip")

    monkeypatch.setattr(AsyncMemory, "stats", broken)
    with pytest.raises(NameError):
        amem("stats")


def test_a_terminal_that_lacks_a_letter_is_no_reason_to_fail(amem):
    amem("add", "Wrońska 你好")
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([*RUN, "list"], env=environment, check=True, capture_output=True)
    assert b"Wro\\u0144ska" in done.stdout


@pytest.mark.parametrize("verb", list(names()))
def test_every_verb_and_option_is_in_the_documentation(verb):
    text = DOCS.read_text()
    command = get_command(app)
    for word in verb.split():
        command = command.commands[word]
    assert f"`amem {verb}" in text
    for option in (spelling for param in command.params for spelling in param.opts if spelling.startswith("-")):
        assert re.search(rf"[`\[ ]{option}\b", text), option


def test_every_global_option_is_in_the_documentation():
    text = DOCS.read_text()
    for option in (spelling for param in get_command(app).params for spelling in param.opts):
        assert f"`{option}" in text, option
