from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import textwrap

import pytest
from recording_support import Fields, Live, recorded

from amem.errors import ModelUnavailable, SettingsError
from amem.llm.metering import Meter
from amem.llm.protocol import LLM, TokenUsage
from amem.llm.structured import ask
from amem.testing import FaultyLLM, RecordedLLM, RecordingInvalid, ScriptedLLM

# Replay


async def test_a_replay_gives_what_was_recorded_to_the_byte(root, request_of):
    live = Live(text='{ "keywords":\t["oslo"] }\r\n')
    first = await (await recorded(root, request_of(), real=live)).complete(request_of())
    replayed = await RecordedLLM(root).complete(request_of())
    assert replayed == first
    assert replayed.text == live.text
    assert replayed.usage == TokenUsage(prompt_tokens=61, completion_tokens=18)
    assert (replayed.seconds, replayed.cost, replayed.model) == (1.235, 0.5, "qwen")


async def test_the_same_request_gets_the_same_reply_any_number_of_times_in_any_order(root, request_of):
    await recorded(root, request_of("Alice"), request_of("Bob"))
    llm = RecordedLLM(root)
    texts = [(await llm.complete(request_of(who))).text for who in ("Bob", "Alice", "Bob", "Alice")]
    assert texts == ['{"keywords": ["reply 2"]}', '{"keywords": ["reply 1"]}'] * 2


async def test_a_replay_knows_what_it_used_and_what_not(root, request_of):
    recorder = await recorded(root, request_of("Alice"), request_of("Bob"))
    alice, bob = recorder.new
    llm = RecordedLLM(root)
    assert llm.unused() == sorted([alice, bob])
    await llm.complete(request_of("Bob"))
    assert llm.used == {bob}
    assert llm.unused() == [alice]


async def test_a_recorded_reply_goes_through_the_parser_like_a_live_one(root, request_of):
    """The first reply is no use, so the model is asked again: both requests are recorded and replayed."""
    live = ScriptedLLM(["<think>hm</think> I like Oslo", {"keywords": ["oslo"]}], model="openai/local")
    recorder = RecordedLLM(root, real=live, mode="new")
    first = await ask(recorder, request_of(), Fields, meter=Meter(), stage="build")
    assert len(recorder.new) == 2

    llm, meter = RecordedLLM(root), Meter()
    assert await ask(llm, request_of(), Fields, meter=meter, stage="build") == first
    assert llm.unused() == []
    assert (meter.total.calls, meter.total.failed) == (2, 1)


async def test_replaying_imports_neither_litellm_nor_anything_heavy(root, request_of):
    request = request_of()
    await recorded(root, request)
    code = f"""
        import asyncio, sys
        from amem.llm.protocol import Request
        from amem.testing import RecordedLLM
        request = Request.model_validate_json({request.model_dump_json()!r})
        print(asyncio.run(RecordedLLM({str(root)!r}).complete(request)).text)
        heavy = {{"litellm", "chromadb", "sqlalchemy", "jinja2"}} & sys.modules.keys()
        assert not heavy, heavy
    """
    run = [sys.executable, "-c", textwrap.dedent(code)]
    done = await asyncio.to_thread(subprocess.run, run, check=True, capture_output=True, text=True)
    assert done.stdout == '{"keywords": ["reply 1"]}\n'


def test_it_is_a_language_model(root):
    assert isinstance(RecordedLLM(root, real=Live(), mode="live"), LLM)


# The model


async def test_the_model_is_the_one_that_was_recorded(root, request_of):
    await recorded(root, request_of(), real=Live("openai/local"))
    assert RecordedLLM(root).model == "openai/local"
    assert RecordedLLM(root, real=Live("openai/other")).model == "openai/local"


async def test_of_several_models_one_must_be_chosen(root, request_of):
    await recorded(root, request_of(), real=Live("a/one", text='{"keywords": ["one"]}'))
    await recorded(root, request_of(), real=Live("b/two", text='{"keywords": ["two"]}'))
    with pytest.raises(SettingsError, match=r"a/one, b/two.*model="):
        await RecordedLLM(root).complete(request_of())
    for model, said in (("a/one", "one"), ("b/two", "two")):
        reply = await RecordedLLM(root, model=model).complete(request_of())
        assert json.loads(reply.text) == {"keywords": [said]}
        explicit = await RecordedLLM(root).complete(request_of(model=model))
        assert explicit == reply


async def test_while_recording_the_model_is_the_one_that_is_asked(root, request_of):
    live = Live("openai/local")
    llm = await recorded(root, request_of(), real=live)
    assert llm.model == "openai/local"
    assert live.asked[0].model == "openai/local"


# Recording


async def test_new_asks_only_for_what_is_missing(root, request_of):
    await recorded(root, request_of("Alice"))
    live = Live()
    llm = await recorded(root, request_of("Alice"), request_of("Bob"), request_of("Bob"), real=live)
    assert [r.variables["content"] for r in live.asked] == ["Bob"]
    assert len(llm.new) == 1


async def test_all_records_again_what_is_touched_once(root, request_of):
    first = await recorded(root, request_of("Alice"), request_of("Bob"))
    untouched = first.new[1].read_bytes()
    live = Live(text='{"keywords": ["again"]}')
    llm = RecordedLLM(root, real=live, mode="all")
    replies = [await llm.complete(request_of("Alice")) for _ in range(2)]
    assert [r.text for r in replies] == [live.text] * 2
    assert len(live.asked) == 1
    assert llm.new == [first.new[0]]
    assert (await RecordedLLM(root).complete(request_of("Alice"))).text == live.text
    assert first.new[1].read_bytes() == untouched


