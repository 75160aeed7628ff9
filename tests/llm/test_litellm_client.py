"""The real litellm against a real HTTP server that serves every fault.

Importing litellm takes eight seconds of CPU once; besides this file only tests/faults needs it.
"""

from __future__ import annotations

import asyncio
import logging
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
import tenacity
from pydantic import BaseModel

from amem.embedding import HashEmbedder
from amem.errors import (
    BadReply,
    EmbeddingError,
    EmptyReply,
    ModelRefused,
    ModelRejected,
    ModelUnavailable,
    TruncatedReply,
)
from amem.llm.litellm_client import LiteLLM, embed_texts, rerank_texts
from amem.llm.metering import Meter
from amem.llm.protocol import LLM
from amem.llm.structured import ask
from amem.llm.transport import load_litellm
from amem.memory import AsyncMemory
from amem.testing.fault_server import FaultServer, cuts_off, drips, fails, html, replies, resets, says

GOOD = '{"keywords": ["race"], "context": "Melanie ran."}'


class Fields(BaseModel):
    keywords: list[str]
    context: str


SCHEMA = Fields.model_json_schema()


@pytest.fixture(scope="session", autouse=True)
def _litellm():
    load_litellm()


@pytest.fixture
async def client(server):
    made = []

    def make(**settings) -> LiteLLM:
        usual = {"api_base": server.url, "api_key": "hunter2-very-secret", "wait": tenacity.wait_none(), "timeout": 5}
        made.append(LiteLLM(settings.pop("model", "openai/fake"), **(usual | settings)))
        return made[-1]

    yield make
    for llm in made:
        await llm.aclose()


async def test_a_reply_carries_text_usage_time_and_an_unknown_price(server, client, make_request):
    server.plan(says("hello"))
    llm = client()
    assert isinstance(llm, LLM)
    reply = await llm.complete(make_request())
    assert (reply.text, reply.finish_reason, reply.attempts) == ("hello", "stop", 1)
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (11, 7)
    assert reply.cost is None
    assert reply.seconds > 0
    body = server.bodies[0]
    assert body["model"] == "fake"
    assert body["messages"] == [
        {"role": "system", "content": "You index."},
        {"role": "user", "content": "What is this about?"},
    ]
    assert (body["temperature"], body["max_tokens"]) == (0.0, 64)
    assert "response_format" not in body


async def test_a_known_price_is_reported(server, client, make_request):
    server.plan(says("hello"))
    reply = await client(model="openai/gpt-4o-mini").complete(make_request())
    assert reply.cost is not None
    assert 0 < reply.cost < 0.001


async def test_the_requests_model_wins_over_the_clients(server, client, make_request):
    server.plan(says("hello"))
    request = make_request().model_copy(update={"model": "openai/other"})
    await client().complete(request)
    assert server.bodies[0]["model"] == "other"


async def test_usage_the_provider_did_not_give_is_unknown(server, client, make_request):
    server.plan(says("hello", tokens=None))
    usage = (await client().complete(make_request())).usage
    assert (usage.prompt_tokens, usage.completion_tokens) == (None, None)


@pytest.mark.parametrize(
    "fault",
    [
        *(fails(status) for status in (408, 429, 500, 502, 503, 504, 529)),
        *(html(), html(502), resets(), cuts_off(), replies({}), replies({"choices": "none"})),
    ],
)
async def test_a_transport_fault_is_tried_again(server, client, make_request, fault):
    server.plan(fault, fault, says("hello"))
    reply = await client(retries=2).complete(make_request())
    assert (reply.text, reply.attempts, len(server.requests)) == ("hello", 3, 3)


async def test_retries_end_and_the_error_says_how_many_there_were(server, client, make_request):
    server.default = fails(503, "overloaded, key hunter2-very-secret was fine")
    with pytest.raises(ModelUnavailable, match=r"4 attempts .*overloaded") as caught:
        await client(retries=3).complete(make_request())
    assert (caught.value.attempts, len(server.requests)) == (4, 4)
    assert "secret" not in str(caught.value)
    assert "litellm" not in str(caught.value)


