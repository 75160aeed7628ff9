"""`amem facts`, `amem episodes` and `amem compare`."""

from __future__ import annotations

import json

import pytest

from amem.workbench.rivals import Question, contend


def test_facts_are_added_end_each_other_and_are_found_in_their_time(amem):
    first = amem("facts", "add", "Ana", "lives in", "Seoul", "--since", "2021-03-01")
    assert "Ana lives in Seoul (since 2021-03-01)" in first.stdout
    second = amem("facts", "add", "Ana", "lives in", "Busan", "--since", "2023-06-01")
    assert "has ended" in second.stderr
    assert amem("facts", "list").stdout.count("\n") == 1
    known = json.loads(amem("facts", "list", "--outdated", "--json").stdout)
    assert [(fact["object"], fact["until"]) for fact in known] == [("Seoul", "2023-06-01T00:00:00Z"), ("Busan", None)]
    assert "Seoul" in amem("facts", "list", "--as-of", "2022-01-01").stdout
    then = json.loads(amem("facts", "search", "Where did Ana live in 2022?", "--json").stdout)
    assert [fact["object"] for fact in then] == ["Seoul"]
    assert amem("facts", "list", "--subject", "Ben").stderr.strip() == "nothing was found"


def test_a_fact_one_may_have_several_of_ends_none(amem):
    amem("facts", "add", "Ana", "likes", "figs", "--several")
    stated = json.loads(amem("facts", "add", "Ana", "likes", "dates", "--several", "--json").stdout)
    assert (stated["is_new"], stated["ended"]) == (True, [])
    assert "known already" in amem("facts", "add", "ana", "likes", "Dates", "--several").stderr


def test_episodes_are_added_and_found_by_what_calls_for_action(amem):
    amem("episodes", "add", "the ferry was late", "--did", "waited", "--did", "took the bus", "--outcome", "success",
         "--lesson", "take the bus")  # fmt: skip
    amem("episodes", "add", "the oven broke", "--outcome", "failure", "--at", "2024-05-01")
    (found,) = json.loads(amem("episodes", "search", "a late ferry", "-k", "1", "--json").stdout)
    assert (found["actions"], found["lesson"]) == (["waited", "took the bus"], "take the bus")
    assert "2024-05-01 When: the oven broke" in amem("episodes", "search", "trouble", "--outcome", "failure").stdout
    refused = amem("episodes", "add", "rain", "--outcome", "great")
    assert refused.exit_code == 2
    assert "outcome" in refused.stderr


@pytest.fixture
def chat(tmp_path):
    turns = ["Ana bakes bread.", "Ben sails a boat.", "Mina sells fish.", "Ana sold the oven."]
    lines = [json.dumps({"text": text, "speaker": text.split()[0], "source": f"m{n}"}) for n, text in enumerate(turns)]
    (tmp_path / "chat.jsonl").write_text("\n".join(lines), encoding="utf-8")
    questions = [
        {"question": "What became of the oven?", "expects": [3], "answer": "Ana sold it."},
        {"question": "Who sails?", "expects": ["m1", "m2"]},
        {"question": "What is the weather?"},
    ]
    (tmp_path / "questions.json").write_text(json.dumps(questions), encoding="utf-8")
    return turns


def test_two_configurations_are_compared_side_by_side(amem, chat):
    done = amem("compare", "chat.jsonl", "questions.json", "--budget", "12", "--b", "recall_links=0", "--json")
    one, other = json.loads(done.stdout)
    assert (one["settings"], other["settings"]) == ({}, {"recall_links": "0"})
    assert (one["turns"], one["notes"], one["usage"]["calls"]) == (4, 4, 0)
    assert [found["recall"] for found in one["found"]][2] is None
    assert one["recall"] == sum(found["recall"] for found in one["found"][:2]) / 2
    assert all(found["tokens"] <= 12 for found in one["found"])
    shown = amem("compare", "chat.jsonl", "questions.json", "--b", "recall_links=0").stdout
    assert "b: recall_links=0" in shown
    assert "expected turns found" in shown


def test_what_a_configuration_finds_more_is_named(amem, chat):
    left, right = ("--a", "tokenizer=wordpiece"), ("--b", "strategy=paper")
    both = json.loads(amem("compare", "chat.jsonl", "questions.json", *left, *right, "--budget", "0", "--json").stdout)
    assert [side["recall"] for side in both] == [0.0, 0.0]
    assert both[0]["found"][1]["missed"] == [1, 2]


@pytest.mark.parametrize(
    ("written", "says"),
    [("{", "no questions"), ('[{"question": ""}]', "question"), ('[{"question": "Who?", "expects": [9]}]', "turns"),
     ('[{"question": "Who?", "expects": ["m9"]}]', "turns")],
)  # fmt: skip
def test_questions_that_cannot_be_asked_are_refused(amem, chat, tmp_path, written, says):
    (tmp_path / "questions.json").write_text(written, encoding="utf-8")
    done = amem("compare", "chat.jsonl", "questions.json")
    assert (done.exit_code, done.stdout) == (2, "")
    assert says in done.stderr


async def test_what_was_made_of_a_turn_counts_as_that_turn(open_memory):
    def reply(request):
        note = {"turns": [1], "text": "Ana sold the big oven.", "keywords": ["oven"], "tags": []}
        return {"notes": [note], "facts": [], "episodes": []}

    from amem.intake import NewNote

    turns = [NewNote(content="Ana bakes bread every day."), NewNote(content="And Ana sold the big oven yesterday.")]
    asked = [Question(question="Who sold the big oven?", expects=(1,))]
    opened = lambda: open_memory({"distill": reply}, strategy="atomic")  # noqa: E731 - what opens it is an argument
    side = await contend("a", opened, {"strategy": "atomic"}, turns, asked, budget=20)
    assert (side.notes, side.usage.calls, side.pending) == (3, 1, 0)
    assert side.recall == 1.0


async def test_turns_that_a_failed_model_left_are_counted(open_memory):
    from amem.errors import ModelUnavailable
    from amem.intake import NewNote

    def opened():
        return open_memory([ModelUnavailable("down")], path="down")

    side = await contend("a", opened, {}, [NewNote(content="Ana bakes bread.")], [], budget=20)
    assert (side.pending, side.usage.failed, side.recall) == (1, 1, None)
