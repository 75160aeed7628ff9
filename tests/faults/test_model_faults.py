"""P1: every way a model can fail, at every stage: what is stored, what the result says, what `process` does later."""

from __future__ import annotations

import json
import re
from contextlib import ExitStack
from dataclasses import dataclass, field

import pytest
from fault_support import WELL, Model, client, different, sound
from support import fields

from amem import Memory
from amem.embedding import HashEmbedder
from amem.testing.fault_server import Answer, FaultServer, cuts_off, drips, fails, html, replies, resets, says

STAGES = {"note": "fused", "link_evolve": "fused", "link": "paper", "evolve": "paper"}
"""Each stage that asks a model, and the strategy it belongs to."""
JSON = (("Content-Type", "application/json"),)


@dataclass(frozen=True)
class Kind:
    """One way to fail."""

    name: str
    answer: Answer
    error: str
    requests: int
    """How often one call asks: transport faults are tried again, unusable replies shown back once, refusals neither."""
    client: dict = field(default_factory=dict)


def message(**fields_of_it):
    """A completion in which something else stands where text should."""
    choice = {"index": 0, "message": {"role": "assistant", **fields_of_it}, "finish_reason": "stop"}
    return replies({"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})


LOOP = '{"notes": [' + "and then again and again " * 80
OUTAGES = [
    *((f"status {status}", fails(status)) for status in (408, 429, 500, 502, 503, 504, 529)),
    ("429 with Retry-After", fails(429, retry_after=0)),
    ("a page instead of an answer", html()),
    ("a page that says 502", html(502)),
    ("a reset connection", resets()),
    ("an answer cut off on the wire", cuts_off()),
    ("no body", Answer(b"", 200, JSON)),
    ("no text", Answer(b"\xff\xfe{}", 200, JSON)),
    ("an empty object", replies({})),
    ("choices that are none", replies({"choices": "none"})),
    ("an error that says 200", replies({"error": {"message": "boom", "code": 500}})),
    ("content in parts", message(content=[{"type": "text", "text": "{}"}])),
    ("no message", message(content=42)),
]
REJECTED = [
    *((f"status {status}", fails(status)) for status in (400, 401, 402, 403, 404, 405, 413, 422)),
    ("a refused key", fails(401, "Incorrect API key provided: sk-other-secret-1234")),
    ("a quota used up", fails(429, "insufficient_quota: You exceeded your current quota")),
    ("too long a prompt", fails(400, "This model's maximum context length is 100 tokens")),
]
REFUSED = [
    ("a refusal", says(None, refusal="I will not.")),
    ("a refusal that no file can hold", says(None, refusal="I will \ud800 not.")),
    ("a content filter", says("", finish_reason="content_filter")),
    ("a content policy", fails(400, "rejected by content_policy: safety system")),
]
BAD = [
    ("prose", says("I cannot say.")),
    ("wrong types", says('{"notes": "n", "links": "l", "changes": {"a": 1}, "tags": null}')),
    ("missing fields", says("{}")),
    ("a list of words", says('["one", "two"]')),
    ("JSON that ends early", says('{"notes": [{"turn": 0, "keywords": ["a')),
    ("two answers that differ", says(f"{json.dumps(fields(1))} or {json.dumps(fields(1, context='Else.'))} {{}}")),
    ("an unclosed fence", says('```json\n{"notes": [')),
    ("a tag that is no answer", says("<answer>yes</answer>")),
    ("the same words up to the limit", says(LOOP, finish_reason="length")),
]
EMPTY = [
    ("null", says(None)),
    ("nothing", says("")),
    ("blanks", says(" \n ")),
    ("reasoning only", says("<think>on the one hand</think>")),
    ("reasoning that never ends", says("<thought>on the one hand")),
    ("no choices", replies({"id": "1", "object": "chat.completion", "created": 1, "model": "x", "choices": []})),
    ("a tool call", message(content=None, tool_calls=[])),
    ("an empty fence", says("```json\n```")),
]
KINDS = [
    *(Kind(name, answer, "ModelUnavailable", 2) for name, answer in OUTAGES),
    Kind("a Retry-After beyond the deadline", fails(429, retry_after=3600), "ModelUnavailable", 1),
    Kind("a slow drip", drips(60), "ModelUnavailable", 1, {"timeout": 3, "retries": 0}),
    Kind("no answer in time", says("late", seconds=60), "ModelUnavailable", 1, {"timeout": 3, "retries": 0}),
    *(Kind(name, answer, "ModelRejected", 1) for name, answer in REJECTED),
    *(Kind(name, answer, "ModelRefused", 1) for name, answer in REFUSED),
    *(Kind(name, answer, "BadReply", 2) for name, answer in BAD),
    *(Kind(name, answer, "EmptyReply", 2) for name, answer in EMPTY),
    Kind("cut at the token limit", says('{"notes": [{"turn"', finish_reason="length"), "TruncatedReply", 2),
]
ONLY_BUILDING = [
    Kind("every field empty", says(json.dumps(fields(1, keywords=[], tags=[], context=" "))), "BadReply", 2),
    Kind("another language", says(json.dumps(fields(1, context="彼女は毎週日曜日にパンを焼く。"))), "BadReply", 2),
]
SLOW = [kind for kind in KINDS if kind.client]
EVERY = [
    *(pytest.param(stage, kind, id=f"{stage}-{kind.name}") for stage in STAGES for kind in KINDS if not kind.client),
    *(pytest.param("note", kind, id=f"note-{kind.name}") for kind in ONLY_BUILDING),
]


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """One memory for each strategy, over one model: every test has a box of its own in it."""
    with ExitStack() as open_ones:
        model = Model()
        server = open_ones.enter_context(FaultServer(default=model))
        there = {}
        for strategy in set(STAGES.values()):
            place = tmp_path_factory.mktemp(strategy)
            there[strategy] = open_ones.enter_context(
                Memory.open(
                    place, llm=client(server), embedder=HashEmbedder(), chroma=False, similarity_floor=-1.0,
                    strategy=strategy,
                )
            )  # fmt: skip
        yield server, model, there
        assert all(sound(memory._inner) for memory in there.values())


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # litellm's, of answers that are none
@pytest.mark.parametrize(("stage", "kind"), EVERY)
def test_p1_a_failed_call_keeps_the_note_says_why_and_is_made_up_for_later(shared, stage, kind):
    server, model, there = shared
    memory = there[STAGES[stage]].box(f"{stage} {kind.name}")
    model.recover()
    first = memory.add("The bread oven is lit on Sundays.").note
    model.fall_ill(stage, kind.answer)
    server.requests.clear()
    model.asked.clear()
    result = memory.add("The oven was rebuilt in spring.")
    note = result.note
    assert (result.status, note.pending_reason) == ("pending", "failed")
    assert note.error.startswith(f"{kind.error}: ")
    assert not {"secret", "Traceback"} & {*note.error.replace("-", " ").split()}
    assert result.built == (stage != "note") == bool(note.context) == (note.made_by is not None)
    assert (result.links, result.evolved) == ((), ())
    assert (memory.get(note.id), memory.get(first.id)) == (note, first)
    assert memory.search("rebuilt in spring", k=1)[0].note == note
    assert model.asked[stage] == kind.requests
    assert (result.usage.calls, result.usage.failed) == (len(server.requests), kind.requests)
    assert different(server.bodies) or kind.error == "ModelUnavailable"
    assert sum(usage.calls for usage in memory.stats().usage.values()) == 1 + len(server.requests)
    model.recover()
    built = model.asked["note"]
    (done,) = memory.process()
    assert (done.id, done.status, done.note.error) == (note.id, "ready", None)
    assert [(link.source, link.target) for link in done.links] == [(note.id, first.id)]
    assert memory.get(first.id).context == "It goes on."
    assert {r.field for r in done.evolved} == {"context", "tags"}
    assert len(memory.list().notes) == 2
    assert model.asked["note"] - built == (stage == "note"), "what was paid for is not paid for again"
    assert list(memory.process()) == []


@pytest.mark.parametrize("kind", SLOW, ids=lambda kind: kind.name)
@pytest.mark.parametrize("stage", STAGES)
async def test_p1_a_model_that_takes_too_long_is_an_outage(server, model, remember, stage, kind):
    async with remember(strategy=STAGES[stage], **kind.client) as memory:
        await memory.add("The bread oven is lit on Sundays.")
        model.fall_ill(stage, kind.answer)
        result = await memory.add("The oven was rebuilt in spring.")
        assert result.note.error.startswith(f"{kind.error}: ")
        assert result.built == (stage != "note")
        model.recover()
        assert [one.status for one in await memory.process()] == ["ready"]


@pytest.mark.parametrize("stage", STAGES)
async def test_p1_another_process_finishes_what_failed(model, remember, stage):
    async with remember(strategy=STAGES[stage]) as memory:
        await memory.add("The bread oven is lit on Sundays.")
        model.fall_ill(stage, fails(503))
        note = (await memory.add("The oven was rebuilt in spring.")).note
    model.recover()
    async with remember(strategy=STAGES[stage]) as memory:
        (done,) = await memory.process()
        assert (done.id, done.status, len(done.links), len(done.evolved)) == (note.id, "ready", 1, 2)
        assert len((await memory.list()).notes) == 2
        assert sound(memory)


async def test_p1_where_nobody_listens_the_note_is_kept_as_well(server, remember):
    with FaultServer() as gone:
        address = gone.url
    async with remember(api_base=address) as memory:
        result = await memory.add("A memory from a day without a network.")
        assert result.note.error.startswith("ModelUnavailable: ")
        assert len(await memory.search("network")) == 1
    async with remember() as memory:
        assert [one.status for one in await memory.process()] == ["ready"]


def around(stage):
    """The good answer of a stage as models wrap, decorate and damage it."""
    good = json.dumps(WELL[stage])
    return {
        "a fence": f"```json\n{good}\n```",
        "an unclosed fence": f"```json\n{good}",
        "prose before and after": f"Here you are:\n{good}\nAnything else?",
        "reasoning": f"<think>What would they want? {{}}</think>\n{good}",
        "reasoning that never ends": f"<reasoning>I should say {good}",
        "reasoning whose start was in the prompt": f"so be it {{}}</think>{good}",
        "a trailing comma": f"{good[:-1]},}}",
        "smart quotes": re.sub('"([^"]*)"', r"“\1”", good),
        "single quotes": good.replace('"', "'"),
        "keys of its own": f'{{"thoughts": "none", {good[1:]}',
        "a lone surrogate": f'{{"aside": "\\ud83d", {good[1:]}',
        "a null character": f'{{"aside": "\\u0000", {good[1:]}',
    }


WRAPPED = [pytest.param(stage, name, id=f"{stage}-{name}") for stage in STAGES for name in around(stage)]


@pytest.mark.parametrize(("stage", "name"), WRAPPED)
def test_a_good_answer_is_taken_at_once_whatever_stands_around_it(shared, stage, name):
    server, model, there = shared
    memory = there[STAGES[stage]].box(f"{stage} in {name}")
    model.recover()
    first = memory.add("The bread oven is lit on Sundays.")
    model.fall_ill(stage, says(around(stage)[name]))
    server.requests.clear()
    result = memory.add("The oven was rebuilt in spring.")
    assert (result.status, result.note.context) == ("ready", "A plain context.")
    assert [(link.source, link.target) for link in result.links] == [(result.id, first.id)]
    assert memory.get(first.id).context == "It goes on."
    assert result.usage.calls == len(server.requests) == (3 if STAGES[stage] == "paper" else 2)


INVENTED = {
    "link_evolve": {
        "links": [{"source": 1, "targets": [0, 7], "reason": "r", "relation": "x"},
                  {"source": 9, "targets": [0], "reason": "r", "relation": "x"}],
        "changes": [{"because": [1], **CHANGED} for CHANGED in (
            {"neighbour": 5, "context": "Made up.", "keywords": [], "tags": []},
            {"neighbour": 1, "context": "A new note.", "keywords": [], "tags": []},
        )],
    },
    "link": {"links": [{"neighbour": n, "reason": "r", "relation": "x"} for n in (0, 8)]},
    "evolve": {"tags": [], "changes": [{"neighbour": 4, "context": "Made up.", "keywords": [], "tags": []}]},
}  # fmt: skip


@pytest.mark.parametrize("stage", INVENTED)
async def test_invented_numbers_are_dropped_and_reported_and_the_note_is_kept(model, remember, stage):
    async with remember(strategy=STAGES[stage]) as memory:
        first = (await memory.add("The bread oven is lit on Sundays.")).note
        model.fall_ill(stage, says(json.dumps(INVENTED[stage])))
        result = await memory.add("The oven was rebuilt in spring.")
        assert result.status == "ready"
        assert [(link.source, link.target) for link in result.links] == [(result.id, first.id)]
        assert "the request showed no note of that number" in {item.why for item in result.skipped}
        now = await memory.get(first.id)
        assert "Made up." not in now.model_dump_json()
        assert sound(memory)


@pytest.mark.parametrize("stage", ["link_evolve", "evolve"])
async def test_a_change_in_another_language_is_dropped_and_reported(model, remember, stage):
    async with remember(strategy=STAGES[stage]) as memory:
        first = (await memory.add("The bread oven is lit on Sundays.")).note
        changes = [{**WELL[stage]["changes"][0], "context": "彼女は毎週日曜日にパンを焼く。"}]
        model.fall_ill(stage, says(json.dumps({**WELL[stage], "changes": changes})))
        result = await memory.add("The oven was rebuilt in spring.")
        assert (result.status, result.evolved) == ("ready", ())
        assert [item.why for item in result.skipped] == ["the new context is not in the language of the note"]
        assert (await memory.get(first.id)) == first


@pytest.mark.parametrize(
    "answer", [says("no"), says(None, refusal="I will not."), fails(413)], ids=["bad", "refused", "too long"]
)
@pytest.mark.parametrize("stage", ["note", "link_evolve"])
async def test_one_turn_that_no_reply_can_be_had_for_does_not_hold_back_its_window(model, remember, answer, stage):
    def choosy(seen):
        return answer if "poison" in str(seen.body["messages"]) else None

    async with remember() as memory:
        first = await memory.add("The bread oven is lit on Sundays.")
        model.fall_ill(stage, choosy)
        results = await memory.add_many(["one", "two", "a poison", "four"])
        assert [result.status for result in results] == ["ready", "ready", "pending", "ready"]
        assert [result.built for result in results] == [True, True, stage == "link_evolve", True]
        assert (await memory.get(first.id)).context == "It goes on."
        assert [result.status for result in await memory.process()] == ["pending"]
        assert sound(memory)


async def test_links_that_are_too_many_for_one_reply_are_asked_for_half_by_half(model, remember):
    def choosy(seen):
        many = str(seen.body["messages"]).count("turn number") > 3
        return says('{"links": [', finish_reason="length") if many else None

    async with remember() as memory:
        first = await memory.add("The bread oven is lit on Sundays.")
        model.fall_ill("link_evolve", choosy)
        results = await memory.add_many([f"turn number {i}" for i in range(8)])
        assert {result.status for result in results} == {"ready"}
        halves = [results[start].id for start in (0, 2, 4, 6)]
        assert {link.source for link in await memory.links(first.id)} == set(halves)
        assert sound(memory)


@pytest.mark.parametrize("answer", [says("no"), says('{"links": [', finish_reason="length")], ids=["bad", "cut"])
async def test_a_model_that_can_link_nothing_is_not_asked_about_every_note(model, remember, answer):
    async with remember() as memory:
        await memory.add("The bread oven is lit on Sundays.")
        model.fall_ill("link_evolve", answer)
        results = await memory.add_many([f"turn number {i}" for i in range(8)])
        assert {(result.status, result.built) for result in results} == {("pending", True)}
        assert model.asked["link_evolve"] == 2 * 5  # of 8, of 4, of 2, and of each of those two; each shown back once


async def test_a_text_that_a_provider_refuses_does_not_hold_back_those_that_are_near_it(model, remember):
    def choosy(seen):
        return says(None, refusal="I will not.") if "poison" in str(seen.body["messages"]) else None

    for stage in ("note", "link_evolve"):
        model.fall_ill(stage, choosy)
    async with remember() as memory:
        assert (await memory.add("The poison is in the oven.")).status == "pending"
        assert (await memory.add("The bread is in the oven.")).status == "ready"


async def test_a_note_that_is_too_long_for_the_model_does_not_stop_what_comes_after_it(model, remember):
    def choosy(seen):
        long = "endless" in str(seen.body["messages"])
        return fails(400, "This model's maximum context length is 100 tokens") if long else None

    model.fall_ill("note", choosy)
    async with remember(strategy="paper") as memory:
        results = await memory.add_many(["one", "an endless story", "three"])
        assert [result.note.pending_reason for result in results] == [None, "failed", None]


async def test_a_refused_key_stops_a_run_after_one_request(server, model, remember):
    model.fall_ill("note", fails(401, "Incorrect API key provided"))
    async with remember() as memory:
        results = await memory.add_many([f"turn {i}" for i in range(24)])
        assert [result.note.pending_reason for result in results] == ["failed"] * 8 + ["queued"] * 16
        assert len(server.requests) == 1


@pytest.mark.parametrize("strategy", ["fused", "paper"])
async def test_a_model_that_is_good_for_nothing_is_not_paid_for_a_whole_import(server, model, remember, strategy):
    model.fall_ill("note", says("I am a language model."))
    async with remember(strategy=strategy) as memory:
        results = await memory.add_many([f"turn {i}" for i in range(64)])
        assert {result.note.pending_reason for result in results[:16]} == {"failed"}
        assert {result.note.pending_reason for result in results[16:]} == {"queued"}
        assert len(server.requests) <= 60


async def test_what_failed_before_does_not_stand_in_the_way_of_what_was_never_tried(model, remember):
    def choosy(seen):
        return says("no") if "poison" in str(seen.body["messages"]) else None

    model.fall_ill("note", choosy)
    async with remember() as memory:
        await memory.add_many([f"poison {i}" for i in range(16)])
        await memory.add("healthy", wait=False)
        await memory.add_many(["also healthy"], wait=False)
        done = await memory.process()
        assert len(done) == 16
        notes = (await memory.list()).notes
        assert {note.content for note in notes if note.status == "ready"} == {"healthy", "also healthy"}
        left = [note.content for note in await memory._worker.waiting("default", ("queued", "failed"))]
        assert len(left) == 16


async def test_a_refused_format_is_asked_for_in_words_and_every_request_is_counted(server, model, remember):
    model.fall_ill("note", [fails(400, "response_format json_schema is not supported")])
    async with remember() as memory:
        server.default = lambda seen: (
            model(seen) if "json_schema" in str(seen.body.get("response_format")) else says(json.dumps(fields(1)))
        )
        result = await memory.add("Asked twice.")
        assert result.status == "ready"
        assert (result.usage.calls, result.usage.failed) == (2, 1)
