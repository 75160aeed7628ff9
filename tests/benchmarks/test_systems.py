from __future__ import annotations

import pytest
from locomo_support import write_mini

from amem.embedding import HashEmbedder
from amem.errors import InputError, SettingsError
from amem.interfaces.cli.shipped import benchmarks_module
from amem.testing import ScriptedLLM
from amem.tokens import shipped_tokenizer

amem_system = benchmarks_module("systems.amem")
catalogue = benchmarks_module("systems.catalogue")
config = benchmarks_module("runs.config")
lines = benchmarks_module("systems.lines")
opening = benchmarks_module("datasets.opening")
plain = benchmarks_module("systems.plain")
protocol = benchmarks_module("systems.protocol")
ranked = benchmarks_module("systems.ranked")
ablated = benchmarks_module("systems.ablated")

TOKENS = shipped_tokenizer()


@pytest.fixture
def talk(tmp_path):
    """The mini file's first conversation: seven turns, five questions."""
    return opening.open_dataset(write_mini(tmp_path)).conversations[0]


@pytest.fixture
def made(tmp_path, talk):
    """Make a system from a configuration's entry."""

    def make(llm=None, **entry):
        whole = config.Config(
            budget=100, embedding="hash", data={"path": tmp_path}, reader={"kind": "extractive"}, systems=[entry]
        )
        data = opening.open_dataset(tmp_path / "mini.json")
        shop = catalogue.Shop(whole, data, HashEmbedder(), TOKENS, tmp_path / "memories")
        return catalogue.system(whole.systems[0], shop, llm)

    return make


async def told(system, talk, turns=None):
    await system.reset(talk)
    for turn in talk.turns[:turns]:
        await system.add(turn)
    await system.finish()
    return system


async def found(system, question, budget=100):
    return await system.search(protocol.Query.of(question), budget)


def ids(*names):
    return tuple(f"conv-26/{name}" for name in names)


async def test_no_memory_has_nothing(made, talk):
    assert await found(await told(made(kind="none"), talk), talk.questions[0]) == protocol.Found(text="", tokens=0)


async def test_full_context_has_every_turn_in_order_whatever_the_budget(made, talk):
    context = await found(await told(made(kind="full_context"), talk), talk.questions[0], budget=1)
    assert context.shown == tuple(turn.id for turn in talk.turns)
    assert context.text.splitlines()[0] == "[1] 2023-05-08 Ana: I bought a sailing boat."
    assert context.tokens == TOKENS.count(context.text)


async def test_a_window_keeps_the_newest_turns_without_a_gap(made, talk):
    context = await found(await told(made(kind="full_context", window=40), talk), talk.questions[0])
    assert context.shown == tuple(turn.id for turn in talk.turns[-len(context.shown) :])
    assert 0 < context.tokens <= 40


@pytest.mark.parametrize("budget", [0, 10, 25, 60, 90, 1000])
def test_the_newest_turns_are_as_many_as_fit(talk, budget):
    for end in range(len(talk.turns) + 1):
        turns = talk.turns[:end]
        fitting = [n for n in range(end + 1) if lines.everything(turns[end - n :], TOKENS).tokens <= budget or not n]
        assert plain.newest(turns, budget, TOKENS).shown == tuple(turn.id for turn in turns[end - max(fitting) :])


async def test_the_newest_turns_of_a_long_conversation_are_found_without_reading_it_all(talk):
    counted = []

    class Counting:
        name = TOKENS.name

        def count(self, text):
            counted.append(len(text.splitlines()))
            return TOKENS.count(text)

    plain.newest(talk.turns * 1000, 60, Counting())
    assert max(counted) < 20


async def test_recent_turns_are_bounded_by_number_and_by_budget(made, talk):
    assert (await found(await told(made(kind="recent", k=2), talk), talk.questions[0])).shown == ids("D2:3", "D2:4")
    assert len((await found(await told(made(kind="recent"), talk), talk.questions[0], budget=20)).shown) == 1


