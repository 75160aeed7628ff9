from __future__ import annotations

import pytest
from pydantic import BaseModel
from recording_support import Fields, Live, recorded

from amem.errors import AmemError, LLMError
from amem.llm.metering import Meter
from amem.llm.recording_file import case_of
from amem.llm.structured import ask
from amem.testing import RecordedLLM, RecordingMiss


async def missed(root, request, **options):
    llm = RecordedLLM(root, **options)
    with pytest.raises(RecordingMiss) as caught:
        await llm.complete(request)
    assert llm.misses == [caught.value]
    assert "\nFix:\n  1. " in str(caught.value)
    assert f"({caught.value.reason})" in str(caught.value)
    return caught.value


def test_a_miss_is_not_a_fault_of_a_model():
    assert issubclass(RecordingMiss, AmemError)
    assert not issubclass(RecordingMiss, LLMError)


async def test_a_miss_in_an_empty_folder_says_so(root, request_of):
    miss = await missed(root, request_of())
    assert (miss.reason, miss.nearest, miss.diff) == ("empty", None, "")
    assert str(root) in str(miss)


async def test_another_wording_is_a_stale_prompt_shown_as_a_diff(root, request_of):
    old, new = request_of(wording="Give several keywords."), request_of(wording="Give 3-7 keywords.")
    (path,) = (await recorded(root, old)).new
    miss = await missed(root, new)
    assert (miss.reason, miss.nearest) == ("stale_prompt", path)
    assert f"changed: prompt {old.prompt.label} -> {new.prompt.label}" in str(miss)
    assert f"--- recorded {path.relative_to(root).as_posix()}\n+++ asked now\n" in miss.diff
    assert "\n-Give several keywords.\n+Give 3-7 keywords.\n" in miss.diff
    assert miss.diff in str(miss)


async def test_another_version_is_a_stale_prompt_too(root, request_of):
    await recorded(root, request_of())
    miss = await missed(root, request_of(wording="Otherwise.", version="v2"))
    assert miss.reason == "stale_prompt"
    assert "note@v1" in str(miss)
    assert "note@v2" in str(miss)


async def test_another_model_is_a_stale_model(root, request_of):
    await recorded(root, request_of())
    miss = await missed(root, request_of(), model="openai/other")
    assert miss.reason == "stale_model"
    assert "changed: model openai/local -> openai/other" in str(miss)


async def test_other_params_are_stale_params(root, request_of):
    await recorded(root, request_of())
    miss = await missed(root, request_of(params={"temperature": 0.7}))
    assert miss.reason == "stale_params"
    assert '+params: {"temperature":0.7}' in miss.diff


async def test_another_output_model_is_a_stale_schema(root, request_of):
    class Wider(BaseModel):
        keywords: list[str]
        tags: list[str]

    await recorded(root, request_of())
    miss = await missed(root, request_of(output=Wider))
    assert miss.reason == "stale_schema"
    assert '+    "tags"' in miss.diff


async def test_an_input_never_seen_is_shown_beside_the_nearest(root, request_of):
    near = request_of("Yesterday Alice moved to Oslo in the winter of 2019 with her two cats.")
    far = request_of("Bob repairs violins and sells them at the market on Sundays.")
    recorder = await recorded(root, far, near)
    miss = await missed(root, request_of("Yesterday Alice moved to Bergen in the winter of 2019 with her two cats."))
    assert (miss.reason, miss.nearest) == ("new_input", recorder.new[1])
    assert "+Yesterday Alice moved to Bergen" in miss.diff


@pytest.mark.parametrize("closest", [0, 1])
async def test_of_several_recordings_of_a_case_the_one_with_most_in_common_is_shown(root, request_of, closest):
    requests = [request_of(), request_of(params={"max_tokens": 800})]
    recorder = await recorded(root, *requests)
    miss = await missed(root, requests[closest], model="openai/other")
    assert (miss.reason, miss.nearest) == ("stale_model", recorder.new[closest])


async def test_a_prompt_never_recorded_has_no_nearest(root, request_of):
    await recorded(root, request_of())
    miss = await missed(root, request_of(name="link", wording="Link it."))
    assert (miss.reason, miss.nearest) == ("new_input", None)


async def test_an_unrecorded_re_ask_is_told_from_a_new_input(root, request_of):
    await recorded(root, request_of(), real=Live(text="no JSON"))
    llm = RecordedLLM(root)
    with pytest.raises(RecordingMiss, match="a re-ask") as caught:
        await ask(llm, request_of(), Fields, meter=Meter(), stage="build")
    assert caught.value.reason == "new_input"
    assert "+no JSON" in caught.value.diff


async def test_a_long_diff_is_cut_in_the_message_and_whole_in_the_error(root, request_of):
    await recorded(root, request_of("\n".join(f"old {n}" for n in range(200))))
    miss = await missed(root, request_of("\n".join(f"new {n}" for n in range(200))))
    assert len(str(miss).splitlines()) < 80
    assert "+new 199" in miss.diff
    assert "more lines in .diff" in str(miss)


async def test_a_case_recorded_in_another_wording_can_be_recorded_from_the_shell(root, request_of):
    await recorded(root, request_of(wording="Give several keywords."))
    miss = await missed(root, request_of(wording="Give 3-7 keywords."))
    assert f"amem prompts record note --case {case_of(request_of())} --version v1 --recordings {root}" in str(miss)
    new = await missed(root, request_of("Bob bought a boat."))
    assert "amem prompts record" not in str(new)