@pytest.mark.parametrize(
    "case",
    [
        (fails(400, "unknown parameter"), ModelRejected, "name and parameters"),
        (fails(401, "Incorrect API key provided: sk-other-secret-1234"), ModelRejected, "API key"),
        (fails(402), ModelRejected, "billing"),
        (fails(403), ModelRejected, "may use"),
        (fails(404, "no such model"), ModelRejected, "api_base"),
        (fails(413), ModelRejected, "parameters"),
        (fails(422), ModelRejected, "parameters"),
        (fails(429, "insufficient_quota: You exceeded your current quota"), ModelRejected, "quota"),
        (fails(400, "This model's maximum context length is 100 tokens"), ModelRejected, "smaller window"),
        (fails(400, "rejected by content_policy: safety system"), ModelRefused, "content policy"),
    ],
)
async def test_a_refused_request_is_not_sent_twice(server, client, make_request, case):
    fault, error, advice = case
    server.plan(fault, says("never"))
    with pytest.raises(error, match=advice) as caught:
        await client().complete(make_request(schema=SCHEMA))
    assert len(server.requests) == 1
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("later", [1, lambda: format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)])
async def test_retry_after_is_honoured(server, client, make_request, later):
    server.plan(fails(429, retry_after=later() if callable(later) else later), says("hello"))
    await client().complete(make_request())
    first, second = server.requests
    assert second.at - first.at >= 0.9


async def test_a_retry_after_beyond_the_deadline_is_not_waited_for(server, client, make_request):
    server.plan(fails(429, retry_after=3600))
    began = time.monotonic()
    with pytest.raises(ModelUnavailable, match="asks to wait 3600 s"):
        await client(deadline=5).complete(make_request())
    assert time.monotonic() - began < 4
    assert len(server.requests) == 1


async def test_without_a_retry_after_the_pause_grows(server, client, make_request):
    server.plan(fails(500), fails(500), says("hello"))
    await client(wait=None).complete(make_request())
    first, second, third = (request.at for request in server.requests)
    assert second - first >= 0.49
    assert third - second >= 0.99


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # litellm's, of answers that are none
async def test_an_answer_whose_fields_are_of_the_wrong_type_is_read_or_is_an_outage(server, client, make_request):
    usage = {"prompt_tokens": -5, "completion_tokens": -1, "total_tokens": -6}
    choice = {"index": 0, "message": {"role": "assistant", "content": "a \ud800 b"}, "finish_reason": "stop"}
    answer = {"id": "1", "object": "chat.completion", "created": 1, "model": 4, "choices": [choice], "usage": usage}
    server.plan(replies(answer))
    reply = await client().complete(make_request())
    assert (reply.text, reply.model) == ("a \ufffd b", "4")
    assert reply.usage.prompt_tokens is None, "a budget must not grow"


@pytest.mark.parametrize("slow", [drips(30), says("late", seconds=30)])
async def test_a_slow_answer_is_given_up_in_time_and_tried_again(server, client, make_request, slow):
    server.plan(slow, says("hello"))
    reply = await client(timeout=1.5).complete(make_request())
    assert (reply.text, reply.attempts) == ("hello", 2)


async def test_the_deadline_bounds_a_call_with_all_its_retries(server, client, make_request):
    server.default = drips(30)
    began = time.monotonic()
    with pytest.raises(ModelUnavailable, match="no answer in time"):
        await client(timeout=1, deadline=2.5, retries=50).complete(make_request())
    assert time.monotonic() - began < 8
    assert 2 <= len(server.requests) <= 3


async def test_nobody_listening_is_an_outage(client, make_request):
    with FaultServer() as gone:
        address = gone.url
    with pytest.raises(ModelUnavailable):
        await client(api_base=address, retries=1).complete(make_request())


