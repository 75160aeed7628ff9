"""The agentic step of reconstruction: the language model chooses which tags and cues to open next, on a call budget."""

from __future__ import annotations

import logging
from asyncio import to_thread
from typing import TYPE_CHECKING

import numpy as np

from amem.errors import LLMError
from amem.recall.cues import SESSION
from amem.recall.features import Question
from amem.recall.reconstruction import reconstruct, spread_of, view_of
from amem.recall.timefocus import time_focus
from amem.replies import OpenTagsReply

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from pydantic import JsonValue

    from amem.filters import Filter
    from amem.recall.cues import Handle
    from amem.recall.thinking import Thinking
    from amem.rooms import Rooms

    Opened = Mapping[str, Sequence[Handle]]

log = logging.getLogger("amem.recall")

PROMPT = "open_tags"
SHOWN = 20
"""Tags and cues a model chooses from: those with the highest activation."""
_REPLY_TOKENS = 120


async def choose_tags(
    thinking: Thinking, boxes: Sequence[str], question: str, *, given: Filter, now: datetime
) -> tuple[Opened, str | None]:
    """Return for each box what the model would open, one call a box, as many as the settings allow.

    A box that is missing from the result opens whatever is active. Where a call fails, so do all boxes left, and the
    reason is returned with what was chosen before.
    """
    rooms = thinking.rooms
    asked = Question(question, time_focus(question, now), now)
    opened: dict[str, Sequence[Handle]] = {}
    calls = rooms.settings.reconstruct_calls if rooms.settings.reconstruct_levels > 2 else 0
    for box in boxes[:calls]:
        active = await to_thread(_active, rooms, box, asked, given, now)
        if not active:
            continue
        tags: list[JsonValue] = [{"number": n, "text": f"{one.kind}: {one.name}"} for n, one in enumerate(active)]
        variables: dict[str, JsonValue] = {"question": question, "tags": tags}
        try:
            reply = await thinking.ask(PROMPT, variables, OpenTagsReply, max_tokens=_REPLY_TOKENS)
        except LLMError as error:
            log.warning("no tags were chosen (%s); all that are active are opened", error)
            return opened, f"no tags were chosen: {error}"
        opened[box] = [active[number] for number in dict.fromkeys(reply.open) if number < len(active)]
    return opened, None


def _active(rooms: Rooms, box: str, asked: Question, given: Filter, now: datetime) -> list[Handle]:
    """Return the cues and tags that activation has reached from notes, the most active first, by name where equal."""
    graph = rooms.graphs.graph(box, view_of(rooms, box, given))
    reached = reconstruct(graph, asked, now=now, spread=spread_of(rooms.settings)._replace(levels=2)).onward
    handles = graph.vocabulary.handles
    best = sorted(np.flatnonzero(reached).tolist(), key=lambda number: (-reached[number], handles[number]))
    return [handles[number] for number in best if handles[number].kind != SESSION][:SHOWN]