async def test_live_asks_every_time_and_records_nothing(root, request_of):
    await recorded(root, request_of())
    live = Live(text="live")
    llm = RecordedLLM(root, real=live, mode="live")
    assert (await llm.complete(request_of())).text == "live"
    assert (await llm.complete(request_of())).text == "live"
    assert len(live.asked) == 2
    assert len(list(root.rglob("*.json"))) == 1


async def test_two_equal_requests_at_once_ask_once(root, request_of):
    class Slow(Live):
        async def complete(self, request):
            await asyncio.sleep(0.01)
            return await super().complete(request)

    live = Slow()
    llm = RecordedLLM(root, real=live, mode="new")
    replies = await asyncio.gather(*(llm.complete(request_of()) for _ in range(3)))
    assert len(live.asked) == 1
    assert len({reply.text for reply in replies}) == 1


async def test_an_error_is_never_recorded(root, request_of):
    llm = RecordedLLM(root, real=FaultyLLM(Live(), {1: ModelUnavailable("down")}), mode="new")
    with pytest.raises(ModelUnavailable):
        await llm.complete(request_of())
    assert list(root.rglob("*")) == []
    await llm.complete(request_of())
    assert len(llm.new) == 1


async def test_the_file_stands_under_version_and_prompt_and_is_named_after_its_case(root, request_of):
    (path,) = (await recorded(root, request_of("Alice moved to Oslo, and stays."))).new
    document = json.loads(path.read_text())
    name = f"v1/note/alice-moved-to-oslo-and-{document['case']}.json"
    assert path.relative_to(root).as_posix() == name
    assert [p.name for p in path.parent.iterdir()] == [path.name]


async def test_a_further_request_of_a_case_gets_a_file_of_its_own(root, request_of):
    recorder = await recorded(root, request_of(), request_of(params={"max_tokens": 800}))
    first, further = recorder.new
    key = json.loads(further.read_text())["key"]
    assert further.name == first.name.replace(".json", f"-{key[:6]}.json")
    llm = RecordedLLM(root)
    await llm.complete(request_of())
    await llm.complete(request_of(params={"max_tokens": 800}))
    assert llm.unused() == []


async def test_a_new_wording_of_a_draft_takes_the_place_of_the_old_one(root, request_of):
    old = await recorded(root, request_of(wording="Old."), request_of(wording="Old.", params={"max_tokens": 8}))
    other_model = await recorded(root, request_of(wording="Old."), real=Live("openai/other"))
    new = await recorded(root, request_of(wording="New."))
    assert new.new == [old.new[0]]
    assert sorted(root.rglob("*.json")) == sorted([*new.new, *other_model.new])
    assert (await RecordedLLM(root, model="openai/local").complete(request_of(wording="New."))).text


async def test_a_new_wording_that_cannot_be_recorded_leaves_the_old_one(root, request_of):
    (path,) = (await recorded(root, request_of(wording="Old."))).new
    before = path.read_bytes()
    llm = RecordedLLM(root, real=Live(text="half a pair \ud83d"), mode="new")
    with pytest.raises(RecordingInvalid):
        await llm.complete(request_of(wording="New."))
    assert path.read_bytes() == before


async def test_another_version_keeps_its_own_recordings(root, request_of):
    v1 = await recorded(root, request_of(wording="Old."))
    v2 = await recorded(root, request_of(wording="New.", version="v2"))
    assert v2.new[0].parent == root / "v2" / "note"
    assert v1.new[0].exists()


async def test_a_request_worded_alike_in_two_versions_is_answered_by_its_own(root, request_of):
    v1 = await recorded(root, request_of())
    again = RecordedLLM(root, real=Live(text='{"keywords": ["v2"]}'), mode="all")
    await again.complete(request_of(version="v2"))
    llm = RecordedLLM(root)
    assert json.loads((await llm.complete(request_of(version="v2"))).text) == {"keywords": ["v2"]}
    assert (await llm.complete(request_of())).text == (await v1.complete(request_of())).text


async def test_a_recording_says_how_its_reply_came_to_be(root, request_of):
    (path,) = (await recorded(root, request_of())).new
    assert json.loads(path.read_text())["recorded"] == {
        "on": "2026-11-29",
        "by": "openai/local",
        "model_reported": "qwen",
    }


async def test_a_scripted_reply_never_passes_for_a_models(root, request_of):
    script = ScriptedLLM([{"keywords": ["oslo"]}])
    (path,) = (await recorded(root, request_of(), real=FaultyLLM(script, {}), model="openai/local")).new
    document = json.loads(path.read_text())
    assert document["recorded"]["by"] == "hand"
    assert document["model"] == "openai/local"


async def test_a_file_edited_by_hand_is_refused_by_name(root, request_of):
    (path,) = (await recorded(root, request_of())).new
    path.write_text(path.read_text().replace("Index it.", "Index that."))
    with pytest.raises(RecordingInvalid, match=r"alice-moved.*edited by hand"):
        await RecordedLLM(root).complete(request_of())


# Modes


@pytest.mark.parametrize("mode", ["new", "all", "live"])
def test_where_ci_is_set_nothing_but_replay_is_allowed(root, monkeypatch, mode):
    monkeypatch.setenv("CI", "true")
    with pytest.raises(SettingsError, match="CI is set"):
        RecordedLLM(root, real=Live(), mode=mode)
    assert RecordedLLM(root, real=Live()).mode == "none"
    monkeypatch.setenv("CI", "false")
    assert RecordedLLM(root, real=Live(), mode=mode).mode == mode


@pytest.mark.parametrize("mode", ["new", "all", "live"])
def test_a_mode_that_asks_needs_someone_to_ask(root, mode):
    with pytest.raises(SettingsError, match="real="):
        RecordedLLM(root, mode=mode)
