"""The agent's loop: what is observed is kept, what overflows is built, and a context fits its budget."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import NOTHING, builds

from amem.errors import EmbeddingError, InputError, LedgerUnavailable, ModelUnavailable
from amem.session.layers import Item, Layer
from amem.session.router import route

SCRIPT = {"note": builds, "link_evolve": NOTHING}
TALK = [
    ("user", "I moved to Busan in June."),
    ("assistant", "How do you like the sea?"),
    ("user", "I swim there every morning."),
    ("assistant", "Take care of the currents."),
    ("user", "My sister Mina visits in August."),
    ("assistant", "She could try the fish market."),
]


async def talk(session, turns=TALK, **more):
    return [await session.observe({"role": role, "content": text}, **more) for role, text in turns]


async def test_what_is_observed_is_on_disk_at_once(open_memory):
    async with open_memory(SCRIPT) as memory:
        (seen, *_) = await talk(memory.session("s1"))
        assert (await memory.get(seen.note.id)).content == "I moved to Busan in June."
        assert seen.note.session_id == "s1"


async def test_recent_turns_stay_verbatim_and_what_overflows_is_built(open_memory):
    async with open_memory(SCRIPT, session_buffer=2, window=2) as memory:
        observed = await talk(memory.session("s1"), wait=True)
        handed = [note_id for one in observed for note_id in one.handed_down]
        assert handed == [one.note.id for one in observed[:4]]
        status = [(await memory.get(one.note.id)).status for one in observed]
        assert status == ["ready"] * 4 + ["pending"] * 2


async def test_in_the_background_too(open_memory):
    async with open_memory(SCRIPT, session_buffer=2, window=2) as memory:
        observed = await talk(memory.session("s1"))
    async with open_memory(SCRIPT) as memory:  # closing waited for it
        assert (await memory.get(observed[0].note.id)).status == "ready"


async def test_the_end_builds_the_rest(open_memory):
    async with open_memory(SCRIPT) as memory:
        session = memory.session("s1")
        observed = await talk(session)
        assert await session.end() == [one.note.id for one in observed]
        assert (await memory.stats()).pending == {}


async def test_a_session_that_is_opened_again_goes_on_where_it_stood(open_memory):
    async with open_memory(SCRIPT) as memory:
        await talk(memory.session("s1"))
    async with open_memory(SCRIPT) as memory:
        context = await memory.session("s1").context("Who visits?")
        assert "My sister Mina visits in August." in context.text


async def test_small_talk_stays_raw_and_says_why(open_memory):
    async with open_memory(SCRIPT, session_buffer=1, window=1) as memory:
        session = memory.session("s1")
        seen = await session.observe("Thanks!", wait=True)
        await talk(session, wait=True)
        kept = await memory.get(seen.note.id)
        assert seen.skipped == "it is small talk"
        assert (kept.status, kept.pending_reason, kept.error) == ("pending", "raw", "skipped: it is small talk")
        (done,) = [result for result in await memory.process(all=True) if result.id == kept.id]
        assert done.status == "ready"


async def test_what_was_said_in_another_session_is_recognised(open_memory):
    async with open_memory(SCRIPT) as memory:
        first = await memory.session("s1").observe("I moved to Busan in June.", speaker="Ana")
        again = await memory.session("s2").observe("I moved to Busan in June!", speaker="Ana")
        other = await memory.session("s2").observe("I moved to Busan in June!", speaker="Ben")
        assert again.skipped == f"it says nearly the same as note {first.note.id}"
        assert other.skipped is None


async def test_the_gate_can_be_switched_off_and_is_off_in_paper(open_memory):
    async with open_memory(SCRIPT, session_gate="off") as memory:
        assert (await memory.session("s1").observe("Thanks!")).skipped is None
    async with open_memory(strategy="paper", path="other") as memory:
        assert (await memory.session("s1").observe("Thanks!")).skipped is None


async def test_every_layer_tells_its_part(open_memory):
    async with open_memory(SCRIPT, session_buffer=2, window=2) as memory:
        await memory.add("Mina bakes rye bread.", speaker="user")
        await memory.facts.add("user", "lives in", "Busan", since="2023-06-01")
        await memory.episodes.add("a visitor came by train", ["met her at the station"], "success")
        session = memory.session("s1")
        await talk(session, wait=True)
        context = await session.context("What do I know about Mina, Busan, and visitors by train?", 400)
    assert {use.layer: use.packed > 0 for use in context.layers} == dict.fromkeys(
        ["working", "buffer", "facts", "notes", "episodes"], True
    )
    assert context.text.startswith("Now:\n[1] user: My sister Mina visits in August.\n[2] assistant: She could")
    for part in ("user lives in Busan (since 2023-06-01)", "Mina bakes rye bread.", "Done: met her at the station"):
        assert part in context.text
    assert [cited.number for cited in context.citations] == list(range(1, len(context.citations) + 1))
    assert len({cited.note_id for cited in context.citations}) == len(context.citations)


async def test_a_layer_that_fails_is_named_and_the_others_answer(open_memory, monkeypatch):
    async with open_memory(SCRIPT) as memory:
        session = memory.session("s1")
        await talk(session)

        async def fails(*_, **__):
            raise LedgerUnavailable("the disk is gone")

        monkeypatch.setattr("amem.session.layers.search_facts", fails)
        context = await session.context("Who visits?")
    failed = {use.layer: use.failed for use in context.layers if use.failed}
    assert failed == {"facts": "LedgerUnavailable: the disk is gone"}
    assert "My sister Mina visits in August." in context.text
    assert session.trace[-1].remarks == ("facts: LedgerUnavailable: the disk is gone",)


async def test_without_an_embedder_a_session_goes_on_by_words_and_says_so(open_memory, monkeypatch):
    async with open_memory(SCRIPT) as memory:
        asked = []

        async def fails(texts):
            asked.append(texts)
            raise EmbeddingError("no model")

        session = memory.session("s1")
        await talk(session)
        monkeypatch.setattr(memory._rooms.embedder, "embed", fails)
        context = await session.context("Who visits?")
    assert "Mina" in context.text
    why = "searched by words only: EmbeddingError: no model"
    assert {use.layer: use.lacked for use in context.layers if use.lacked} == dict.fromkeys(
        ("facts", "notes", "episodes"), why
    )
    assert not any(use.failed for use in context.layers)
    assert session.trace[-1].remarks == (f"facts: {why}", f"notes: {why}", f"episodes: {why}")
    assert asked == [["Who visits?"]]


async def test_a_question_is_embedded_once_for_all_layers(open_memory, monkeypatch):
    async with open_memory(SCRIPT) as memory:
        session = memory.session("s1")
        await talk(session)
        inner, asked = memory._rooms.embedder.embed, []

        async def counted(texts):
            asked.append(list(texts))
            return await inner(texts)

        monkeypatch.setattr(memory._rooms.embedder, "embed", counted)
        context = await session.context("Who visits?")
    assert asked == [["Who visits?"]]
    assert not any(use.lacked for use in context.layers)


async def test_an_outage_of_the_model_loses_no_turn(open_memory):
    async with open_memory(lambda _: ModelUnavailable("down"), session_buffer=1, window=1) as memory:
        observed = await talk(memory.session("s1"), wait=True)
        assert [(await memory.get(one.note.id)).content for one in observed] == [text for _, text in TALK]


async def test_only_what_is_remembered_counts_as_recalled(open_memory):
    async with open_memory(SCRIPT) as memory:
        session = memory.session("s1")
        await talk(session)
        old = await memory.add("Mina bakes rye bread.")
        await session.context("What does Mina bake?")
        memory._rooms.accesses.flush()
        with memory._rooms.ledger.database.reading() as connection:
            counted = connection.exec_driver_sql("SELECT note_id FROM access").scalars().all()
        assert counted == [old.id]


async def test_the_trace_tells_what_each_step_read_and_wrote(open_memory):
    async with open_memory(SCRIPT) as memory:
        session = memory.session("s1")
        seen = await session.observe("I moved to Busan in June.")
        await session.context("Where do I live?")
        wrote, read = session.trace
        assert (wrote.step, wrote.wrote) == ("observe", (seen.note.id,))
        assert (read.step, read.read) == ("context", (seen.note.id,))


words = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=80)
items = st.lists(st.tuples(words, st.none() | words), max_size=6)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    held=st.lists(items, min_size=1, max_size=4),
    budget=st.integers(0, 200),
    shares=st.lists(st.floats(0, 1), min_size=4, max_size=4),
)
async def test_a_context_never_exceeds_its_budget(open_memory, held, budget, shares):
    async with open_memory() as memory:
        tokenizer = memory._rooms.tokenizer

    def layer(number, some):
        async def read():
            return [Item(f"{number}-{i}", text, short) for i, (text, short) in enumerate(some)]

        return Layer(f"layer {number}", f"Part {number}:", shares[number], read, backwards=number % 2 == 0)

    found = await route([layer(number, some) for number, some in enumerate(held)], budget=budget, tokenizer=tokenizer)
    assert found.tokens == tokenizer.count(found.text) <= budget
    told = {cited.note_id for cited in found.citations} | {left.note_id for left in found.left_out}
    assert told == {f"{number}-{i}" for number, some in enumerate(held) for i in range(len(some))}


async def test_what_one_layer_takes_the_next_one_has_not(open_memory):
    async with open_memory() as memory:
        tokenizer = memory._rooms.tokenizer

    def layer(name):
        async def read():
            return [Item(f"{name}{i}", "bread and butter and jam and honey") for i in range(8)]

        return Layer(name, f"{name}:", 0.4, read)

    found = await route([layer("one"), layer("two")], budget=70, tokenizer=tokenizer)
    assert {use.layer for use in found.layers if use.packed} == {"one", "two"}
    assert found.tokens <= 70


async def test_fast_layers_are_asked_first_and_what_they_show_no_slower_one_shows_again(open_memory):
    async with open_memory() as memory:
        tokenizer = memory._rooms.tokenizer
    asked = []

    def layer(name, share, *items):
        async def read():
            asked.append(name)
            return [Item(note_id, text) for note_id, text in items]

        return Layer(name, f"{name}:", share, read)

    fast = layer("fast", 0.2, ("a", "the boat is sold"))
    slow = layer("slow", 0.8, ("a", "the boat was sold in May"), ("b", "the boat was red"))
    found = await route([fast, slow], budget=100, tokenizer=tokenizer)
    assert asked == ["fast", "slow"]
    assert found.text == "fast:\n[1] the boat is sold\nslow:\n[2] the boat was red"


async def test_room_that_one_layer_does_not_need_goes_to_the_others(open_memory):
    async with open_memory(SCRIPT, session_shares={"notes": 0.05, "episodes": 0.9}) as memory:
        texts = [f"The boat number {n} lies in the old harbour of Oslo." for n in range(6)]
        await memory.add_many(texts)
        context = await memory.session("s1").context("Which boats lie in the old harbour of Oslo?", 200)
    assert {use.layer: use.packed for use in context.layers}["notes"] == 6


async def test_a_larger_share_leaves_a_layer_more_room(open_memory):
    async def tokens(share):
        async with open_memory(
            SCRIPT, path=f"of {share}", session_buffer=2, session_shares={"working": share}
        ) as memory:
            session = memory.session("s1")
            await session.observe("The boat lies in the harbour. " * 40)
            await memory.add_many([f"The boat number {n} lies in the old harbour of Oslo." for n in range(40)])
            found = await session.context("Which boats lie in the harbour?", 400)
            return next(use.packed for use in found.layers if use.layer == "working")

    assert [await tokens(share) for share in (0.05, 0.9)] == [0, 1]


async def test_what_does_not_fit_is_shortened_before_it_is_dropped(open_memory):
    async with open_memory() as memory:
        tokenizer = memory._rooms.tokenizer

    async def read():
        return [Item("a", "word " * 60, "in short"), Item("b", "word " * 60)]

    found = await route([Layer("notes", "Remembered:", 1.0, read)], budget=20, tokenizer=tokenizer)
    assert found.text == "Remembered:\n[1] in short"
    assert (found.layers[0].shortened, [left.note_id for left in found.left_out]) == (1, ["b"])


async def test_turns_come_back_verbatim_and_in_order(open_memory):
    async with open_memory(SCRIPT) as memory:
        session = memory.session("s1")
        await talk(session)
        await memory.session("s2").observe("Something else.")
        assert [note.content for note in await session.turns()] == [text for _, text in TALK]
        assert [note.content for note in await session.turns(2)] == [text for _, text in TALK[-2:]]
        assert await session.turns(0) == []
        with pytest.raises(InputError, match="limit is -1"):
            await session.turns(-1)
