"""Nothing that was stored can act on the terminal that shows it, whichever verb shows it, in text or in JSON."""

from __future__ import annotations

import asyncio
import json
import re

import pytest
from support import builds

from amem.interfaces.cli.terminal import json_text, one_line, visible
from amem.memory import AsyncMemory
from amem.testing import ScriptedLLM

ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
ATTACK = "\x1b[31m\x9b2J\x1b]8;;http://evil\x07 \r \x00 \x08 \u202e [bold]x[/bold] [/] :smile: [link=x]y[/link]"


def woven(path):
    """A memory whose every text is an attack: contents, names, tags, contexts, relations, reasons; returns two ids."""

    def built(request):
        reply = builds(request)
        for note in reply["notes"]:
            note.update(keywords=[f"kw{ATTACK[:40]}"], tags=[f"tag{ATTACK[:40]}"], context=f"About it: {ATTACK}")
        return reply

    def weaves(request):
        older, newer = request.variables["neighbours"], request.variables["notes"]
        if not older:
            return {"links": [], "changes": []}
        new, old = newer[0]["number"], older[0]["number"]
        link = {"source": new, "targets": [old], "relation": f"on{ATTACK[:50]}", "reason": f"so{ATTACK}"}
        context = f"The bread was baked in the oven. {ATTACK}"
        change = {"neighbour": old, "because": [new], "context": context, "keywords": ["\x1b[5m"], "tags": ["\x9b"]}
        return {"links": [link], "changes": [change]}

    async def weave():
        llm = ScriptedLLM({"note": built, "link_evolve": weaves})
        async with AsyncMemory.open(path, llm=llm, similarity_floor=-1.0) as memory:
            texts = [f"bread in the oven {ATTACK}", f"the bread is baked {ATTACK}"]
            about = {"speaker": f"Eve{ATTACK}", "agent_id": ATTACK, "metadata": {ATTACK: ATTACK}}
            results = [await memory.add(t, session_id=f"s{ATTACK}", source=f"{t}", **about) for t in texts]
            assert results[1].links
            assert results[1].evolved
            await memory.update(results[0].id, speaker=f"Mallory{ATTACK}", metadata={"\x1b": "\u202e"})
            return [result.id for result in results]

    return asyncio.run(weave())


def harmless(result, verb):
    for stream in (result.stdout, result.stderr):
        assert not ACTING.search(stream), verb
    return result


def test_no_verb_lets_a_note_act_on_the_terminal(amem, tmp_path):
    first, second = woven(tmp_path / "notes")
    verbs = [
        ["search", "bread", "--explain"], ["recall", "bread"], ["explain", "bread", first], ["list"], ["show", first],
        ["links", second], ["history", first], ["stats"], ["doctor"], ["undo", "--caused-by", second],
    ]  # fmt: skip
    for verb in verbs:
        shown = harmless(amem(*verb), verb)
        assert shown.exit_code in {0, 1}
        assert shown.stdout
    for verb in verbs[:-1]:
        json.loads(harmless(amem(*verb, "--json"), verb).stdout)


def test_markup_in_a_note_is_text(amem):
    amem("add", ATTACK, "--speaker", "[red]Eve[/red]", "--tag", "[b]t[/b]")
    shown = amem("list").stdout
    for text in ("[bold]x[/bold] [/] :smile: [link=x]y[/link]", "[red]Eve[/red]", "[b]t[/b]"):
        assert text in shown


ERRORS = [
    ["show", ATTACK], ["history", ATTACK], ["explain", "bread", ATTACK], ["import", "no\x1b[31m.jsonl"],
    ["list", "--after", ATTACK], ["search", "x", "--since", ATTACK], ["add", "x", "--trust", ATTACK],
    ["add", "x", "--at", ATTACK], ["--box", ATTACK, "list"], ["list", "--set", f"{ATTACK}=1"],
    ["list", "--set", f"window={ATTACK}"], ["prompts", "render", ATTACK], ["--dir", "no\x1b[31m", "list"],
]  # fmt: skip


def test_no_error_lets_what_it_quotes_act_on_the_terminal(amem):
    amem("add", "bread")
    for verb in ERRORS:
        assert harmless(amem(*verb), verb).exit_code == 2, verb


def test_a_bad_line_of_a_file_is_named_without_acting(amem, tmp_path):
    (tmp_path / "chat.jsonl").write_text(json.dumps({"text": "x", ATTACK: ATTACK}))
    (tmp_path / "chat.txt").write_text(f"{ATTACK}\n[{ATTACK}]\n", newline="\n")
    for name in ("chat.jsonl", "chat.txt"):
        assert harmless(amem("import", name), name).exit_code == 2
        harmless(amem("import", name, "--skip-bad"), name)


@pytest.mark.parametrize("value", [ATTACK, "\ud800", "\u2066a\u2069", {"\x9b": ["\x7f"]}])
def test_json_for_a_terminal_is_harmless_encodable_and_means_the_same(value):
    text = json_text(value)
    assert not ACTING.search(text)
    text.encode()
    assert json.loads(text) == value


def test_one_line_is_one_line():
    for breaker in "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029":
        assert one_line(f"a{breaker}b") == "a b"


def test_scripts_that_need_their_marks_keep_them():
    for text in ("👩‍👩‍👧", "می\u200cخواهم", "क्\u200dष", "שלום\u200f!", "e\u0301", "\ttab"):
        assert visible(text) == text
