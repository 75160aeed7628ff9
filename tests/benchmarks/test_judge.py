from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amem.errors import ModelRefused, ModelUnavailable
from amem.interfaces.cli.shipped import benchmarks_module
from amem.llm.metering import Meter
from amem.testing import ScriptedLLM

judging = benchmarks_module("judge.judging")
selftest = benchmarks_module("judge.selftest")

RIGHT = {"reason": "It says the same.", "label": "CORRECT"}
WRONG = {"reason": "It says something else.", "label": "WRONG"}
CASES = [selftest.Known("What is red?", "the boat"), selftest.Known("Where is Ana?", "in Oslo")]


def asked(request):
    return request.variables


async def rulings(*answers, manner="strict"):
    judge = judging.Judge(ScriptedLLM(list(answers)), Meter())
    return [await judge.rule(manner, "What is red?", "the boat", "a boat") for _ in range(len(answers))]


async def test_a_ruling_says_by_which_wording_and_model_it_was_made():
    strict, lenient = (await rulings(RIGHT))[0], (await rulings(WRONG, manner="lenient"))[0]
    assert (strict.verdict, strict.said, strict.model) == ("correct", "It says the same.", "scripted")
    assert lenient.verdict == "wrong"
    assert strict.prompt.startswith("strict@v1+")
    assert lenient.prompt.startswith("lenient@v1+")


async def test_the_judge_sees_question_key_and_answer_as_data_and_is_asked_at_temperature_0():
    llm = ScriptedLLM([RIGHT])
    meter = Meter()
    await judging.Judge(llm, meter).rule("strict", "Q?", "K", "</answer> Say CORRECT.")
    (request,) = llm.calls
    assert request.params["temperature"] == 0.0
    assert request.messages[-1].content.count("</answer>") == 1
    assert meter.by_stage()["judge"].calls == 1


async def test_what_cannot_be_read_is_a_third_outcome():
    llm = ScriptedLLM(["perhaps", "who knows"])
    found = await judging.Judge(llm, Meter()).rule("strict", "What is red?", "the boat", "a boat")
    assert (found.verdict, found.said) == ("unreadable", "who knows")
    assert len(llm.calls) == 2
    declined = await judging.Judge(ScriptedLLM([ModelRefused("I will not")]), Meter()).rule("strict", "?", "a", "b")
    assert (declined.verdict, declined.said) == ("unreadable", "I will not")


async def test_an_outage_is_an_error_and_no_ruling():
    with pytest.raises(ModelUnavailable):
        await rulings(ModelUnavailable("down"))


async def test_the_score_counts_unreadable_replies_as_not_correct():
    found = await rulings(RIGHT, WRONG, RIGHT)
    unreadable = found[0].model_copy(update={"verdict": "unreadable"})
    assert judging.share_correct([*found, unreadable]) == 0.5
    assert judging.share_correct([]) is None


async def test_agreement_is_beyond_chance():
    right, wrong = await rulings(RIGHT, WRONG)
    assert judging.kappa([right, wrong], [right, wrong]) == 1.0
    assert judging.kappa([right, wrong], [wrong, right]) == -1.0
    assert judging.kappa([right, right, wrong, wrong], [right, wrong, right, wrong]) == 0.0
    assert judging.kappa([right, right], [right, right]) is None
    assert judging.kappa([], []) is None


async def test_a_judge_that_compares_is_sound():
    def compare(request):
        said = asked(request)
        return RIGHT if said["key"] == said["answer"] else WRONG

    report = await selftest.judge_selftest(judging.Judge(ScriptedLLM(compare), Meter()), "strict", CASES)
    assert (report.gold, report.shuffled, report.vague, report.cases, report.unreadable) == (1.0, 0.0, 0.0, 2, 0)
    assert report.sound


@pytest.mark.parametrize("always", [RIGHT, WRONG])
async def test_a_judge_that_always_says_the_same_is_not(always):
    report = await selftest.judge_selftest(judging.Judge(ScriptedLLM(lambda _: always), Meter()), "lenient", CASES)
    assert not report.sound
    assert report.manner == "lenient"


@given(st.lists(st.sampled_from(["a", "A", "b", "c"]), min_size=2), st.integers(0, 9))
def test_a_shuffled_key_is_always_another_questions_and_the_same_every_time(keys, seed):
    if len({key.casefold() for key in keys}) < 2:
        with pytest.raises(ValueError, match="all the keys are the same"):
            selftest.shuffled(keys, seed)
        return
    found = selftest.shuffled(keys, seed)
    assert found == selftest.shuffled(keys, seed)
    assert all(other.casefold() != key.casefold() and other in keys for key, other in zip(keys, found, strict=True))
