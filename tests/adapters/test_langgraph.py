"""A LangGraph store over a memory, used by LangGraph itself."""

from __future__ import annotations

import asyncio
from typing import Annotated, TypedDict

import pytest

pytest.importorskip("langgraph", reason="the extra `langgraph` is not installed")

from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import GetOp, InvalidNamespaceError, ListNamespacesOp, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore
from support import Clock, counting_ids

from amem.adapters.langgraph import AmemStore, langchain_tools
from amem.adapters.langgraph_items import fits
from amem.embedding import HashEmbedder
from amem.errors import InputError
from amem.sync import Memory

ALICE = ("memories", "alice")
BOB = ("memories", "bob")


@pytest.fixture
def memory(tmp_path):
    clock = Clock()
    with Memory.open(tmp_path / "m", embedder=HashEmbedder(), now=clock, new_id=counting_ids(), chroma=False) as opened:
        opened.clock = clock
        yield opened


@pytest.fixture
def store(memory):
    return AmemStore(memory)


def keys(items):
    return [item.key for item in items]


def test_an_item_comes_back_as_it_was_put(memory, store):
    value = {"text": "Ana likes figs.", "sure": True, "at": [1, 2.5, None], "in": {"Busan": "né"}}
    store.put(ALICE, "figs", value)
    item = store.get(ALICE, "figs")
    assert (item.value, item.key, item.namespace) == (value, "figs", ALICE)
    assert item.created_at == item.updated_at == memory.clock()
    assert store.get(ALICE, "dates") is None
    assert store.get(BOB, "figs") is None


def test_a_key_put_again_has_the_new_value_and_keeps_its_history(memory, store):
    store.put(ALICE, "home", {"text": "Ana lives in Seoul."})
    began = memory.clock()
    memory.clock.advance(days=1)
    for city in ("Busan", "Oslo", "Oslo"):
        store.put(ALICE, "home", {"text": f"Ana lives in {city}."})
    item = store.get(ALICE, "home")
    assert (item.value, item.created_at, item.updated_at) == ({"text": "Ana lives in Oslo."}, began, memory.clock())
    assert [found.value for found in store.search(ALICE, query="Where does Ana live?")] == [item.value]
    assert [found.value for found in store.search(ALICE)] == [item.value]
    box = memory.box("langgraph.memories.alice")
    was = [note.content for note in box.list(outdated=True).notes]
    assert was == ["Ana lives in Seoul.", "Ana lives in Busan.", "Ana lives in Oslo."]


def test_undoing_in_the_memory_shows_in_the_store(memory, store):
    store.put(ALICE, "home", {"text": "Ana lives in Seoul."})
    store.put(ALICE, "home", {"text": "Ana lives in Oslo."})
    box = memory.box("langgraph.memories.alice")
    (latest,) = box.list().notes
    box.undo(caused_by=latest.id)
    assert store.get(ALICE, "home").value == {"text": "Ana lives in Seoul."}
    assert [item.value for item in store.search(ALICE)] == [{"text": "Ana lives in Seoul."}]


def test_what_is_deleted_is_forgotten_with_what_it_was_before(memory, store):
    store.put(ALICE, "home", {"text": "Ana lives in Seoul."})
    store.put(ALICE, "home", {"text": "Ana lives in Oslo."})
    store.put(ALICE, "figs", {"text": "Ana likes figs."})
    store.delete(ALICE, "home")
    store.delete(ALICE, "never there")
    assert store.get(ALICE, "home") is None
    assert keys(store.search(ALICE)) == ["figs"]
    assert len(memory.box("langgraph.memories.alice").list(outdated=True, archived=True).notes) == 1
    store.put(ALICE, "home", {"text": "Ana lives in Busan."})
    assert store.get(ALICE, "home").value == {"text": "Ana lives in Busan."}


def test_a_namespace_without_items_is_gone(memory, store):
    store.put(ALICE, "figs", {"text": "Ana likes figs."})
    store.put(BOB, "bread", {"text": "Bob bakes bread."})
    store.delete(ALICE, "figs")
    assert store.list_namespaces() == [BOB]
    assert memory.boxes() == ["langgraph.memories.bob"]