async def test_a_refusal_and_a_filter_are_replies_that_say_so(server, client, make_request):
    server.plan(says(None, refusal="I will not."), says("", finish_reason="content_filter"))
    llm = client()
    first, second = [await llm.complete(make_request()) for _ in range(2)]
    assert (first.text, first.finish_reason) == ("I will not.", "refusal")
    assert second.finish_reason == "content_filter"


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (says("I cannot say."), BadReply),
        (says('{"keywords": "race", "context": null}'), BadReply),
        (says(None), EmptyReply),
        (says(""), EmptyReply),
        (says("<think>and so on"), EmptyReply),
        (replies({"id": "1", "object": "chat.completion", "created": 1, "model": "x", "choices": []}), EmptyReply),
        (says('{"keywords": ["ra', finish_reason="length"), TruncatedReply),
        (says(None, refusal="I will not."), ModelRefused),
        (says("", finish_reason="content_filter"), ModelRefused),
    ],
)
async def test_every_unusable_reply_ends_in_its_typed_error_and_is_metered(server, client, make_request, answer, error):
    server.default, meter = answer, Meter()
    with pytest.raises(error) as caught:
        await ask(client(), make_request(schema=SCHEMA), Fields, meter=meter, stage="build")
    assert type(caught.value) is error
    assert meter.total.calls == meter.total.failed == len(server.requests) <= 2
    assert len({str(body) for body in server.bodies}) == len(server.bodies)


@pytest.mark.parametrize(
    "text", [GOOD, f"```json\n{GOOD}\n```", f"<think>so</think>{GOOD}", f"<think>so {GOOD}", f"Here: {GOOD[:-1]},}}"]
)
async def test_every_usable_reply_is_used(server, client, make_request, text):
    server.plan(says(text))
    fields = await ask(client(), make_request(schema=SCHEMA), Fields, meter=Meter(), stage="build")
    assert fields == Fields(keywords=["race"], context="Melanie ran.")


def formats(server) -> list[str]:
    return [body.get("response_format", {}).get("type", "text") for body in server.bodies]


async def test_a_schema_is_sent_as_it_is_and_not_strict(server, client, make_request):
    server.plan(says(GOOD))
    await client().complete(make_request(schema=SCHEMA))
    sent = server.bodies[0]["response_format"]
    assert sent["type"] == "json_schema"
    assert sent["json_schema"] == {"name": "note", "strict": False, "schema": SCHEMA}
    assert "schema" not in server.bodies[0]["messages"][-1]["content"]


async def test_a_refused_format_goes_one_step_down_and_is_remembered(server, client, make_request):
    refused = fails(400, "response_format of type json_schema is not supported")
    server.plan(refused, fails(400, "'response_format': unknown field"), says(GOOD), says(GOOD))
    llm = client()
    reply = await llm.complete(make_request(schema=SCHEMA))
    assert (reply.text, reply.attempts) == (GOOD, 3)
    await llm.complete(make_request(schema=SCHEMA))
    assert formats(server) == ["json_schema", "json_object", "text", "text"]
    for body in server.bodies[1:]:
        assert '"keywords"' in body["messages"][-1]["content"]
        assert len(body["messages"]) == 2


async def test_a_refusal_of_the_last_format_is_final(server, client, make_request):
    server.default = fails(400, "bad json_schema")
    with pytest.raises(ModelRejected):
        await client().complete(make_request(schema=SCHEMA))
    assert formats(server) == ["json_schema", "json_object", "text"]


async def test_requests_refused_together_move_down_one_step_only(server, client, make_request):
    server.plan(*[fails(400, "no json_schema here")] * 3)
    server.default = says(GOOD)
    llm = client()
    await asyncio.gather(*(llm.complete(make_request(f"{n}", schema=SCHEMA)) for n in range(3)))
    await llm.complete(make_request(schema=SCHEMA))
    assert formats(server)[-1] == "json_object"
    assert "text" not in formats(server)


@pytest.mark.parametrize("form", ["json_schema", "json_object", "text"])
async def test_the_format_can_be_chosen(server, client, make_request, form):
    server.plan(says(GOOD))
    await client(structured=form).complete(make_request(schema=SCHEMA))
    assert formats(server) == [form]


