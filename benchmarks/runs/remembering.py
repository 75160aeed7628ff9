"""Ingest and retrieve: turns go in as they are said, and each question is searched for when it is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..systems.protocol import Query  # noqa: TID252 - in a wheel, this package has another name
from .records import Ingested, Measured, Retrieved, unit
from .work import Watch

if TYPE_CHECKING:
    from ..datasets.conversation import Conversation, Question  # noqa: TID252 - likewise
    from ..systems.protocol import System  # noqa: TID252 - likewise
    from .calls import Client
    from .work import Bench


class Remembering:
    """One system's way through one conversation.

    No turn goes in before every question asked earlier is on disk: a run that goes on after a crash finds a memory that
    knows nothing too early.
    """

    def __init__(self, bench: Bench, label: str, system: System, client: Client | None) -> None:
        self._bench = bench
        self._label = label
        self._system = system
        self._client = client
        self._writing = Watch(client)

    async def run(self, conversation: Conversation) -> None:
        """Do what is not done yet.

        Raises:
            LLMError: the system's model cannot be had.
        """
        folder, whole = self._bench.folder, unit(self._label, conversation.id)
        left = [one for one in conversation.questions if unit(self._label, one.key) not in folder.retrieval]
        if whole in folder.ingest and not left:
            self._bench.moved(self._label, len(conversation.turns) + len(conversation.questions))
            return
        await self._system.reset(conversation)
        try:
            await self._through(conversation)
            state = await self._system.state()
            folder.measured.append(Measured(unit=f"bytes {whole}", bytes=self._system.bytes()))
            folder.ingest.append(Ingested(unit=whole, **state.model_dump()))
        finally:
            await self._system.close()

    async def _through(self, conversation: Conversation) -> None:
        place = 0
        for question in conversation.questions:
            if question.after > place:
                await self._take_in(conversation, place, question.after)
                place = question.after
            if unit(self._label, question.key) not in self._bench.folder.retrieval:
                await self._search(question)
            self._bench.moved(f"{self._label}: searching")
        self._bench.moved(self._label, len(conversation.turns) - place)  # what nobody asks about any more

    async def _take_in(self, conversation: Conversation, start: int, end: int) -> None:
        self._within(f"write {unit(self._label, conversation.id)}")
        for turn in conversation.turns[start:end]:
            with self._writing:
                worked = await self._system.add(turn)
            self._written(worked, turn.id)
            self._bench.moved(f"{self._label}: writing")
        with self._writing:
            worked = await self._system.finish()
        self._written(worked, f"{conversation.turns[end - 1].id} end")

    def _written(self, worked: int, turn: str) -> None:
        """Keep how long it took to write the turns up to one."""
        if worked:
            self._bench.measured(self._writing.read(f"write {unit(self._label, turn)}", worked))
        self._bench.calls.refuse_outage()

    async def _search(self, question: Question) -> None:
        name = unit(self._label, question.key)
        self._within(f"search {name}")
        watch = Watch(self._client)
        with watch:
            found = await self._system.search(Query.of(question), self._bench.material.config.budget)
        self._bench.calls.refuse_outage()
        self._bench.measured(watch.read(f"search {name}"))
        self._bench.folder.retrieval.append(Retrieved(unit=name, **found.model_dump()))

    def _within(self, scope: str) -> None:
        if self._client is not None:
            self._client.scope = scope
