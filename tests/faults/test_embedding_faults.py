"""P1: the embedder fails at add, at processing and at a search: nothing is lost, and nothing is paid for in vain."""

from __future__ import annotations

import json

import numpy as np
import pytest
import tenacity
from fault_support import sound

from amem.embedding import HashEmbedder, RemoteEmbedder
from amem.errors import EmbeddingError
from amem.llm.litellm_client import embed_texts
from amem.testing.fault_server import Answer, FaultServer, fails, html, replies, resets

JSON = (("Content-Type", "application/json"),)
SIZE = 4


def answers(*vectors, first=0):
    data = [{"object": "embedding", "index": first + i, "embedding": vector} for i, vector in enumerate(vectors)]
    return replies({"object": "list", "model": "m", "data": data})


def well(seen):
    return answers(*([1.0, 0.5, 0.25, 0.125] for _ in seen.body["input"]))


NAN = b'{"object": "list", "model": "m", "data": [{"index": 0, "embedding": [NaN, 1, 1, 1]}]}'
FAULTS = {
    "an outage": fails(503),
    "a refused key": fails(401),
    "a reset connection": resets(),
    "a page instead of an answer": html(),
    "no vectors": answers(),
    "no data": replies({"object": "list", "model": "m", "data": None}),
    "more vectors than texts": answers([1.0] * SIZE, [1.0] * SIZE),
    "numbers that are none": answers(["a", "b", "c", "d"]),
    "nothing for a number": answers([None, 1.0, 1.0, 1.0]),
    "a vector that is text": answers("AAAAAAAA"),
    "no vector": answers(None),
    "a vector of vectors": answers([[1.0], [2.0], [3.0], [4.0]]),
    "a vector of no length": answers([]),
    "a vector without a direction": answers([0.0] * SIZE),
    "numbers too large": answers([1e300] * SIZE),
    "NaN": Answer(NAN, 200, JSON),
    "another place": answers([1.0] * SIZE, first=3),
}


@pytest.fixture
def provider():
    with FaultServer(default=well) as running:
        yield running


@pytest.fixture
def remote(provider):
    """Make the embedder of this test's memory, as a process does that opens it anew."""

    async def ask(texts):
        return await embed_texts("openai/e", texts, provider.url, "k", 20, retries=1, wait=tenacity.wait_none())

    return lambda: RemoteEmbedder("openai/e", ask)


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # litellm's, of answers that are none
@pytest.mark.parametrize("fault", FAULTS)
async def test_p1_a_faulty_embedding_server_is_an_error_with_a_type_and_nothing_is_embedded(provider, remote, fault):
    provider.default = FAULTS[fault]
    with pytest.raises(EmbeddingError):
        await remote().embed(["a text"])


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # likewise
@pytest.mark.parametrize("fault", ["an outage", "no data", "NaN", "more vectors than texts"])
async def test_p1_what_cannot_be_embedded_is_kept_costs_no_call_and_is_made_up_for(
    provider, remote, server, remember, fault
):
    async with remember(embedder=remote()) as memory:
        first = await memory.add("The bread oven is lit on Sundays.")
        server.requests.clear()
        provider.default = FAULTS[fault]
        result = await memory.add("The oven was rebuilt in spring.")
        assert (result.status, result.note.pending_reason) == ("pending", "failed")
        assert result.note.error.startswith("EmbeddingError: ")
        assert server.requests == [], "what is built could not be kept, so nobody is asked"
        assert [hit.note.id for hit in await memory.search("rebuilt in spring", k=1)] == [result.id]
        assert [one.status for one in await memory.process()] == ["pending"]
        assert server.requests == []
        provider.default = well
        (done,) = await memory.process()
        assert (done.status, {first.id} & {link.target for link in done.links}) == ("ready", {first.id})
        assert [link.id for link in await memory.links(done.id)] == [done.links[0].id]
    async with remember(embedder=remote()) as memory:
        assert sound(memory)


