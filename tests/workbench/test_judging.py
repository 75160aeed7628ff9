from __future__ import annotations

import pytest

from amem.llm.metering import Meter
from amem.testing import RecordedLLM, ScriptedLLM
from amem.workbench.answers import Answers
from amem.workbench.judging import judge
from amem.workbench.labelled import DateCase, EvolutionCase, LinkCase, NoteCase, load
from amem.workbench.putting import put

PROMPTS = ("note", "link", "evolve", "link_evolve")


async def verdict(shop, tmp_path, prompts, a, b):
    """Judge two models on the develop half, as if they were two wordings."""
    puts = put("develop", prompts)
    trials = []
    for name, script in (("a", a), ("b", b)):
        llm = RecordedLLM(tmp_path / name, real=ScriptedLLM(script, model=name), mode="live")
        trials.append(await Answers(llm, Meter()).all([(one.case, shop.set()) for one in puts]))
    return judge("develop", puts, *trials)


def figures(found):
    return {(score.prompt, score.measure): (score.a.value, score.b.value) for score in found.scores}


def links(linked):
    """Answer `link` by a function from the new note's text to whether it is linked."""

    def answer(request):
        link = {"neighbour": 0, "reason": "the same", "relation": "follows"}
        return {"links": [link] if linked(request.variables["note"]["text"]) else []}

    return {"link": answer}


def test_each_case_is_put_to_the_prompts_that_can_answer_it():
    puts = put("develop", PROMPTS)
    count = {prompt: len([one for one in puts if one.case.prompt == prompt]) for prompt in PROMPTS}
    pairs, evolutions = len(load(LinkCase, "develop")), load(EvolutionCase, "develop")
    assert count["link"] == pairs
    assert count["link_evolve"] == pairs + len(evolutions)
    assert count["evolve"] == len([one for one in evolutions if len(one.newer) == 1])
    assert count["note"] == len(load(DateCase, "develop")) + len(load(NoteCase, "develop"))


def test_every_labelled_case_can_be_rendered(shop):
    for one in put("report", PROMPTS):
        assert one.case.request(shop.set()).messages


async def test_the_right_answer_to_every_pair_is_worth_one_and_always_yes_a_half(shop, tmp_path):
    related = {case.newer.text: case.related for case in load(LinkCase, "develop")}
    right, always = links(lambda text: related[text]), links(lambda text: True)
    found = figures(await verdict(shop, tmp_path, ["link"], right, always))
    assert found["link", "links, balanced accuracy"] == (1.0, 0.5)
    assert found["link", "links, unrelated pairs left"] == (1.0, 0.0)


async def test_a_reply_of_no_use_links_nothing(shop, tmp_path):
    found = await verdict(shop, tmp_path, ["link"], links(lambda text: False), {"link": "no JSON"})
    assert figures(found)["link", "links, balanced accuracy"] == (0.5, 0.5)
    assert [spent.b.failed for spent in found.spent] == [2 * found.cases]


async def test_facts_and_dates_are_looked_for_in_the_context_of_the_turn(shop, tmp_path):
    facts = {case.turn.text: ". ".join(fact[0].strip("*") for fact in case.facts) for case in load(NoteCase, "develop")}
    dates = {case.turn.text: case.expected[0] for case in load(DateCase, "develop")}

    def told(request):
        text = request.variables["turns"][0]["text"]
        context = facts.get(text) or dates[text]
        return {"notes": [{"turn": 0, "keywords": [], "tags": [], "context": context[:400]}]}

    def nothing(request):
        return {"notes": [{"turn": 0, "keywords": ["word"], "tags": [], "context": ""}]}

    found = figures(await verdict(shop, tmp_path, ["note"], {"note": told}, {"note": nothing}))
    assert found["note", "facts kept"][0] > 0.8
    assert found["note", "facts kept"][1] == 0.0
    assert found["note", "dates resolved"][0] > 0.8
    assert found["note", "dates resolved"][1] == 0.0


async def test_changes_are_judged_by_what_the_older_note_is_to_say(shop, tmp_path):
    due = {case.older.text: case for case in load(EvolutionCase, "develop")}

    def right(request):
        case = due[request.variables["neighbours"][0]["text"]]
        told = ". ".join(fact[0].strip("*") for fact in (*case.new_facts, *case.kept_facts))
        change = {"neighbour": 0, "context": told, "keywords": [], "tags": []}
        return {"tags": [], "changes": [change] if case.change else []}

    def rash(request):
        return {"tags": [], "changes": [{"neighbour": 0, "context": "Something else.", "keywords": [], "tags": []}]}

    found = figures(await verdict(shop, tmp_path, ["evolve"], {"evolve": right}, {"evolve": rash}))
    assert found["evolve", "wrong changes"] == (0.0, 1.0)
    assert found["evolve", "changes made where due"] == (1.0, 1.0)
    assert found["evolve", "new facts told"][0] > 0.9
    assert found["evolve", "new facts told"][1] == 0.0


async def test_what_only_one_side_answered_is_not_counted(shop, tmp_path):
    puts = put("develop", ["link"])
    answers = Answers(RecordedLLM(tmp_path / "a", real=ScriptedLLM(links(bool)), mode="live"), Meter())
    one = await answers.all([(case.case, shop.set()) for case in puts])
    none = await Answers(RecordedLLM(tmp_path / "b"), Meter()).all([(case.case, shop.set()) for case in puts])
    found = judge("develop", puts, one, none)
    assert (found.missing_a, found.missing_b, found.scores) == (0, len(puts), ())


@pytest.mark.parametrize("half", ["develop", "report"])
def test_both_halves_are_of_a_size(half):
    assert len(put(half, ["link"])) > 90