def test_a_namespace_is_a_box_and_sees_no_other(memory, store):
    store.put(ALICE, "a", {"text": "The bread is Alice's."})
    store.put(BOB, "b", {"text": "The bread is Bob's."})
    memory.add("The bread is nobody's.")
    memory.box("langgraph").add("The bread is the root's.")
    assert keys(store.search(ALICE, query="bread")) == ["a"]
    assert sorted(keys(store.search(("memories",), query="bread"))) == ["a", "b"]
    assert sorted(keys(store.search((), query="bread"))) == ["a", "b"]
    assert {item.namespace for item in store.search(())} == {ALICE, BOB}
    assert store.search(("mem",), query="bread") == []


def test_a_search_ranks_filters_and_pages(store):
    for number, (text, kind) in enumerate(
        [("Ana bakes bread.", "fact"), ("Ana sails a boat.", "fact"), ("Buy bread.", "task"), ("Call Mina.", "task")]
    ):
        store.put(ALICE, f"k{number}", {"text": text, "kind": kind, "weight": number}, index=["text"])
    first, *others = store.search(ALICE, query="bread", limit=2)
    assert {first.key, *keys(others)} == {"k0", "k2"}
    assert first.score >= others[0].score
    assert keys(store.search(ALICE, query="bread", filter={"kind": "task"})) == ["k2", "k3"]
    assert keys(store.search(ALICE, query="bread", filter={"weight": {"$gt": 0, "$lt": 3}})) == ["k2", "k1"]
    assert keys(store.search(ALICE, filter={"kind": {"$ne": "task"}})) == ["k0", "k1"]
    paged = [keys(store.search(ALICE, limit=3, offset=offset)) for offset in (0, 3, 6)]
    assert [len(page) for page in paged] == [3, 1, 0]
    assert sorted(key for page in paged for key in page) == ["k0", "k1", "k2", "k3"]
    with pytest.raises(InputError, match=r"\$near"):
        store.search(ALICE, filter={"weight": {"$near": 3}})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["", "a", "b"]),
    lambda part: st.lists(part, max_size=2) | st.dictionaries(st.sampled_from(["x", "y"]), part, max_size=2),
    max_leaves=4,
)


@given(value=st.dictionaries(st.sampled_from(["x", "y"]), JSON), wanted=st.dictionaries(st.just("x"), JSON))
@settings(max_examples=100)
def test_a_filter_means_what_it_means_in_langgraph_s_own_store(value, wanted):
    own = InMemoryStore()
    own.put(("a",), "k", value)
    theirs = bool(own.search(("a",), filter=wanted)) if wanted else True
    if not mixes_truth_and_numbers(value, wanted):
        assert fits(value, wanted) == theirs


def mixes_truth_and_numbers(*values):
    """There 1 is true, as it is in Python, and not in JSON."""
    text = repr(values)
    return ("True" in text or "False" in text) and any(digit in text for digit in "01")


def test_namespaces_are_listed_by_prefix_suffix_and_depth(store):
    own = InMemoryStore()
    for space in [("a", "b", "c"), ("a", "b", "d"), ("a", "x", "c"), ("z",), ("z", "c")]:
        store.put(space, "k", {"text": "bread"})
        own.put(space, "k", {"text": "bread"})
    for how in [
        {}, {"prefix": ("a",)}, {"suffix": ("c",)}, {"prefix": ("a", "*", "c")}, {"max_depth": 2},
        {"prefix": ("a",), "suffix": ("c",)}, {"limit": 2, "offset": 1}, {"max_depth": 1, "limit": 1},
    ]:  # fmt: skip
        assert store.list_namespaces(**how) == own.list_namespaces(**how), how


def test_what_langgraph_refuses_and_what_the_store_refuses_is_said(store):
    with pytest.raises(InvalidNamespaceError):
        store.put(("a.b",), "k", {"text": "bread"})
    with pytest.raises(InputError, match="index=False"):
        store.put(ALICE, "k", {"text": "bread"}, index=False)
    with pytest.raises(NotImplementedError, match="TTL"):
        store.put(ALICE, "k", {"text": "bread"}, ttl=5)
    with pytest.raises(InputError, match="metadata"):
        store.put(ALICE, "k", {"text": "bread", "at": {1, 2}})
    store.put(ALICE, "k", {"text": "bread"})
    with pytest.raises(InputError, match="metadata"):
        store.put(ALICE, "k", {"text": "bread", "at": float("nan")})
    with pytest.raises(InputError, match="no name for a box"):
        store.put(("x" * 300,), "k", {"text": "bread"})
    assert store.get(ALICE, "k").value == {"text": "bread"}