class Stumbling(HashEmbedder):
    """An embedder that gives something else than it should from some call on, until it is mended."""

    def __init__(self, wrong, after):
        super().__init__(SIZE)
        self.wrong = wrong
        self.after = after

    async def embed(self, texts):
        self.after -= 1
        rows = await super().embed(texts)
        return self.wrong(rows) if self.wrong is not None and self.after < 0 else rows


def _fails(rows):
    raise EmbeddingError("out of order")


WRONG = {
    "fails": _fails,
    "fewer vectors than texts": lambda rows: rows[:-1],
    "another dimension": lambda rows: np.ones((len(rows), SIZE + 1), dtype=np.float32),
    "NaN": lambda rows: np.full_like(rows, np.nan),
    "one row for all": lambda rows: rows[0],
    "nothing": lambda rows: None,
}


@pytest.mark.parametrize("wrong", WRONG)
async def test_p1_an_embedder_of_the_users_own_that_goes_wrong_at_add_stores_no_such_vector(remember, server, wrong):
    embedder = Stumbling(WRONG[wrong], after=0)
    async with remember(embedder=embedder) as memory:
        result = await memory.add("The bread oven is lit on Sundays.")
        assert result.note.error.startswith("EmbeddingError: ")
        assert memory._rooms.vectors.vectors_of([result.id])[0] == []
        assert server.requests == []
        embedder.wrong = None
        assert [one.status for one in await memory.process()] == ["ready"]
        assert sound(memory)


@pytest.mark.parametrize("wrong", WRONG)
async def test_p1_an_embedder_that_goes_wrong_between_build_and_link_loses_no_note(remember, wrong):
    embedder = Stumbling(WRONG[wrong], after=1)
    async with remember(embedder=embedder) as memory:
        result = await memory.add("The bread oven is lit on Sundays.")
        assert (result.status, result.note.error.partition(":")[0]) == ("pending", "EmbeddingError")
        embedder.wrong = None
        assert [one.status for one in await memory.process()] == ["ready"]
        assert sound(memory)


@pytest.mark.parametrize("wrong", WRONG)
async def test_a_search_whose_question_cannot_be_embedded_goes_on_by_words(remember, wrong):
    embedder = Stumbling(None, after=0)
    async with remember(embedder=embedder) as memory:
        note = (await memory.add("The bread oven is lit on Sundays.")).note
        embedder.wrong = WRONG[wrong]
        assert [hit.note.id for hit in await memory.search("bread oven")] == [note.id]
        assert note.content in (await memory.recall("bread oven")).text


async def test_p3_a_server_that_changed_its_dimension_mixes_nothing(provider, remote, remember):
    async with remember(embedder=remote()) as memory:
        first = await memory.add("The bread oven is lit on Sundays.")
    provider.default = lambda seen: answers(*([1.0] * (SIZE + 1) for _ in seen.body["input"]))
    async with remember(embedder=remote()) as memory:
        second = await memory.add("The oven was rebuilt in spring.")
        assert second.note.error.startswith("EmbeddingError: ")
        sizes = {len(row) for row in memory._rooms.vectors.vectors_of([first.id, second.id])[1]}
        assert sizes == {SIZE}
        assert [hit.note.id for hit in await memory.search("rebuilt", k=1)] == [second.id]
        assert json.loads(first.note.model_dump_json())["content"] == "The bread oven is lit on Sundays."


async def test_after_two_windows_that_cannot_be_embedded_a_run_is_over(remember):
    embedder = Stumbling(None, after=0)
    async with remember(embedder=embedder) as memory:
        embedder.wrong = WRONG["fails"]
        embedder.after = 0
        results = await memory.add_many([f"turn {i}" for i in range(64)])
        assert [result.note.pending_reason for result in results] == ["failed"] * 16 + ["queued"] * 48
        assert -embedder.after == 1 + 2
