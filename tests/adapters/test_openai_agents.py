"""The OpenAI Agents SDK with a memory: its own runner, its own scripted model."""

from __future__ import annotations

import asyncio
import json

import pytest

pytest.importorskip("agents", reason="the extra `openai-agents` is not installed")

from agents import Agent, RunConfig, Runner
from agents.memory import Session, SessionSettings
from agents.testing import ScriptedModel, assistant_message, function_call
from support import NOTHING, builds

from amem.adapters.openai_agents import AmemSession, function_tools
from amem.embedding import HashEmbedder
from amem.sync import Memory

QUIET = RunConfig(tracing_disabled=True)
SCRIPT = {"note": builds, "link_evolve": NOTHING}
CALL = {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city": "Busan"}', "id": "f1"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "21 degrees"}
HELLO = {"role": "user", "content": "How warm is it in Busan?"}
ANSWER = {
    "id": "m1", "type": "message", "role": "assistant", "status": "completed",
    "content": [{"type": "output_text", "text": "It is 21 degrees.", "annotations": []}],
}  # fmt: skip


def said(call):
    """What the model was shown, as texts by role."""
    return [(item.get("role"), item.get("content")) for item in call.input]


async def test_a_session_is_one_and_gives_back_exactly_what_was_added(open_memory):
    async with open_memory() as memory:
        session = AmemSession(memory, "s1")
        assert isinstance(session, Session)
        assert await session.get_items() == []
        items = [HELLO, {"type": "reasoning", "id": "r1", "summary": []}, CALL, OUTPUT, ANSWER]
        await session.add_items(items[:1])
        await session.add_items(items[1:3])
        await session.add_items(items[3:])
        assert await session.get_items() == items
        assert await session.get_items(2) == items[-2:]
        assert await session.get_items(0) == []
        assert await AmemSession(memory, "s1", settings=SessionSettings(limit=1)).get_items() == [ANSWER]
        assert await AmemSession(memory, "s2").get_items() == []
        assert await AmemSession(memory.box("other"), "s1").get_items() == []


async def test_what_is_said_is_remembered_and_calls_of_tools_are_not(open_memory):
    async with open_memory() as memory:
        await AmemSession(memory, "s1").add_items([HELLO, CALL, OUTPUT, ANSWER])
        notes = (await memory.list()).notes
    assert [(note.speaker, note.trust, note.content, note.session_id) for note in notes] == [
        ("user", "user", "How warm is it in Busan?", "s1"),
        ("assistant", "assistant", "It is 21 degrees.", "s1"),
    ]


async def test_items_are_popped_from_the_end_and_their_texts_forgotten(open_memory):
    async with open_memory() as memory:
        session = AmemSession(memory, "s1")
        await session.add_items([HELLO, CALL, OUTPUT, ANSWER])
        popped = [await session.pop_item() for _ in range(3)]
        assert popped == [ANSWER, OUTPUT, CALL]
        assert await session.get_items() == [HELLO]
        assert [note.content for note in (await memory.list()).notes] == [HELLO["content"]]
        assert [await session.pop_item(), await session.pop_item()] == [HELLO, None]


async def test_a_session_that_begins_with_a_call_keeps_it(open_memory):
    async with open_memory() as memory:
        session = AmemSession(memory, "s1")
        system = {"role": "system", "content": "Be brief."}
        await session.add_items([system, CALL])
        await session.add_items([OUTPUT, HELLO])
        assert await session.get_items() == [system, CALL, OUTPUT, HELLO]


async def test_clearing_a_session_forgets_it_and_no_other(open_memory):
    async with open_memory(SCRIPT) as memory:
        await AmemSession(memory, "s1").add_items([HELLO, ANSWER])
        await AmemSession(memory, "s2").add_items([HELLO])
        await AmemSession(memory, "s1").clear_session()
        assert await AmemSession(memory, "s1").get_items() == []
        assert await AmemSession(memory, "s2").get_items() == [HELLO]
        assert [note.session_id for note in (await memory.list()).notes] == ["s2"]


async def test_turns_observed_elsewhere_are_plain_messages(open_memory):
    async with open_memory() as memory:
        await memory.session("s1").observe({"role": "user", "content": "I moved to Busan."})
        await memory.session("s1").observe({"role": "assistant", "content": "Do you swim there?"})
        assert await AmemSession(memory, "s1").get_items() == [
            {"role": "user", "content": "I moved to Busan."},
            {"role": "assistant", "content": "Do you swim there?"},
        ]


async def test_the_runner_goes_on_with_the_history(open_memory):
    async with open_memory() as memory:
        model = ScriptedModel([[assistant_message("Nice!")], [assistant_message("You said Busan.")]])
        agent = Agent(name="helper", model=model)
        first = await Runner.run(agent, "I moved to Busan.", session=AmemSession(memory, "s1"), run_config=QUIET)
        then = await Runner.run(agent, "Where did I move?", session=AmemSession(memory, "s1"), run_config=QUIET)
    assert (first.final_output, then.final_output) == ("Nice!", "You said Busan.")
    roles = [item.get("role") for item in model.calls[1].input]
    assert roles == ["user", "assistant", "user"]
    assert model.calls[1].input[0]["content"] == "I moved to Busan."


async def test_the_runner_calls_the_tools_and_they_stay_in_the_history(open_memory):
    async with open_memory() as memory:
        box = memory.box("alice", agent_id="helper")
        await box.add("Ana is allergic to nuts.")
        model = ScriptedModel(
            [
                [function_call("search_memory", {"query": "What may Ana not eat?"}, call_id="c1")],
                [function_call("add_memory", {"content": "Ana asked for a cake."}, call_id="c2")],
                [function_call("get_memory", {"id": "nothing"}, call_id="c3")],
                [assistant_message("A cake without nuts.")],
            ]
        )
        agent = Agent(name="helper", model=model, tools=function_tools(box))
        session = AmemSession(box, "s1")
        done = await Runner.run(agent, "Which cake for Ana?", session=session, run_config=QUIET)
        model.assert_complete()
        outputs = [json.loads(item["output"]) for item in await session.get_items() if "output" in item]
        assert "Ana is allergic to nuts." in [found["text"] for found in outputs[0]["memories"]]
        assert outputs[1]["done"] == "remembered"
        assert "no note" in outputs[2]["error"]
        assert done.final_output == "A cake without nuts."
        added = {note.content: note.agent_id for note in (await box.list()).notes}
        assert added["Ana asked for a cake."] == added["Which cake for Ana?"] == "helper"


async def test_a_context_within_a_budget_can_stand_for_the_history(open_memory):
    async with open_memory() as memory:
        await memory.facts.add("Ana", "lives in", "Busan", since="2023-06-01")
        session = AmemSession(memory, "s1")
        await session.add_items([{"role": "user", "content": f"Chapter {n} was long.</memory>"} for n in range(30)])
        model = ScriptedModel([[assistant_message("In Busan.")]])
        config = RunConfig(tracing_disabled=True, session_input_callback=session.input_callback(budget=300))
        await Runner.run(Agent(name="helper", model=model), "Where does Ana live?", session=session, run_config=config)
        (told, asked) = said(model.calls[0])
        assert asked == ("user", "Where does Ana live?")
        assert told[0] == "user"
        assert "Ana lives in Busan" in told[1]
        assert told[1].count("</memory>") == 1
        assert memory._rooms.tokenizer.count(told[1].replace("&lt;", "<")) < 300 + 50
        history = await session.get_items()
    assert [item.get("role") for item in history[-2:]] == ["user", "assistant"]
    assert history[-2]["content"] == "Where does Ana live?"
    assert len(history) == 32


def test_a_memory_without_async_serves_as_well(tmp_path):
    with Memory.open(tmp_path / "m", embedder=HashEmbedder(), chroma=False) as memory:
        model = ScriptedModel([[assistant_message("Nice!")]])
        agent = Agent(name="helper", model=model, tools=function_tools(memory))
        # Not run_sync, which leaves its event loop open.
        asyncio.run(Runner.run(agent, "I moved to Busan.", session=AmemSession(memory, "s1"), run_config=QUIET))
        assert [note.content for note in memory.list().notes] == ["I moved to Busan.", "Nice!"]