@pytest.mark.parametrize("kind", ["bm25", "dense", "hybrid"])
async def test_a_ranking_brings_the_turn_that_was_asked_for_within_the_budget(made, talk, kind):
    context = await found(await told(made(kind=kind), talk), talk.questions[1], budget=30)
    assert context.ranking[0] == "conv-26/D2:1"
    assert "Oslo" in context.text
    assert context.tokens <= 30


async def test_bm25_finds_nothing_where_no_word_is_shared(made, talk):
    context = await found(await told(made(kind="bm25"), talk), talk.questions[3])  # "Why?"
    assert (context.text, context.ranking) == ("", ())


@pytest.mark.parametrize("kind", ["bm25", "dense", "hybrid", "amem"])
async def test_turns_may_come_in_after_a_question_was_asked(made, talk, kind):
    system = await told(made(kind=kind), talk, turns=3)
    assert "Oslo" not in (await found(system, talk.questions[1])).text
    for turn in talk.turns[3:]:
        await system.add(turn)
    await system.finish()
    assert "Oslo" in (await found(system, talk.questions[1])).text
    await system.close()


async def test_the_oracle_gives_the_evidence_and_nothing_else(made, talk):
    asked = talk.questions[2]
    assert (await found(await told(made(kind="oracle"), talk), asked)).shown == ids("D1:1", "D2:4")
    sessions = await found(await told(made(kind="oracle_sessions"), talk), asked, budget=1000)
    assert sessions.shown == tuple(turn.id for turn in talk.turns)


async def test_a_system_begins_each_conversation_with_nothing(made, talk):
    for kind in ("full_context", "bm25", "dense", "hybrid"):
        system = await told(made(kind=kind), talk)
        await system.reset(talk)
        await system.finish()
        assert (await found(system, talk.questions[0])).text == ""


def test_a_query_tells_a_system_neither_answer_nor_evidence_nor_category(talk):
    assert set(protocol.Query.of(talk.questions[0]).model_dump()) == {"key", "text", "at"}


# -- amem ------------------------------------------------------------------------------------------


async def test_amem_is_asked_as_its_users_ask_it_and_says_which_turns_it_shows(made, talk):
    system = await told(made(kind="amem", settings={"chroma": False}), talk)
    context = await found(system, talk.questions[1], budget=30)
    assert context.shown == ids("D2:1")
    assert context.ranking[0] == "conv-26/D2:1"
    assert (await system.state()).model_dump() == {"turns": 7, "notes": 7, "pending": 0, "links": 0, "revisions": 0}
    assert system.bytes() > 10_000
    await system.close()


async def test_amem_goes_on_with_the_memory_it_finds(made, talk):
    system = await told(made(kind="amem", settings={"chroma": False}), talk, turns=4)
    await system.close()
    again = await told(made(kind="amem", settings={"chroma": False}), talk)
    assert (await again.state()).notes == 7
    await again.close()


async def test_turns_are_worked_on_in_windows(made, talk):
    asked = []

    def script(request):
        asked.append(request.prompt.name)
        turns = request.variables.get("turns", [])
        fields = {"keywords": ["k"], "tags": ["t"], "context": "c"}
        return {"notes": [{"turn": turn["number"], **fields} for turn in turns], "links": [], "changes": []}

    settings = {"chroma": False, "window": 3}
    system = made(ScriptedLLM(script), kind="amem", strategy="fused", settings=settings, model={"name": "scripted"})
    await system.reset(talk)
    assert [await system.add(turn) for turn in talk.turns] == [0, 0, 3, 0, 0, 3, 0]
    assert await system.finish() == 1
    assert asked.count("note") == 3
    await system.close()


def distils(request):
    """A note of every turn, and of the first two together."""
    turns = request.variables["turns"]
    notes = [{"turns": [turn["number"]], "text": f"Told: {turn['text']}"} for turn in turns]
    notes.append({"turns": [0, 1], "text": f"Both: {turns[0]['text']} {turns[1]['text']}"} if turns[1:] else notes[0])
    return {"notes": [{**note, "keywords": [], "tags": []} for note in notes], "facts": [], "episodes": []}