def test_only_named_fields_are_searched(memory):
    store = AmemStore(memory, fields=["title", "parts[*].text"])
    value = {"title": "Bread", "parts": [{"text": "flour"}, {"text": "water"}], "secret": "zebra"}
    store.put(ALICE, "k", value)
    (note,) = memory.box("langgraph.memories.alice").list().notes
    assert note.content == "Bread\nflour\nwater"
    store.put(ALICE, "k", value, index=["secret"])
    assert memory.box("langgraph.memories.alice").list().notes[0].content == "zebra"
    store.put(ALICE, "empty", {})
    assert store.get(ALICE, "empty").value == {}


def test_what_the_box_has_from_elsewhere_are_items_too(memory, store):
    box = memory.box("langgraph.memories.alice")
    note = box.add("Ana swims every morning.").note
    (found,) = store.search(ALICE, query="swims")
    assert (found.key, found.value) == (note.id, {"content": "Ana swims every morning."})
    assert store.get(ALICE, note.id).value == found.value
    assert keys(store.search(ALICE)) == [note.id]
    store.delete(ALICE, note.id)
    assert store.search(ALICE) == []


def test_who_puts_signs_and_is_believed_as_told(memory):
    AmemStore(memory, agent_id="planner", trust="tool", root="team").put(ALICE, "k", {"text": "bread"})
    (note,) = memory.box("team.memories.alice").list().notes
    assert (note.agent_id, note.trust) == ("planner", "tool")


def test_a_batch_does_one_after_another(store):
    put, got, gone, listed, found, none = store.batch(
        [
            PutOp(ALICE, "k", {"text": "bread"}), GetOp(ALICE, "k"), PutOp(ALICE, "other", None),
            ListNamespacesOp(), SearchOp(ALICE, query="bread"), GetOp(ALICE, "other"),
        ]
    )  # fmt: skip
    assert (put, gone, none) == (None, None, None)
    assert got.value == found[0].value == {"text": "bread"}
    assert listed == [ALICE]


async def test_both_kinds_of_memory_serve_graphs_with_async(open_memory, store):
    async with open_memory() as memory:
        for one in (AmemStore(memory), store):
            await asyncio.gather(*(one.aput(ALICE, "same", {"n": number}) for number in range(5)))
            await one.aput(ALICE, "k", {"text": "bread"})
            assert (await one.aget(ALICE, "k")).value == {"text": "bread"}
            assert keys(await one.asearch(ALICE, query="bread", limit=1)) == ["k"]
            assert len(await one.asearch(ALICE)) == 2
            assert await one.alist_namespaces() == [ALICE]
            await one.adelete(ALICE, "k")
            assert await one.aget(ALICE, "k") is None
        with pytest.raises(InputError, match=r"amem\.Memory"):
            AmemStore(memory).put(ALICE, "k", {"text": "bread"})


def test_a_compiled_graph_remembers_across_its_threads(store):
    class State(TypedDict):
        said: str
        known: Annotated[list[str], lambda old, new: new]

    def remember(state, *, store):
        known = [item.value["text"] for item in store.search(ALICE, query=state["said"])]
        store.put(ALICE, state["said"], {"text": state["said"]})
        return {"known": known}

    graph = StateGraph(State)
    graph.add_node("remember", remember)
    graph.add_edge(START, "remember")
    graph.add_edge("remember", END)
    compiled = graph.compile(store=store)
    assert compiled.invoke({"said": "Ana likes figs.", "known": []})["known"] == []
    assert compiled.invoke({"said": "What does Ana like?", "known": []})["known"] == ["Ana likes figs."]


async def test_the_tools_are_langchain_tools(store, memory):
    tools = {tool.name: tool for tool in langchain_tools(memory.box("alice"))}
    await tools["add_memory"].ainvoke({"content": "Ana likes figs."})
    assert "Ana likes figs." in await tools["search_memory"].ainvoke({"query": "figs"})
    assert '"error"' in await tools["get_memory"].ainvoke({"id": "nothing"})
    assert set(tools["search_memory"].args) == {"query", "k"}
