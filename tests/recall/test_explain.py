from __future__ import annotations

import pytest
from recall_support import HIKE, change, fill, link, scripted

from amem.errors import EmbeddingError, InputError, NoteNotFound
from amem.memory import AsyncMemory
from amem.recall.explain import NO_CANDIDATE
from amem.recall.search import CANDIDATES
from amem.sync import Memory

QUESTION = "Where does Ana hike in autumn?"


async def test_p5_a_note_that_is_found_is_explained_as_search_explains_it(open_memory):
    async with open_memory() as memory:
        await fill(memory)
        for hit in await memory.search(QUESTION, k=3, explain=True):
            assert await memory.explain(QUESTION, hit.note.id, k=3) == hit.explanation


async def test_p5_a_note_beyond_k_has_its_rank_score_and_parts(open_memory):
    async with open_memory() as memory:
        await fill(memory)
        last = (await memory.search(QUESTION, k=5, explain=True))[-1]
        why = await memory.explain(QUESTION, last.note.id, k=2)
        assert why.dropped_by == "rank 5 is beyond k = 2"
        assert (why.rank, why.score, why.parts) == (5, last.score, last.explanation.parts)


@pytest.mark.parametrize(
    ("filters", "said"),
    [
        ({"speaker": "Ben"}, "the filter: speaker is not 'Ben'"),
        ({"since": "2030-01-01"}, "the filter: it happened before 2030-01-01T00:00:00+00:00"),
        ({"tags": ["sport"]}, "the filter: tags or metadata do not match"),
    ],
)
async def test_p5_the_part_of_the_filter_that_drops_a_note_is_named(open_memory, filters, said):
    async with open_memory() as memory:
        first, *_ = await fill(memory, speaker="Ana")
        why = await memory.explain(QUESTION, first, **filters)
        assert (why.dropped_by, why.rank, why.score) == (said, None, None)


async def test_an_archived_note_is_left_out_unless_it_is_asked_for(open_memory):
    async with open_memory() as memory:
        first, *_ = await fill(memory)
        change(memory, first, status="archived")
        assert (await memory.explain(QUESTION, first)).dropped_by == "the filter: it is archived"
        assert (await memory.explain(QUESTION, first, archived=True)).dropped_by is None


async def test_a_note_no_arm_proposes_is_scored_all_the_same(open_memory):
    async with open_memory() as memory:
        texts = [f"Ana hikes in autumn, walk {number}." for number in range(CANDIDATES + 5)]
        await fill(memory, texts)
        [far] = await fill(memory, ["Kettles whistle."])
        why = await memory.explain(QUESTION, far)
        assert (why.dropped_by, why.rank) == (NO_CANDIDATE, None)
        assert why.ranks["dense"] > CANDIDATES
        assert why.score == pytest.approx(sum(why.parts.values()), abs=1e-4)


async def test_p5_a_link_that_leads_to_a_note_is_shown_with_its_reason(open_memory):
    async with open_memory() as memory:
        first, *_, piano = await fill(memory)
        link(memory, first, piano, relation="paid for", reason="The piano paid for the trip.")
        why = await memory.explain(QUESTION, piano, k=1)
        assert why.dropped_by.startswith("rank ")
        (step,) = why.path
        assert (step.source, step.target, step.reason) == (first, piano, "The piano paid for the trip.")
        assert (await memory.explain(QUESTION, first, k=1)).path == ()


async def test_reconstruction_shows_the_cues_that_lead_to_a_note(open_memory):
    async with open_memory() as memory:
        first, *_ = await fill(memory)
        why = await memory.explain(QUESTION, first, reconstruct=True)
        assert why.path[0].source.startswith("cue:")
        assert "reconstruction" in why.ranks


async def test_p5_the_budget_that_drops_a_note_is_named(open_memory):
    async with open_memory() as memory:
        ids = await fill(memory, [*HIKE, HIKE[0]])
        cited = {c.note_id for c in (await memory.recall(QUESTION, budget=45)).citations}
        reasons = {note_id: (await memory.explain(QUESTION, note_id, budget=45)).dropped_by for note_id in ids}
        assert 0 < len(cited) < len(ids)
        assert {note_id for note_id, why in reasons.items() if why is None} == cited
        assert any("fit the budget" in why for why in reasons.values() if why)
        assert any("same" in why for why in reasons.values() if why)


async def test_a_note_that_recall_takes_in_for_a_link_shows_the_way(open_memory):
    async with open_memory(recall_links_share=0.5) as memory:
        first, *_ = await fill(memory, [f"Ana hikes in autumn, walk {number}." for number in range(30)])
        [piano] = await fill(memory, HIKE[-1:])
        link(memory, first, piano)
        question = "Ana hikes in autumn, walk 0?"
        assert piano in [c.note_id for c in (await memory.recall(question, budget=100)).citations]
        why = await memory.explain(question, piano, budget=100)
        assert (why.dropped_by, why.path[0].source) == (None, first)


async def test_what_the_settings_would_have_a_model_do_is_left_out_and_said(open_memory):
    llm = scripted()
    async with open_memory(llm, strategy="raw", recall_rerank="llm") as memory:
        first, *_ = await fill(memory)
        why = await memory.explain(QUESTION, first)
        assert "reranking" in why.remarks[0]
        assert llm.calls == []


class Broken:
    """An embedder that fails for questions."""

    def __init__(self, inner):
        self.name, self.fingerprint, self.dimension = inner.name, inner.fingerprint, inner.dimension
        self._inner = inner

    async def embed(self, texts):
        if QUESTION in texts:
            raise EmbeddingError("the embedder is gone")
        return await self._inner.embed(texts)


async def test_a_question_that_cannot_be_embedded_is_explained_by_its_words(tmp_path, clock):
    from amem.embedding import HashEmbedder

    async with AsyncMemory.open(tmp_path / "m", embedder=Broken(HashEmbedder()), chroma=False, now=clock) as memory:
        first, *_ = await fill(memory)
        why = await memory.explain(QUESTION, first)
        assert "words alone" in why.remarks[0]
        assert why.parts.keys() <= {"cover", "session", "speaker", "asks", "answers", "time", "when", "date"}


async def test_explaining_counts_as_no_access_and_asks_for_a_note_that_is_there(open_memory):
    async with open_memory() as memory:
        first, *_ = await fill(memory)
        await memory.explain(QUESTION, first)
        assert not memory._rooms.accesses._counts
        with pytest.raises(NoteNotFound):
            await memory.explain(QUESTION, "nobody")
        with pytest.raises(NoteNotFound):
            await memory.box("other").explain(QUESTION, first)
        with pytest.raises(InputError, match="k is -1"):
            await memory.explain(QUESTION, first, k=-1)
        with pytest.raises(InputError, match="budget"):
            await memory.explain(QUESTION, first, budget=-1)


async def test_a_search_without_explain_makes_no_explanation(open_memory):
    async with open_memory() as memory:
        first, *_, piano = await fill(memory)
        link(memory, first, piano)
        assert {hit.explanation for hit in await memory.search(QUESTION, k=1, links=1, reconstruct=True)} == {None}


def test_the_sync_memory_explains_too(tmp_path):
    from amem.embedding import HashEmbedder

    with Memory.open(tmp_path / "m", embedder=HashEmbedder(), chroma=False) as memory:
        note = memory.add(HIKE[0])
        assert memory.explain(QUESTION, note.id, k=1).rank == 1
        assert memory.search(QUESTION, links=1, reconstruct=True, rewrite=False, rerank="none")[0].note.id == note.id
