"""Oversized, malformed and hostile input: a clear error or a correct result, in bounded time, and nothing lost."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import NOTHING, builds

from amem.errors import InputError, NoteNotFound
from amem.ids import is_id
from amem.ingest.shown import LONGEST
from amem.intake import MAX_CONTENT, MAX_METADATA, MAX_NAME, MAX_QUESTION, MAX_WORDS
from amem.recall.timefocus import time_focus
from amem.recall.words import is_question
from amem.testing import ScriptedLLM

TOO_LONG = "x" * (MAX_NAME + 1)
NESTED = {"a": 1}
for _ in range(5_000):
    NESTED = {"a": NESTED}

REFUSED = {
    "a text of ten megabytes": {"content": "x" * 10_000_000},
    "a lone surrogate": {"content": "half \ud83d"},
    "no text": {"content": " \n\t\u3000"},
    "a speaker as long as a book": {"speaker": TOO_LONG},
    "a session as long as a book": {"session_id": TOO_LONG},
    "an agent as long as a book": {"agent_id": TOO_LONG},
    "a source as long as a book": {"source": TOO_LONG},
    "a tag as long as a book": {"tags": [TOO_LONG]},
    "thousands of keywords": {"keywords": ["word"] * (MAX_WORDS + 1)},
    "a context longer than any text": {"context": "x" * (MAX_CONTENT + 1)},
    "metadata of megabytes": {"metadata": {"page": "x" * MAX_METADATA}},
    "metadata nested without end": {"metadata": NESTED},
    "a position no database can hold": {"position": 10**30},
    "a date before time": {"occurred_at": "0001-01-01T00:00:00+14:00"},
    "a surrogate in metadata": {"metadata": {"\ud800": 1}},
}


@pytest.mark.parametrize("what", REFUSED)
async def test_too_much_is_refused_and_nothing_is_stored(open_memory, what):
    async with open_memory() as memory:
        with pytest.raises(InputError, match=r"Nothing was stored\."):
            await memory.add(**{"content": "a text", **REFUSED[what]})
        assert (await memory.stats()).notes == 0


async def test_an_edit_is_held_to_the_same_bounds(open_memory):
    async with open_memory() as memory:
        note = (await memory.add("a text")).note
        for field in ({"speaker": TOO_LONG}, {"tags": [TOO_LONG]}, {"metadata": {"page": "x" * MAX_METADATA}}):
            with pytest.raises(InputError, match=r"Nothing was changed\."):
                await memory.update(note.id, **field)
        assert await memory.get(note.id) == note


ODD = {
    "NUL": "a\x00b",
    "right-to-left override": "paid \u202e0001\u202c euros",
    "escape codes": "\x1b[2J\x1b]0;title\x07",
    "nothing to be seen": "\u200b\u2060\ufeff",
    "combining marks without end": "e" + "\u0301" * 20_000,
    "one word of a hundred thousand letters": "x" * 100_000,
    "brackets": "[" * 200_000,
    "blanks": "a" + " " * 200_000 + "b",
    "a family": "👨‍👩‍👧‍👦",
    "mixed directions": "שלום hello مرحبا 你好",
}


@pytest.mark.parametrize("what", ODD)
async def test_an_odd_text_is_kept_byte_for_byte_and_does_not_stop_the_search(open_memory, what):
    async with open_memory() as memory:
        await memory.add("The bread is in the oven.")
        note = (await memory.add(ODD[what], speaker=ODD[what][:60], metadata={"copy": ODD[what][:1000]})).note
        stored = await memory.get(note.id)
        assert (stored.content, stored.speaker) == (ODD[what], ODD[what][:60])
        assert stored.metadata == {"copy": ODD[what][:1000]}
        assert (await memory.search("Where is the bread?"))[0].note.content == "The bread is in the oven."
        assert (await memory.recall("bread", budget=60)).tokens <= 60


async def test_a_text_as_long_as_a_book_is_shown_by_its_ends_and_kept_whole(open_memory):
    llm = ScriptedLLM({"note": builds, "link_evolve": NOTHING})
    text = f"The oven burns. {'bread ' * 20_000} The oven is out."
    many = [f"{number} {'x' * 3_900}" for number in range(500)]
    async with open_memory(llm) as memory:
        await memory.add("The bread oven is red.", context=text, keywords=many)
        assert (await memory.add(text)).note.content == text
        assert (await memory.add("The bread oven is old.")).status == "ready"
    sizes = [sum(len(message.content) for message in call.messages) for call in llm.calls]
    assert max(sizes) < 60_000
    shown = str([call.variables for call in llm.calls])
    assert "The oven burns." in shown
    assert "The oven is out." in shown
    assert f"[…{len(text) - LONGEST} characters left out…]" in shown


def test_a_note_of_brackets_or_blanks_does_not_slow_every_search_down():
    import time

    def cost(size):
        begin = time.process_time()
        for text in ("[" * size, "[ " * size, "x" + " " * size + "x", "[" * size + "]", "]" * size):
            is_question(text)
        return time.process_time() - begin

    cost(1000)
    assert cost(400_000) < 400 * max(cost(4_000), 0.001)


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("Why? [photo of a boat]", True),
        ("Why? [a [b]  ", True),
        ("Why? [a] [b]", False),
        ("Why? ]", False),
        ("Fine. [why?]", False),
        ("[why?]", False),
    ],
)
def test_a_caption_may_follow_a_question(text, asks):
    assert is_question(text) is asks


QUERIES = [
    '" OR 1=1 --', "'; DROP TABLE note; --", "body:bread", "box : b", 'bread" AND box : "x', "bread*", "^bread",
    "NEAR(bread oven)", "AND", "OR NOT", "(((", '"', '""', "-bread", "%", "_", "\\", "bread\x00oven",
    "{{ 7 * 7 }}", "\ud800", "", " ",
    "what happened 3000 years ago", "9999 days ago", "in the year 0001", "on May 5",
]  # fmt: skip


async def test_query_syntax_in_a_question_is_text(open_memory):
    async with open_memory() as memory:
        await memory.add("The bread is in the oven.", occurred_at="9999-12-31T23:00")
        await memory.add("The boat is on the lake.", occurred_at="0001-01-01")
        await memory.box("x").add("Bread of another box.")
        found = {question: {hit.note.content for hit in await memory.search(question)} for question in QUERIES}
        both = {"The bread is in the oven.", "The boat is on the lake."}
        assert [question for question in QUERIES if found[question] != both] == []
        assert (await memory.stats()).notes == 2


async def test_a_question_of_a_million_words_is_refused_at_once(open_memory):
    async with open_memory() as memory:
        note = (await memory.add("The bread is in the oven.")).note
        asked = "bread " * 1_000_000
        for ask in (memory.search(asked), memory.recall(asked), memory.explain(asked, note.id)):
            with pytest.raises(InputError, match="6,000,000 characters"):
                await ask
        longest = ("bread " * MAX_QUESTION)[:MAX_QUESTION]
        assert (await memory.search(longest))[0].note == note


async def test_a_question_that_is_no_text_is_refused(open_memory):
    async with open_memory() as memory:
        for question in (None, 7, ["bread"], b"bread"):
            with pytest.raises(InputError, match="a question is text"):
                await memory.search(question)


async def test_an_id_that_cannot_be_is_not_found(open_memory):
    async with open_memory() as memory:
        await memory.add("The bread is in the oven.")
        for note_id in ("", "\x00", "\ud800", "../ledger.db", "' OR 1=1 --", "x" * 100_000, 7, None):
            for look in (memory.get, memory.links, memory.history, memory.neighbours, memory.update):
                with pytest.raises(NoteNotFound):
                    await look(note_id)
            assert not await memory.delete(note_id)
        assert (await memory.stats()).notes == 1


@given(st.text())
def test_no_id_holds_what_a_database_cannot(text):
    if is_id(text):
        text.encode()
        assert "\x00" not in text


async def test_counts_of_any_size_are_taken_or_refused(open_memory):
    async with open_memory(llm={"note": builds}, strategy="raw") as memory:
        await memory.add("The bread is in the oven.")
        assert len(await memory.search("bread", k=10**30)) == 1
        assert (await memory.recall("bread", budget=10**30)).citations
        negative = (memory.process(limit=-1), memory.search("x", k=-1), memory.recall("x", budget=-1))
        for bad in (*negative, memory.list(limit=0)):
            with pytest.raises(InputError):
                await bad
        assert len(await memory.process(all=True, limit=10**30)) == 1


MOMENTS = st.datetimes(timezones=st.just(UTC))
TIMES = st.sampled_from(
    ["last week", "this month", "last year", "9999 years ago", "on 29 February", "in summer", "today"]
)


@given(asked=TIMES, now=MOMENTS, happened=MOMENTS)
@settings(deadline=None)
def test_no_moment_breaks_a_question_about_time(asked, now, happened):
    span = time_focus(asked, now)
    assert span is None or 0 <= span.nearness(happened) <= 1


async def test_a_naive_now_is_utc(open_memory):
    async with open_memory() as memory:
        await memory.add("The bread is in the oven.", occurred_at="2024-01-01")
        (hit,) = await memory.search("last week", now=datetime(2024, 1, 9))
        assert hit.note.content == "The bread is in the oven."
