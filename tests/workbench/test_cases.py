from __future__ import annotations

from itertools import permutations

import pytest
from support import builds
from workbench_support import MODEL

from amem.errors import InputError
from amem.llm.metering import Meter
from amem.llm.protocol import Reply, TokenUsage
from amem.llm.recording_file import key_of, read_recording
from amem.testing import RecordedLLM, ScriptedLLM
from amem.workbench.cases import cases_of, chosen, kept_params, read_all, rerendered
from amem.workbench.trials import try_request


def test_every_recorded_question_is_a_case_under_its_prompt(shop):
    cases = shop.cases()
    assert [case.prompt for case in cases] == ["link_evolve", "note", "note", "note"]
    assert {case.id for case in cases if case.prompt == "note"} == {
        p.stem.rsplit("-", 1)[1] for p in shop.files("note")
    }


def test_a_case_asks_what_was_recorded_as_long_as_the_wording_is_the_same(shop):
    for case in shop.cases():
        files = [path for path in shop.files(case.prompt) if case.id in path.name]
        assert key_of(case.request(shop.set(), MODEL)) == read_recording(files[0]).key


async def test_a_question_asked_again_is_one_case_with_its_first_request(shop):
    case = shop.cases("note")[0]
    useless = ScriptedLLM({"note": ["no JSON at all", builds]}, model="other")
    request = case.request(shop.set())
    await try_request(request, shop.set(), RecordedLLM(shop.recordings, real=useless, mode="new"), Meter())
    assert len(shop.files("note")) == 5
    assert [found.id for found in shop.cases("note")] == [
        found.id for found in chosen(shop.cases(), ()) if found.prompt == "note"
    ]
    assert len(shop.cases("note")) == 3
    assert shop.cases("note")[0].request(shop.set()) == request


async def test_a_second_request_is_rendered_again_with_the_unusable_reply_in_it(shop):
    case = shop.cases("note")[0]
    llm = RecordedLLM(
        shop.recordings, real=ScriptedLLM({"note": ["no JSON at all", builds]}, model="other"), mode="new"
    )
    await try_request(case.request(shop.set()), shop.set(), llm)
    second = read_recording(llm.new[1])
    assert len(second.request.messages) == 4
    assert rerendered(second, shop.set()) == second.request
    shop.reword("note", "JSON only", "JSON alone")
    again = rerendered(second, shop.set())
    assert again.messages[2:] == second.request.messages[2:]
    assert again.messages[0] != second.request.messages[0]


def test_the_caller_s_cap_goes_over_the_template_s_and_its_other_parameters_do_not(shop):
    shop.reword("note", "temperature = 0.0", "temperature = 0.3, max_tokens = 50")
    prompt = shop.set().get("note")
    kept = kept_params({"temperature": 0.0, "max_tokens": 900, "seed": 7}, prompt)
    assert kept == {"max_tokens": 900, "seed": 7}
    case = shop.cases("note")[0]
    assert case.request(shop.set()).params == {"temperature": 0.3, "max_tokens": case.params["max_tokens"]}


async def test_a_reply_that_was_given_more_room_is_no_case_of_its_own(shop):
    case = shop.cases("note")[0]
    cut = Reply(text='{"notes": [', finish_reason="length", usage=TokenUsage(completion_tokens=9))
    llm = RecordedLLM(shop.recordings, real=ScriptedLLM({"note": [cut, builds]}, model="other"), mode="new")
    await try_request(case.request(shop.set()), shop.set(), llm)
    rooms = sorted(read_recording(path).request.params["max_tokens"] for path in llm.new)
    assert rooms == [case.params["max_tokens"], 2 * case.params["max_tokens"]]
    of_case = [found for found in read_all([shop.recordings]).values() if found.case == case.id]
    for order in permutations(of_case):
        assert [found.params for found in cases_of(order)] == [case.params]


def test_a_case_is_chosen_by_the_beginning_of_its_digits(shop):
    cases = shop.cases()
    assert chosen(cases, [cases[0].id[:6]]) == [cases[0]]
    assert chosen(cases, []) == cases


@pytest.mark.parametrize("beginning", ["zzzz", "", "abc"])
def test_a_beginning_that_fits_no_case_lists_those_there_are(shop, beginning):
    with pytest.raises(InputError, match=shop.cases()[0].id):
        chosen(shop.cases(), [beginning])


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match="nowhere"):
        read_all([tmp_path / "nowhere"])


def test_cases_can_be_restricted_to_prompts(shop):
    recordings = read_all([shop.recordings]).values()
    assert {case.prompt for case in cases_of(recordings, ["note"])} == {"note"}
