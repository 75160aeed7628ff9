"""Of any text: it can be asked for, it is packed within the budget, and what a filter excludes changes nothing."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_support import Shelf
from support import Clock, counting_ids

from amem.embedding import HashEmbedder
from amem.memory import AsyncMemory
from amem.model import Hit, Note
from amem.recall.packing import pack
from amem.settings import Settings
from amem.store.sqlite import words_of
from amem.tokens import open_tokenizer

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
TOKENIZER = open_tokenizer(Settings())
STORABLE = st.characters(exclude_categories=["Cs"])
SYNTAX = st.sampled_from(
    [
        '"',
        "'",
        "*",
        "^",
        "AND",
        "OR",
        "NOT",
        "NEAR(",
        ")",
        "box:",
        "body :",
        "-",
        "{",
        "\x00",
        "漢字",
        "👩‍👩‍👧",
        "שלום",
        "[2]",
    ]
)
PLAIN = st.sampled_from(["bread", "oven", "def f(x): return x<1", " ", "\n[1] "])
TEXTS = st.lists(SYNTAX | PLAIN | STORABLE, min_size=1, max_size=12).map("".join)
SAID = TEXTS.filter(str.strip)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    opened = Shelf(tmp_path_factory.mktemp("shelf"))
    opened.accept("The bread is in the oven.", "漢字かな交じり文", "שלום עולם")
    opened.accept("Bread of another box.", box="other")
    yield opened
    opened.close()


@given(question=st.lists(SYNTAX | st.characters(), max_size=12).map("".join))
@settings(max_examples=150, deadline=None)
def test_any_question_is_a_question_about_words(shelf, question):
    mine = {rid for (rid,) in shelf.sql("SELECT rid FROM note WHERE box = 'default'")}
    for words, rids in zip(words_of(question), shelf.ledger.postings("default", words_of(question)), strict=True):
        assert {int(rid) for rid in rids} <= mine, words
    assert shelf.holding("bread") == shelf.holding(f'"bread{chr(0)}')


def hits(texts):
    notes = [
        Note(id=f"n{i}", content=text, speaker=text[:5], occurred_at=NOON, created_at=NOON, position=i)
        for i, text in enumerate(texts)
    ]
    return [Hit(note=note, score=1.0 - i / 100) for i, note in enumerate(notes)]


@given(texts=st.lists(SAID, max_size=6), budget=st.integers(0, 80), evolved=TEXTS)
@settings(max_examples=120, deadline=None)
def test_no_text_breaks_the_budget_or_a_citation(texts, budget, evolved):
    found = hits(texts)
    context = pack(found, {"n0": evolved}, budget=budget, tokenizer=TOKENIZER)
    assert context.tokens == TOKENIZER.count(context.text) <= budget
    lines = context.text.split("\n") if context.text else []
    assert [int(re.match(r"\[(\d+)\] ", line)[1]) for line in lines] == [c.number for c in context.citations]
    assert len(context.text.splitlines()) == len(lines)
    packed, dropped = {c.note_id for c in context.citations}, {left.note_id for left in context.left_out}
    assert packed | dropped == {hit.note.id for hit in found}
    assert not packed & dropped


async def searched(texts, others, tmp_path, question):
    """The hits in one session, with their scores, where `others` are in another."""
    memory = AsyncMemory.open(tmp_path, embedder=HashEmbedder(), now=Clock(), new_id=counting_ids(), chroma=False)
    async with memory:
        await memory.add_many(texts, session_id="mine", speaker="Ana")
        found = [await memory.search(question, k=50, session_id="mine")]
        await memory.add_many(others, session_id="theirs", speaker="Ben")
        found += [await memory.search(question, k=50, session_id="mine") for _ in range(2)]
        return [[(hit.note.id, hit.score) for hit in some] for some in found]


@given(texts=st.lists(SAID, min_size=1, max_size=4), others=st.lists(SAID, min_size=1, max_size=4), question=TEXTS)
@settings(max_examples=12, deadline=None)
def test_a_note_that_the_filter_excludes_never_changes_a_result(tmp_path_factory, texts, others, question):
    folder = tmp_path_factory.mktemp("memory")
    before, after, again = asyncio.run(searched(texts, others, folder, question))
    assert len(before) == len(texts)
    assert before == after == again
