from __future__ import annotations

import io
import json
import logging
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from amem.ingest.worker import Step
from amem.interfaces.cli.progress import counting, progress, spending
from amem.interfaces.cli.terminal import Terminal, json_text, one_line, visible
from amem.model import Usage

ATTACK = "red \x1b[31m \x9b2J \x07 \r over \x00 \u202e desrever"


def harmless(text):
    acting = [*range(9), *range(11, 32), *range(127, 160)]
    return not set(map(ord, text)) & set(acting)


def test_control_characters_are_written_out():
    assert visible("\x1b[31m\x9b\r\x00\u202e") == "\\x1b[31m\\x9b\\r\\x00\\u202e"
    assert visible("two\n\tlines: é 你好 👩‍👩‍👧") == "two\n\tlines: é 你好 👩‍👩‍👧"


@given(st.text())
def test_nothing_visible_can_act_on_a_terminal(text):
    assert harmless(visible(text))
    assert "\n" not in one_line(text)


@given(st.recursive(st.text() | st.integers() | st.none(), st.lists))
def test_json_is_harmless_and_means_the_same(value):
    assert harmless(json_text(value))
    assert json.loads(json_text(value)) == value


@pytest.mark.parametrize("verb", [["search", "red"], ["recall", "red"], ["list"], ["search", "red", "--json"]])
def test_a_note_cannot_act_on_the_terminal_that_shows_it(amem, verb):
    amem("add", ATTACK, "--speaker", "Eve\x1b]0;title\x07", "--tag", "a\x1btag")
    result = amem(*verb)
    assert "red" in result.stdout
    assert harmless(result.stdout)
    assert harmless(result.stderr)


def test_markup_and_emoji_codes_in_a_note_are_text(amem):
    amem("add", "[bold]loud[/bold] :smile: [/nothing]")
    assert "[bold]loud[/bold] :smile: [/nothing]" in amem("list").stdout


def test_an_error_cannot_act_on_the_terminal_either(amem):
    amem("add", "hello")
    assert harmless(amem("show", "no\x1b[31mte").stderr)


def drawn(terminal, *, tty):
    terminal.err = Console(file=io.StringIO(), force_terminal=tty, width=160)
    with progress(terminal, "importing") as moved:
        moved(Step(done=3, total=10, pending=1, usage=Usage(calls=4, prompt_tokens=1200, completion_tokens=34)))
    return terminal.err.file.getvalue()


def test_progress_tells_done_calls_tokens_and_what_is_pending():
    text = drawn(Terminal(), tty=True)
    for part in ("importing, 1 pending", "3/10", "4 calls", "1,234 tokens", "left"):
        assert part in text


def test_progress_is_silent_where_nobody_watches():
    assert drawn(Terminal(), tty=False) == ""
    assert drawn(Terminal(quiet=True), tty=True) == ""


@pytest.mark.parametrize(
    ("told", "shown"), [({"left": 3725.2}, "left 1:02:05"), ({"left": None}, "left -:--:--"), ({}, "left 0:00:00")]
)
def test_the_time_left_is_as_it_was_told_or_as_it_follows_from_what_is_done(told, shown):
    terminal = Terminal()
    terminal.err = Console(file=io.StringIO(), force_terminal=True, width=160)
    with spending(terminal) as moved:
        moved("reading", 5 if told else 10, 10, Usage(), **told)
    assert shown in re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.err.file.getvalue())


def test_work_without_a_model_is_counted_alone():
    terminal = Terminal()
    terminal.err = Console(file=io.StringIO(), force_terminal=True, width=160)
    with counting(terminal, "embedding") as moved:
        moved(1, 3)
    assert "embedding" in terminal.err.file.getvalue()
    assert "1/3" in terminal.err.file.getvalue()
    assert "calls" not in terminal.err.file.getvalue()


def test_quiet_keeps_remarks_back_and_errors_not(amem):
    assert amem("add", "hello", "-q").stderr == ""
    assert "no note" in amem("-q", "show", "nobody").stderr


def test_warnings_of_the_rooms_are_shown_as_one_harmless_line(capsys):
    terminal = Terminal()
    terminal.log(verbose=False)
    logging.getLogger("amem.ingest").warning("left pending: %s", "\x1b[31m")
    logging.getLogger("amem.ingest").info("a detail")
    assert capsys.readouterr().err == "amem: left pending: \\x1b[31m\n"