async def test_what_is_distilled_counts_as_the_turns_it_cites(made, talk):
    settings = {"chroma": False, "window": 3}
    entry = {"kind": "amem", "strategy": "atomic", "settings": settings, "model": {"name": "scripted"}}
    system = await told(made(ScriptedLLM({"distill": distils}), **entry), talk)
    state = await system.state()
    context = await found(system, talk.questions[1], budget=1000)
    assert (state.turns, state.notes > 7) == (7, True)
    assert set(context.shown) == {turn.id for turn in talk.turns}
    assert set(context.ranking) == set(context.shown)
    await system.close()


async def test_a_memory_that_distils_is_gone_on_with(made, talk):
    entry = {"kind": "amem", "strategy": "atomic", "model": {"name": "scripted"}}
    entry["settings"] = {"chroma": False, "window": 3}
    llm = ScriptedLLM({"distill": distils})
    first = await told(made(llm, **entry), talk, turns=4)
    before = (await first.state()).notes
    await first.close()
    system = await told(made(llm, **entry), talk)
    state = await system.state()
    assert (state.turns, state.pending) == (7, 0)
    assert state.notes > before + 3
    await system.close()


async def test_a_run_is_not_changed_by_settings_of_the_environment(made, talk, monkeypatch):
    monkeypatch.setenv("AMEM_RECALL_LINKS", "nonsense")
    system = await told(made(kind="amem", settings={"chroma": False}), talk, turns=1)
    await system.close()


@pytest.mark.parametrize(
    ("without", "kept"), [(["links"], ["changes"]), (["evolution"], ["links"]), (["links", "evolution"], [])]
)
async def test_an_ablation_empties_its_part_of_a_reply_and_nothing_else(without, kept):
    link = {"source": 1, "targets": [0], "reason": "r", "relation": "x"}
    change = {"because": [1], "neighbour": 0, "context": "c", "keywords": [], "tags": []}
    llm = ablated.Ablated(ScriptedLLM([{"links": [link], "changes": [change]}]), without)
    protocol_module = benchmarks_module("runs.calls")
    request = _request("link_evolve")
    said = benchmarks_module("systems.ablated").parse_reply((await llm.complete(request)).text, ablated.LinkEvolveReply)
    assert protocol_module is not None
    assert [name for name in ("links", "changes") if getattr(said, name)] == kept


async def test_a_reply_nobody_can_read_and_other_prompts_pass_an_ablation_unchanged():
    llm = ablated.Ablated(ScriptedLLM(["what?", '{"notes": []}']), ["links"])
    assert (await llm.complete(_request("link_evolve"))).text == "what?"
    assert (await llm.complete(_request("note"))).text == '{"notes": []}'


def _request(prompt):
    from amem.llm.protocol import Message, PromptRef, Request

    ref = PromptRef(name=prompt, version="v1", hash="0")
    return Request(prompt=ref, variables={}, messages=(Message(role="user", content="x"),))


# -- what cannot be made ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"kind": "bm25", "k": 3}, "bm25: a system of the kind bm25 takes no k"),
        ({"kind": "amem", "strategy": "fused"}, "the strategy fused needs a model"),
        ({"kind": "amem", "settings": {"strategy": "raw"}}, "strategy is no setting of one system"),
        ({"kind": "a-mem"}, "the package a-mem needs a model"),
    ],
)
def test_an_entry_that_would_be_without_effect_or_cannot_work_is_refused(made, entry, message):
    with pytest.raises(InputError, match=message):
        made(**entry)


def test_an_unknown_setting_of_amem_is_refused(made):
    with pytest.raises(SettingsError, match="windows"):
        made(kind="amem", settings={"windows": 3})


def test_a_missing_environment_of_a_mem_says_how_to_make_one(made, tmp_path):
    entry = {"kind": "a-mem", "model": {"name": "x"}, "python": tmp_path / "none"}
    with pytest.raises(InputError, match=r"environment of its own: .*none: No such file.* python3 -m venv"):
        made(ScriptedLLM([]), **entry)
