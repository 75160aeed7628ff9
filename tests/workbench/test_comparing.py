from __future__ import annotations

import pytest
from support import builds

from amem.errors import ModelRejected, ModelUnavailable
from amem.llm.metering import Budget, Meter
from amem.testing import FaultyLLM, RecordedLLM, ScriptedLLM
from amem.workbench.answers import Answers
from amem.workbench.comparing import Pair, overlap, report
from amem.workbench.sides import common_prompts, open_sides
from amem.workbench.versioning import draft


async def compared(shop, b, *, real=None, prompts=("note",), meter=None):
    """Compare v1 with another version over the recordings; with a model, record what is missing."""
    first, second = open_sides("v1", b, shop.prompts)
    model = real.model if real else None
    llm = RecordedLLM(shop.recordings, real=real, mode="new" if real else "none", model=model)
    answers = Answers(llm, meter or Meter())
    cases = shop.cases(*prompts)
    trials = await answers.all([(case, side) for side in (first, second) for case in cases])
    pairs = [Pair(*three) for three in zip(cases, trials[: len(cases)], trials[len(cases) :], strict=True)]
    return report(pairs, "v1", b, llm.model), answers


def speaking(reply):
    return ScriptedLLM({"note": reply}, model="openai/local")


def with_a_foreign_context(request):
    made = builds(request)
    made["notes"][0] |= {"context": "Совсем другой рассказ.", "keywords": ["one", "One"], "tags": ["told"]}
    made["notes"].append({"turn": 99, "keywords": [], "tags": [], "context": "There is no such turn."})
    return made


@pytest.fixture
def reworded(shop):
    draft(shop.prompts, "v2", "v1")
    shop.reword("note", "JSON only", "one JSON object", "v2")
    return shop


async def test_a_copy_of_a_version_is_answered_by_the_same_recordings(shop):
    draft(shop.prompts, "v2", "v1")
    found, _ = await compared(shop, "v2", prompts=())
    assert found.total.answered == found.total.cases == 4
    assert found.total.changed == 0
    assert all(case.same_request for case in found.cases)
    assert found.by_prompt[0].links_gained == found.by_prompt[0].links_lost == 0
    assert found.by_prompt[1].keyword_overlap == 1.0


async def test_another_wording_without_replies_is_missing_and_not_counted(reworded):
    found, _ = await compared(reworded, "v2")
    assert (found.total.missing_a, found.total.missing_b) == (0, 3)
    assert found.total.answered == 0
    assert found.total.a.usage.calls == 0
    assert not any(case.same_request for case in found.cases)


async def test_what_is_missing_is_recorded_on_the_way_and_replayed_from_then_on(reworded):
    first, _ = await compared(reworded, "v2", real=speaking(builds))
    assert len(reworded.files("note", "v2")) == 3
    assert first.total.answered == 3
    assert first.total.changed > 0
    assert first.total.keyword_overlap < 1.0
    again, _ = await compared(reworded, "v2")
    assert again == first


async def test_the_signals_of_each_side_are_counted(reworded):
    # The pipeline asks again for a context in another script: the second reply is as bad, and unusable.
    found, _ = await compared(reworded, "v2", real=speaking(with_a_foreign_context))
    assert (found.total.a.usable, found.total.b.usable) == (3, 0)
    assert found.total.b.usage.calls == 6
    assert "language" in found.cases[0].b.problem


async def test_invented_numbers_and_repeated_words_are_counted(reworded):
    def replies(request):
        made = with_a_foreign_context(request)
        made["notes"][0]["context"] = "A plain context."
        return made

    found, _ = await compared(reworded, "v2", real=speaking(replies))
    assert (found.total.b.invented, found.total.b.repeated) == (3, 3)
    assert (found.total.a.invented, found.total.a.repeated) == (0, 0)


async def test_links_and_evolutions_gained_and_lost_are_named(shop):
    draft(shop.prompts, "v2", "v1")
    shop.reword("link_evolve", "JSON only", "one JSON object", "v2")

    def weaves(request):
        new = request.variables["notes"][0]["number"]
        older = request.variables["neighbours"]
        target = older[0]["number"] if older else new + 1
        link = {"source": new, "targets": [target], "reason": "the same boat", "relation": "follows"}
        change = {"because": [new], "neighbour": target, "context": "A plain one.", "keywords": [], "tags": []}
        return {"links": [link], "changes": [change] if older else []}

    real = ScriptedLLM({"link_evolve": weaves}, model="openai/local")
    found, _ = await compared(shop, "v2", prompts=("link_evolve",), real=real)
    (case,) = found.cases
    one, two = set(case.a.reading.links), set(case.b.reading.links)
    assert len(two) == 1
    assert (set(case.links_gained), set(case.links_lost)) == (two - one, one - two)
    assert set(case.evolutions_lost) == set(case.a.reading.evolutions) - set(case.b.reading.evolutions)


async def test_a_wording_that_takes_other_variables_is_missing_with_the_reason(reworded):
    reworded.reword("note", 'variables = ["earlier", "turns"]', 'variables = ["earlier", "turns", "mood"]', "v2")
    reworded.reword("note", "{% block user %}", "{% block user %}\n{{ mood }}", "v2")
    found, _ = await compared(reworded, "v2", real=speaking(builds))
    assert found.total.missing_b == 3
    assert "mood" in found.cases[0].b.problem


async def test_an_outage_is_met_once_and_what_was_recorded_is_kept(reworded):
    real = FaultyLLM(speaking(builds), {n: ModelUnavailable("down") for n in range(2, 9)})
    found, answers = await compared(reworded, "v2", real=real)
    assert len(real.calls) == 2
    assert isinstance(answers.error, ModelUnavailable)
    assert (found.total.missing_b, len(reworded.files("note", "v2"))) == (2, 1)


async def test_a_request_that_is_refused_alone_does_not_stop_the_others(reworded):
    real = FaultyLLM(speaking(builds), {1: ModelRejected("too long", status=400)})
    found, answers = await compared(reworded, "v2", real=real)
    assert answers.error is None
    assert found.total.missing_b == 1


async def test_a_budget_stops_before_it_is_overspent(reworded):
    found, answers = await compared(reworded, "v2", real=speaking(builds), meter=Meter(Budget(calls=4)))
    assert answers.meter.total.calls <= 4
    assert found.total.missing_b == 2


def test_overlap_is_the_mean_over_items_with_words():
    assert overlap({"turn 0": ("a", "b"), "turn 1": ()}, {"turn 0": ("b", "c"), "turn 2": ("x",)}) == pytest.approx(
        1 / 6
    )
    assert overlap({}, {}) is None
    assert overlap({"turn 0": ()}, {"turn 0": ()}) is None


def test_a_folder_of_templates_lies_over_the_version_of_the_other_side(shop, tmp_path):
    (tmp_path / "mine").mkdir()
    text = shop.template("note").read_text("utf-8")
    (tmp_path / "mine" / "note.j2").write_text(text.replace("JSON only", "JSON alone"), "utf-8")
    first, second = open_sides("v1", str(tmp_path / "mine"), shop.prompts)
    assert (first.get("note").version, second.get("note").version) == ("v1", "override")
    assert first.get("link") == second.get("link")
    assert common_prompts(first, second) == first.names()