async def test_at_a_hosted_model_the_format_is_what_litellm_says_it_takes(server, client, make_request, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    server.default = says(GOOD)
    for model in ("openai/gpt-4o-mini", "openai/unheard-of"):
        await client(model=model, api_base=None).complete(make_request(schema=SCHEMA))
    assert formats(server) == ["json_schema", "json_object"]


async def test_concurrency_is_bounded(server, client, make_request):
    server.default = says("hello", seconds=0.1)
    llm = client(concurrency=2)
    await asyncio.gather(*(llm.complete(make_request(f"{n}")) for n in range(6)))
    assert server.peak == 2


async def test_waiting_for_a_slot_does_not_count_against_the_deadline(server, client, make_request):
    server.default = says("hello", seconds=0.4)
    llm = client(concurrency=1, deadline=1.0)
    await asyncio.gather(*(llm.complete(make_request(f"{n}")) for n in range(4)))
    assert len(server.requests) == 4


async def test_a_cancelled_call_leaves_the_client_usable(server, client, make_request):
    server.plan(says("late", seconds=30), says("hello"))
    llm = client(concurrency=1)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await llm.complete(make_request())
    assert (await llm.complete(make_request())).text == "hello"
    assert len(server.requests) == 2


async def test_connections_are_reused(server, client, make_request):
    server.default = says("hello")
    llm = client()
    for _ in range(5):
        await llm.complete(make_request())
    assert server.connections == 1


async def test_a_closed_client_opens_again(server, client, make_request):
    server.default = says("hello")
    llm = client()
    await llm.complete(make_request())
    await llm.aclose()
    await llm.aclose()
    assert (await llm.complete(make_request())).text == "hello"


async def test_closing_one_client_leaves_its_twin_alone(server, client, make_request):
    server.plan(says("first"), says("second", seconds=0.3))
    one, other = client(), client()
    await one.complete(make_request())
    under_way = asyncio.create_task(other.complete(make_request()))
    await asyncio.sleep(0.1)
    await one.aclose()
    reply = await under_way
    assert (reply.text, reply.attempts) == ("second", 1)


async def test_the_library_says_nothing_on_its_own(server, client, make_request, capfd):
    server.default = fails(500)
    with pytest.raises(ModelUnavailable):
        await client(retries=1).complete(make_request())
    with pytest.raises(ModelRejected):
        await client(model="no-such-provider/x", api_base=None).complete(make_request())
    assert capfd.readouterr() == ("", "")
    handlers = [handler for name in ("LiteLLM", "LiteLLM Router") for handler in logging.getLogger(name).handlers]
    assert {type(handler) for handler in handlers} == {logging.NullHandler}


def embeddings(seen):
    """Answer with a vector for each text, in the wrong order, as an API may."""
    rows = [
        {"object": "embedding", "index": index, "embedding": [float(len(text)), 1.0]}
        for index, text in enumerate(seen.body["input"])
    ]
    usage = {"prompt_tokens": 2, "total_tokens": 2}
    return replies({"object": "list", "data": rows[::-1], "model": "fake", "usage": usage})


async def test_embeddings_come_in_the_order_of_the_texts_and_survive_transport_faults(server):
    server.plan(fails(503), fails(429, retry_after=0))
    server.default = embeddings
    vectors = await embed_texts("openai/fake", ["a", "bbb", "cc"], server.url, "none", 5, wait=tenacity.wait_none())
    assert vectors == [[1.0, 1.0], [3.0, 1.0], [2.0, 1.0]]
    assert [request.path for request in server.requests] == ["/v1/embeddings"] * 3


@pytest.mark.parametrize(("fault", "requests"), [(fails(401), 1), (fails(500), 3), (html(), 3)])
async def test_embeddings_that_cannot_be_had_are_an_embedding_error(server, fault, requests):
    server.default, pause = fault, tenacity.wait_none()
    with pytest.raises(EmbeddingError, match="openai/fake"):
        await embed_texts("openai/fake", ["a"], server.url, "none", 20, retries=2, wait=pause)
    assert len(server.requests) == requests


async def test_embeddings_that_take_too_long_are_given_up(server):
    server.default = drips(30)
    began = time.monotonic()
    with pytest.raises(EmbeddingError, match="no answer in time"):
        await embed_texts("openai/fake", ["a"], server.url, "none", 1, retries=50, wait=tenacity.wait_none())
    assert time.monotonic() - began < 10


RANKED = {"id": "r1", "results": [{"index": 2, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.2}]}


async def test_reranking_gives_scores_in_the_order_of_the_texts_and_survives_transport_faults(server):
    server.plan(fails(503), replies(RANKED))
    scores, took = await rerank_texts(
        "hosted_vllm/ranker", "who ran?", ["a", "b", "c"], server.url, "none", timeout=5, wait=tenacity.wait_none()
    )
    assert (scores, took.attempts, took.model) == ([0.2, 0.0, 0.9], 2, "hosted_vllm/ranker")
    assert server.bodies[-1]["query"] == "who ran?"
    assert server.bodies[-1]["documents"] == ["a", "b", "c"]


@pytest.mark.parametrize(("fault", "error"), [(fails(401), ModelRejected), (fails(500), ModelUnavailable)])
async def test_reranking_that_cannot_be_had_is_a_typed_error(server, fault, error):
    server.default, pause = fault, tenacity.wait_none()
    with pytest.raises(error, match="ranker"):
        await rerank_texts("hosted_vllm/ranker", "q", ["a"], server.url, "none", retries=1, wait=pause)


async def test_a_memory_reranks_by_a_litellm_model_and_counts_the_call(server, tmp_path):
    server.default = replies({"id": "r1", "results": [{"index": 1, "relevance_score": 0.9}]})
    named = {"recall_rerank": "litellm:hosted_vllm/ranker", "recall_rerank_api_base": server.url}
    async with AsyncMemory.open(tmp_path, embedder=HashEmbedder(), chroma=False, **named) as memory:
        await memory.add_many(["Ana hikes in autumn.", "Ben sold a piano."])
        plain = await memory.search("Who hikes?", rerank="none")
        assert [hit.note.id for hit in await memory.search("Who hikes?")] == [hit.note.id for hit in reversed(plain)]
        assert (await memory.stats()).usage["rerank"].calls == 1


PROGRAM = """
import asyncio, gc, sys, time

asked = set()
sys.addaudithook(lambda event, args: asked.add(str(args)) if event in ("socket.connect", "socket.getaddrinfo") else 0)

from amem.llm.litellm_client import LiteLLM
from amem.llm.protocol import Message, PromptRef, Request

address = sys.argv[1]
llm = LiteLLM("openai/fake", api_base=address, api_key="none")
assert "litellm" not in sys.modules
prompt = PromptRef(name="note", version="v1", hash="0")
request = Request(prompt=prompt, variables={}, messages=(Message(role="user", content="hi"),))

async def beat(beats):
    while True:
        await asyncio.sleep(0.01)
        beats.append(time.monotonic())

async def main():
    beats = []
    heart = asyncio.create_task(beat(beats))
    replies = await asyncio.gather(*(llm.complete(request) for _ in range(3)))
    heart.cancel()
    assert [reply.text for reply in replies] == ["hello"] * 3
    await llm.aclose()
    return len(beats)

assert asyncio.run(main()) > 50  # the import takes seconds, and the loop went on turning
gc.collect()
asyncio.run(main())
gc.collect()
port = address.split(":")[2].split("/")[0]
assert all("127.0.0.1" in args and port in args for args in asked), asked
"""


@pytest.mark.slow
def test_a_fresh_process_is_light_until_the_first_call_then_silent_offline_and_at_home_in_any_loop(server):
    server.default = says("hello")
    command = [sys.executable, "-W", "error", "-W", "ignore::DeprecationWarning", "-c", PROGRAM, server.url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert len(server.requests) == 6
