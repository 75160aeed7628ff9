from __future__ import annotations

import pytest
from support import builds

from amem.errors import ModelUnavailable
from amem.llm.metering import Budget, Meter
from amem.llm.recording_file import read_recording
from amem.prompts import PromptSet
from amem.testing import FaultyLLM, RecordedLLM, ScriptedLLM
from amem.workbench.answers import Answers
from amem.workbench.checking import check
from amem.workbench.recorder import UNFINISHED, record, restamp

MODEL = "openai/local"


def model(reply=builds):
    return ScriptedLLM({"note": reply}, model=MODEL)


def answers(shop, real, mode="new", *, into=None, meter=None, at_once=1):
    llm = RecordedLLM(into or shop.recordings, real=real, mode=mode, also=[shop.recordings])
    return Answers(llm, meter or Meter(), at_once)


def states(steps):
    return [step.state for step in steps]


async def test_what_is_recorded_is_kept_and_no_call_is_made(shop):
    real = model()
    steps = await record(shop.cases("note"), shop.set(), answers(shop, real))
    assert states(steps) == ["kept"] * 3
    assert real.calls == []


async def test_a_changed_wording_is_recorded_in_the_place_of_the_old_one(shop):
    shop.reword("note", "JSON only", "JSON alone")
    before = shop.files("note")
    steps = await record(shop.cases("note"), shop.set(), answers(shop, model()))
    assert states(steps) == ["recorded"] * 3
    assert shop.files("note") == before
    assert check([shop.recordings], shop.prompts).findings == ()


async def test_replies_can_be_recorded_into_another_folder(shop, tmp_path):
    shop.reword("note", "JSON only", "JSON alone")
    before = [path.read_bytes() for path in shop.files("note")]
    await record(shop.cases("note"), shop.set(), answers(shop, model(), into=tmp_path / "new"))
    assert [path.read_bytes() for path in shop.files("note")] == before
    assert len(list((tmp_path / "new" / "v1" / "note").glob("*.json"))) == 3


async def test_a_run_that_was_stopped_goes_on_with_what_is_left(shop):
    shop.reword("note", "JSON only", "JSON alone")
    down = FaultyLLM(model(), {n: ModelUnavailable("down") for n in range(2, 9)})
    assert states(await record(shop.cases("note"), shop.set(), answers(shop, down))) == ["recorded", "left", "left"]
    real = model()
    assert states(await record(shop.cases("note"), shop.set(), answers(shop, real))) == ["kept", "recorded", "recorded"]
    assert len(real.calls) == 2


async def test_recording_everything_again_also_goes_on_where_it_was_stopped(shop):
    down = FaultyLLM(model(), {n: ModelUnavailable("down") for n in range(3, 9)})
    stopped = await record(shop.cases("note"), shop.set(), answers(shop, down, "all"))
    assert states(stopped) == ["recorded", "recorded", "left"]
    assert (shop.recordings / UNFINISHED).is_file()
    real = model()
    steps = await record(shop.cases("note"), shop.set(), answers(shop, real, "all"))
    assert states(steps) == ["kept", "kept", "recorded"]
    assert not (shop.recordings / UNFINISHED).exists()
    assert states(await record(shop.cases("note"), shop.set(), answers(shop, model(), "all"))) == ["recorded"] * 3


async def test_a_budget_leaves_the_rest_for_another_run(shop):
    shop.reword("note", "JSON only", "JSON alone")
    asked = answers(shop, model(), meter=Meter(Budget(calls=1)))
    steps = await record(shop.cases("note"), shop.set(), asked)
    assert states(steps) == ["recorded", "left", "left"]
    assert "budget" in steps[1].why


async def test_a_reply_of_no_use_is_recorded_with_the_second_one_and_said_to_be_bad(shop):
    shop.reword("note", "JSON only", "JSON alone")
    case = shop.cases("note")[0]
    asked = answers(shop, model("I would rather not."))
    (step,) = await record([case], shop.set(), asked)
    assert step.state == "unusable"
    assert [read_recording(path).bad for path in asked.llm.new] == [True, True]
    stale = {finding.path for finding in check([shop.recordings], shop.prompts).findings}
    assert not any(case.id in path for path in stale)


async def test_several_calls_are_in_flight_together(shop):
    shop.reword("note", "JSON only", "JSON alone")
    heard = []
    asked = answers(shop, model(), at_once=3)
    steps = await record(shop.cases("note"), shop.set(), asked, heard=heard.append)
    assert states(steps) == ["recorded"] * 3
    assert len(heard) == 3


def test_a_stamp_is_renewed_without_a_call_where_the_request_is_the_same(shop):
    replies = [read_recording(path).reply for path in shop.files("note")]
    shop.reword("note", "{% block user %}", "{% block user %}{# a remark #}")
    assert restamp(shop.recordings, shop.set()) == shop.files("note")
    assert [read_recording(path).reply for path in shop.files("note")] == replies
    assert check([shop.recordings], shop.prompts).findings == ()
    assert restamp(shop.recordings, shop.set()) == []


@pytest.mark.parametrize("names", [["link"], ["note"]])
def test_only_the_prompts_named_are_stamped(shop, names):
    shop.reword("note", "{% block user %}", "{% block user %}{# a remark #}")
    assert len(restamp(shop.recordings, shop.set(), names)) == (3 if names == ["note"] else 0)


def test_what_asks_something_else_today_gets_no_stamp(shop):
    shop.reword("note", "JSON only", "JSON alone")
    assert restamp(shop.recordings, shop.set()) == []


def test_an_overriding_template_puts_no_stamp_on_what_a_version_recorded(shop, tmp_path):
    (tmp_path / "mine").mkdir()
    text = shop.template("note").read_text("utf-8")
    (tmp_path / "mine" / "note.j2").write_text(text.replace("{% block user %}", "{% block user %}{# mine #}"), "utf-8")
    assert restamp(shop.recordings, PromptSet(root=shop.prompts, overrides=tmp_path / "mine")) == []
