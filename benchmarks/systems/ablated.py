"""A language model some of whose proposals are thrown away: how links and evolution are ablated.

The requests stay the same, so an ablation shares its calls with the whole system for as long as its notes are the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from amem.errors import BadReply
from amem.llm.structured import parse_reply
from amem.replies import EvolveReply, LinkEvolveReply, LinkReply

if TYPE_CHECKING:
    from collections.abc import Collection

    from amem.llm.protocol import LLM, Reply, Request

Part = Literal["links", "evolution"]
_FIELDS: dict[Part, tuple[str, ...]] = {"links": ("links",), "evolution": ("changes", "tags")}
_REPLIES: dict[str, type[LinkReply | EvolveReply | LinkEvolveReply]] = {
    "link": LinkReply,
    "evolve": EvolveReply,
    "link_evolve": LinkEvolveReply,
}


class Ablated:
    """Asks another model, and empties what is ablated in its replies; a reply nobody can read is passed on as it is.

    Args:
        inner: who answers.
        without: what is thrown away.
    """

    def __init__(self, inner: LLM, without: Collection[Part]) -> None:
        self._inner = inner
        self._emptied = {name for part in without for name in _FIELDS[part]}

    @property
    def model(self) -> str:
        """The other's."""
        return self._inner.model

    async def complete(self, request: Request) -> Reply:
        """Answer one request.

        Raises:
            LLMError: the other failed.
        """
        reply = await self._inner.complete(request)
        output = _REPLIES.get(request.prompt.name)
        if output is None:
            return reply
        try:
            said = parse_reply(reply.text, output)
        except BadReply:
            return reply
        emptied: dict[str, list[object]] = {name: [] for name in self._emptied if name in output.model_fields}
        return reply.model_copy(update={"text": said.model_copy(update=emptied).model_dump_json()})
