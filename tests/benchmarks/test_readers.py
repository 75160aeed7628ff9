from __future__ import annotations

import json

import pytest

from amem.errors import InputError, ModelUnavailable
from amem.interfaces.cli.shipped import benchmarks_module
from amem.testing import ScriptedLLM

extractive = benchmarks_module("readers.extractive")
llm = benchmarks_module("readers.llm")
protocol = benchmarks_module("readers.protocol")
recorded = benchmarks_module("readers.recorded")

CONTEXT = """[1] 2023-05-08 Ana: I bought a sailing boat. The harbour was full.
[2] 2023-05-20 Ben: I ran a charity race last Saturday.
[3] 2023-06-02 Ana: My sister teaches chemistry in Oslo.
[4] 2023-06-09 Ben: Does your sister still teach chemistry?
[5] 2024-01-05 Ana: We went to Narvik in June 2022, and then home."""
COLOURS = ("red", "blue", "green", "white", "I don't know. (None of the above)")


def asked(question, context=CONTEXT, **more):
    return protocol.Asked(system="bm25", key="c#0", question=question, context=context, **more)


@pytest.fixture
def reader():
    return extractive.ExtractiveReader()


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Where does Ana's sister teach chemistry?", "Oslo"),
        ("When did Ben run a charity race?", "13 May 2023"),
        ("When did Ana buy the sailing boat?", "8 May 2023"),
        ("When did Ana go to Narvik?", "June 2022"),
        ("Which planet did Ben visit with Malvina?", "not mentioned"),
    ],
)
async def test_words_are_taken_out_of_the_best_sentence_and_dates_are_worked_out(reader, question, answer):
    assert (await reader.answer(asked(question), None)).text == answer


async def test_nothing_is_known_without_a_context(reader):
    assert (await reader.answer(asked("Where is Ana?", ""), None)).text == "not mentioned"
    choice = await reader.answer(asked("What colour is the kayak?", "", options=COLOURS), None)
    assert choice.text == "(E) I don't know. (None of the above)"


async def test_a_choice_is_the_option_in_the_sentence_that_is_about_the_question(reader):
    context = "[1] 2001-03-03 Monica: My kayak is red.\n[2] 2001-03-03 Joey: The harbour is blue."
    question = "Ross: What colour is the kayak?"
    assert (await reader.answer(asked(question, context, options=COLOURS), None)).text == "(A) red"


async def test_a_name_that_nobody_said_makes_the_last_option_right(reader):
    context = "[1] 2001-03-03 Monica: My nephew Kelndepol works at the bakery, which is red."
    question = "Where does the nephew of Monica, Sarkolin, work?"
    assert (await reader.answer(asked(question, context, options=COLOURS), None)).text.startswith("(E)")


async def test_a_model_is_asked_with_amems_own_prompt(monkeypatch):
    model = ScriptedLLM([{"memories": [3], "answer": "in Oslo"}])
    answer = await llm.ModelReader(max_tokens=77, seed=5).answer(asked("Where does the sister teach?"), model)
    (request,) = model.calls
    assert answer == protocol.Answer(text="in Oslo")
    assert request.prompt.name == "answer"
    assert request.variables == {"context": CONTEXT, "question": "Where does the sister teach?"}
    assert (request.params["max_tokens"], request.params["seed"], request.params["temperature"]) == (77, 5, 0.0)


async def test_a_choice_has_its_own_prompt_and_the_reply_stays_as_it_was_said():
    model = ScriptedLLM(["(c) green, I think"])
    answer = await llm.ModelReader().answer(asked("Which colour?", options=COLOURS), model)
    (request,) = model.calls
    assert answer.text == "(c) green, I think"
    assert "(E) I don't know. (None of the above)" in request.messages[-1].content


async def test_a_reply_nobody_can_use_is_a_failed_answer_and_an_outage_is_not():
    reader = llm.ModelReader()
    assert (await reader.answer(asked("Where?"), ScriptedLLM(["no", "no"]))).failed == "BadReply"
    with pytest.raises(ModelUnavailable):
        await reader.answer(asked("Where?"), ScriptedLLM([ModelUnavailable("down")]))


@pytest.mark.parametrize(("said", "meant"), [("a", 0), ("(B)", 1), ("(a)", 0), ("neither of both", None)])
async def test_in_a_compat_run_the_trap_is_a_choice(said, meant):
    shown = protocol.Shown(category="5", trap="red")
    model = ScriptedLLM([said])
    answer = await llm.ModelReader(compat="official").answer(asked("Which colour?", shown=shown), model)
    text = model.calls[0].messages[-1].content
    choices = [line[4:] for line in text.splitlines() if line.startswith(("(a) ", "(b) "))]
    assert set(choices) == {"red", "Not mentioned in the conversation"}
    assert answer.text == (said if meant is None else choices[meant])


async def test_the_order_of_choices_hangs_on_seed_and_question_alone():
    def order(seed, key):
        reader = llm.ModelReader(compat="amem", seed=seed)
        return reader._choices(key, protocol.Shown(category="5", trap="red"))

    assert order(0, "c#1") == order(0, "c#1")
    assert len({tuple(order(seed, "c#1")) for seed in range(9)}) == 2


async def test_recorded_answers_are_given_again(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps({"unit": "bm25 c#0", "answer": "Oslo"}) + "\n")
    reader = recorded.RecordedReader(path)
    assert (await reader.answer(asked("Where?"), None)).text == "Oslo"
    assert reader.about.startswith("recorded answers of answers.jsonl+")
    with pytest.raises(InputError, match="no answer for 'dense c#0'"):
        await reader.answer(asked("Where?").model_copy(update={"system": "dense"}), None)


@pytest.mark.parametrize("line", ["{", "[]", '{"unit": "x"}', '{"unit": 1, "answer": "x"}'])
def test_a_line_that_is_no_answer_is_refused_with_its_place(tmp_path, line):
    path = tmp_path / "answers.jsonl"
    path.write_text(f"{line}\n")
    with pytest.raises(InputError, match=r"answers\.jsonl:1"):
        recorded.RecordedReader(path)


def test_the_reader_names_the_prompts_it_asks_with():
    assert llm.ModelReader().about.startswith("answer@v1+")
    assert "choose@v1+" in llm.ModelReader().about
    assert llm.ModelReader(compat="amem").about.startswith("categorised@v1+")
