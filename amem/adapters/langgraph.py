"""LangGraph: a `BaseStore` over a memory, and the tools for LangChain agents. Needs the extra `langgraph`.

A namespace is a box: ("memories", "alice") is the box `langgraph.memories.alice`. So nobody's items are linked with,
evolve or are shown beside somebody else's. An item is a note with the key as its source; what is put again under a key
takes the place of what was there, which stays in the history.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from amem.adapters.binding import Bound
from amem.adapters.langgraph_items import Shelf, fits, listed
from amem.adapters.tools import memory_tools
from amem.errors import InputError
from amem.intake import NewNote, box_name

try:
    from langchain_core.tools import StructuredTool
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        PutOp,
        SearchItem,
        SearchOp,
        get_text_at_path,
        tokenize_path,
    )
except ImportError as error:
    raise ImportError("amem.adapters.langgraph needs LangGraph: pip install 'amem[langgraph]'") from error

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from amem.adapters.binding import AnyMemory
    from amem.adapters.langgraph_items import Kept
    from amem.adapters.tools import Tool
    from amem.memory import AsyncMemory
    from amem.model import Trust

_MANY = 1000
"""Hits that a filter over values chooses from, before what was no hit."""


class AmemStore(BaseStore):  # type: ignore[misc]  # the framework's types are not followed
    """A LangGraph store over a memory: `graph.compile(store=AmemStore(memory))`.

    Args:
        memory: the memory itself, not a view of one box. A `Memory` serves graphs with and without async.
        root: the boxes of its namespaces begin with this.
        agent_id: who writes.
        trust: how far what is put may be believed.
        fields: paths of a value's fields that are searched; None is all of it.
        wait: wait for the language model at each put; else notes are built in the background.
    """

    supports_ttl = False
    """`put(ttl=…)` is refused by LangGraph itself; `retention_days` and `forget(expired=True)` are the memory's way."""

    def __init__(
        self,
        memory: AnyMemory,
        *,
        root: str = "langgraph",
        agent_id: str | None = None,
        trust: Trust = "assistant",
        fields: Sequence[str] | None = None,
        wait: bool = False,
    ) -> None:
        self._memory = Bound(memory)
        self._root = box_name(root)
        self._agent_id = agent_id
        self._trust = trust
        self._fields = None if fields is None else list(fields)
        self._wait = wait

    def batch(self, ops: Iterable[Any]) -> list[Any]:
        """Do operations one after another; return what each comes to."""
        wanted = list(ops)
        return self._memory.run_now(lambda memory: self._all(memory, wanted))

    async def abatch(self, ops: Iterable[Any]) -> list[Any]:
        """Do operations one after another; return what each comes to."""
        wanted = list(ops)
        return await self._memory.run(lambda memory: self._all(memory, wanted))

    async def _all(self, memory: AsyncMemory, ops: Sequence[Any]) -> list[Any]:
        return [await self._one(memory, op) for op in ops]

    async def _one(self, memory: AsyncMemory, op: Any) -> Any:
        if isinstance(op, GetOp):
            kept = await self._shelf(memory, op.namespace).get(op.key)
            return None if kept is None else _item(op.namespace, kept)
        if isinstance(op, PutOp):
            return await self._put(memory, op)
        if isinstance(op, SearchOp):
            return await self._search(memory, op)
        if isinstance(op, ListNamespacesOp):
            return listed(await self._namespaces(memory), op)
        raise InputError(f"a {type(op).__name__} is no operation that this store knows")

    async def _put(self, memory: AsyncMemory, op: Any) -> None:
        shelf = self._shelf(memory, op.namespace)
        if op.value is None:
            await shelf.delete(op.key)
            return
        if op.index is False:
            raise InputError("index=False is refused: a memory finds everything it holds. Nothing was stored.")
        value = dict(op.value)
        NewNote.of("-", metadata={"value": value})  # refuses what is no JSON, and names it
        text = _text(value, op.index if op.index is not None else self._fields)
        await shelf.put(op.key, value, text or op.key, trust=self._trust, wait=self._wait)

    async def _search(self, memory: AsyncMemory, op: Any) -> list[Any]:
        spaces = {self._box(space): space for space in await self._namespaces(memory, op.namespace_prefix)}
        last = op.offset + op.limit
        ranked: list[tuple[str, Kept, float | None]] = []
        if op.query:
            hits = await memory.search(op.query, k=last if op.filter is None else _MANY, boxes=list(spaces))
            for hit in hits:
                kept = await Shelf(memory.box(hit.note.box)).of(hit.note)
                ranked.append((hit.note.box, kept, hit.score))
        if not op.query or op.filter is not None:
            seen = {(box, kept.key) for box, kept, _ in ranked}
            others = [(box, kept, None) for box in spaces for kept in await Shelf(memory.box(box)).all()]
            others.sort(key=lambda other: other[1].updated_at, reverse=True)
            ranked += [other for other in others if (other[0], other[1].key) not in seen]
        wanted = [one for one in ranked if fits(one[1].value, op.filter or {})]
        return [_item(spaces[box], kept, score=score) for box, kept, score in wanted[op.offset : last]]

    async def _namespaces(self, memory: AsyncMemory, prefix: Sequence[str] = ()) -> list[tuple[str, ...]]:
        head = f"{self._root}."
        found = [tuple(box.removeprefix(head).split(".")) for box in await memory.boxes() if box.startswith(head)]
        return sorted(space for space in found if space[: len(prefix)] == tuple(prefix))

    def _shelf(self, memory: AsyncMemory, namespace: Sequence[str]) -> Shelf:
        return Shelf(memory.box(self._box(namespace), agent_id=self._agent_id))

    def _box(self, namespace: Sequence[str]) -> str:
        return ".".join((self._root, *namespace))


def langchain_tools(memory: AnyMemory, *, trust: Trust = "assistant", changing: bool = False) -> list[StructuredTool]:
    """Return the tools of `memory_tools` for `create_agent(tools=…)` and `ToolNode`; the arguments are the same."""
    return [_langchain(tool) for tool in memory_tools(memory, trust=trust, changing=changing)]


def _langchain(tool: Tool) -> StructuredTool:
    async def call(**arguments: Any) -> str:
        return await tool.tell(arguments)

    return StructuredTool.from_function(
        coroutine=call, name=tool.name, description=tool.description, args_schema=tool.arguments
    )


def _item(namespace: Sequence[str], kept: Kept, **score: float | None) -> Any:
    kind = SearchItem if score else Item
    return kind(
        namespace=tuple(namespace), key=kept.key, value=kept.value, created_at=kept.created_at,
        updated_at=kept.updated_at, **score,
    )  # fmt: skip


def _text(value: Mapping[str, Any], fields: Sequence[str] | None) -> str:
    """Return what is searched of a value, by LangGraph's own paths; a value of one text is that text."""
    if fields is None or list(fields) == ["$"]:
        texts = list(value.values())
        if len(texts) == 1 and isinstance(texts[0], str):
            return texts[0].strip()
        return "\n".join(f"{name}: {_whole(part)}" for name, part in value.items())
    found = [text for path in fields for text in get_text_at_path(value, tokenize_path(path))]
    return "\n".join(found).strip()


def _whole(part: Any) -> str:
    return part if isinstance(part, str) else json.dumps(part, ensure_ascii=False)
