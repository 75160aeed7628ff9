"""The router: asks the fast layers first, shares the token budget among them, and goes on without one that fails."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from amem.errors import AmemError
from amem.model import Citation, LeftOut
from amem.values import Frozen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from amem.session.layers import Item, Layer
    from amem.tokens import Tokenizer

log = logging.getLogger("amem.session")

NO_ROOM = "there is no room for it"


class LayerUse(Frozen):
    """What one layer gave to a context."""

    layer: str
    found: int = 0
    packed: int = 0
    shortened: int = 0
    """Of those packed, how many in fewer words."""
    tokens: int = 0
    failed: str | None = None
    """Why the layer was left out."""
    lacked: str | None = None
    """What it did without: where the question cannot be embedded, a layer searches by words only."""


class SessionContext(Frozen):
    """What an agent should know now: `text` cites `[1]…[n]`, `tokens` counts exactly that text."""

    text: str
    citations: tuple[Citation, ...]
    tokens: int
    budget: int
    tokenizer: str
    layers: tuple[LayerUse, ...]
    """In the order they were asked."""
    left_out: tuple[LeftOut, ...] = ()


class _Chosen:
    """Lines chosen for the text, layer by layer."""

    def __init__(self, layers: Sequence[Layer], tokenizer: Tokenizer) -> None:
        self._layers = layers
        self._tokenizer = tokenizer
        self.lines: dict[str, list[tuple[Item, str]]] = {layer.name: [] for layer in layers}

    def fill(self, layer: Layer, items: Sequence[Item], room: int) -> list[Item]:
        """Take items, the most important first, as long as the layer's text fits; return what was left."""
        left = []
        for item in items:
            for text in filter(None, (item.text, item.short)):
                self.lines[layer.name].append((item, text))
                if self._size(layer) <= room:
                    break
                self.lines[layer.name].pop()
            else:
                left.append(item)
        return left

    def size(self) -> int:
        """Return the tokens of the whole text."""
        return self._tokenizer.count(self.text()[0])

    def _size(self, layer: Layer) -> int:
        return self._tokenizer.count("\n".join(self._part(layer, 99)))

    def _part(self, layer: Layer, first: int) -> list[str]:
        chosen = self.lines[layer.name]
        ordered = chosen[::-1] if layer.backwards else chosen
        return [layer.heading, *(f"[{n}] {text}" for n, (_, text) in enumerate(ordered, start=first))] if chosen else []

    def text(self) -> tuple[str, list[tuple[str, Item]]]:
        """Return the text, and the items in the order of their numbers, each with its layer."""
        lines: list[str] = []
        items: list[tuple[str, Item]] = []
        for layer in self._layers:
            lines += self._part(layer, len(items) + 1)
            chosen = self.lines[layer.name]
            items += [(layer.name, item) for item, _ in (chosen[::-1] if layer.backwards else chosen)]
        return "\n".join(lines), items

    def drop_last(self) -> Item | None:
        """Take the least important line out, from the slowest layer that has one."""
        for layer in reversed(self._layers):
            if self.lines[layer.name]:
                return self.lines[layer.name].pop()[0]
        return None


async def route(layers: Sequence[Layer], *, budget: int, tokenizer: Tokenizer) -> SessionContext:
    """Fill a budget from the layers.

    Each layer first gets its share of the tokens; what layers do not need goes to the others, the fastest first. A
    line that does not fit is shortened, if it has a shorter form, and else left out. A note that one layer shows is not
    shown by another.
    """
    found, failed = await _read(layers)
    chosen = _Chosen(layers, tokenizer)
    left = {layer.name: chosen.fill(layer, found[layer.name], int(budget * layer.share)) for layer in layers}
    for layer in layers:
        spare = budget - chosen.size()
        if left[layer.name] and spare > 0:
            room = chosen._size(layer) + spare  # noqa: SLF001 - its own kind
            left[layer.name] = chosen.fill(layer, left[layer.name], room)
    while chosen.size() > budget and (dropped := chosen.drop_last()) is not None:
        left[layers[-1].name].append(dropped)
    return _context(layers, chosen, found=found, failed=failed, left=left, budget=budget, tokenizer=tokenizer)


async def _read(layers: Sequence[Layer]) -> tuple[dict[str, list[Item]], dict[str, str]]:
    found: dict[str, list[Item]] = {}
    failed: dict[str, str] = {}
    seen: set[str] = set()
    for layer in layers:
        try:
            items = await layer.read()
        except AmemError as error:
            log.warning("the layer %s is left out: %s", layer.name, error)
            failed[layer.name] = f"{type(error).__name__}: {error}"
            items = []
        found[layer.name] = [item for item in items if item.note_id not in seen]
        seen |= {item.note_id for item in items}
    return found, failed


def _context(
    layers: Sequence[Layer],
    chosen: _Chosen,
    *,
    found: Mapping[str, Sequence[Item]],
    failed: Mapping[str, str],
    left: Mapping[str, Sequence[Item]],
    budget: int,
    tokenizer: Tokenizer,
) -> SessionContext:
    text, items = chosen.text()
    return SessionContext(
        text=text,
        citations=tuple(
            Citation(number=number, note_id=item.note_id, score=0.0, via=layer, box=item.box, agent_id=item.agent_id)
            for number, (layer, item) in enumerate(items, start=1)
        ),
        tokens=tokenizer.count(text),
        budget=budget,
        tokenizer=tokenizer.name,
        layers=tuple(
            LayerUse(
                layer=layer.name,
                found=len(found[layer.name]),
                packed=len(chosen.lines[layer.name]),
                shortened=sum(text != item.text for item, text in chosen.lines[layer.name]),
                tokens=chosen._size(layer),  # noqa: SLF001 - its own kind
                failed=failed.get(layer.name),
                lacked=None if layer.name in failed else layer.lacks(),
            )
            for layer in layers
        ),
        left_out=tuple(LeftOut(note_id=item.note_id, why=NO_ROOM) for some in left.values() for item in some),
    )
