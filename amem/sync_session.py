"""Session, facts and episodes without async: each verb is that of the asynchronous one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from amem.intake import NewNote
    from amem.model import Note, Outcome
    from amem.session.episodes import Episodes, KnownEpisode
    from amem.session.facts import Facts, KnownFact, Stated
    from amem.session.router import SessionContext
    from amem.session.session import AsyncSession, Observed, Trace
    from amem.sync_loop import Loop


class Session:
    """One conversation of an agent, over one box."""

    def __init__(self, inner: AsyncSession, loop: Loop) -> None:
        self._inner = inner
        self._loop = loop

    @property
    def id(self) -> str:
        """The session's id."""
        return self._inner.id

    @property
    def trace(self) -> Sequence[Trace]:
        """What the last steps read and wrote, oldest first."""
        return self._inner.trace

    def observe(self, message: str | Mapping[str, Any] | NewNote, *, wait: bool = False, **common: Any) -> Observed:
        """See `AsyncSession.observe`."""
        return self._loop.run(self._inner.observe(message, wait=wait, **common))

    def context(self, question: str, budget: int = 1000, *, now: datetime | None = None) -> SessionContext:
        """See `AsyncSession.context`."""
        return self._loop.run(self._inner.context(question, budget, now=now))

    def turns(self, limit: int | None = None) -> Sequence[Note]:
        """See `AsyncSession.turns`."""
        return self._loop.run(self._inner.turns(limit))

    def end(self) -> Sequence[str]:
        """See `AsyncSession.end`."""
        return self._loop.run(self._inner.end())


class SyncFacts:
    """The facts of one box."""

    def __init__(self, inner: Facts, loop: Loop) -> None:
        self._inner = inner
        self._loop = loop

    def add(self, subject: str, predicate: str, object: str, **more: Any) -> Stated:
        """See `Facts.add`."""
        return self._loop.run(self._inner.add(subject, predicate, object, **more))

    def list(
        self,
        *,
        subject: str | None = None,
        predicate: str | None = None,
        as_of: datetime | str | None = None,
        outdated: bool = False,
    ) -> Sequence[KnownFact]:
        """See `Facts.list`."""
        return self._loop.run(self._inner.list(subject=subject, predicate=predicate, as_of=as_of, outdated=outdated))

    def search(self, question: str, *, k: int = 5, now: datetime | None = None) -> Sequence[KnownFact]:
        """See `Facts.search`."""
        return self._loop.run(self._inner.search(question, k=k, now=now))


class SyncEpisodes:
    """The episodes of one box."""

    def __init__(self, inner: Episodes, loop: Loop) -> None:
        self._inner = inner
        self._loop = loop

    def add(
        self,
        trigger: str,
        actions: Sequence[str] = (),
        outcome: Outcome = "unknown",
        *,
        result: str = "",
        lesson: str = "",
        **more: Any,
    ) -> KnownEpisode:
        """See `Episodes.add`."""
        return self._loop.run(self._inner.add(trigger, actions, outcome, result=result, lesson=lesson, **more))

    def search(
        self, trigger: str, *, k: int = 3, outcome: Outcome | None = None, now: datetime | None = None
    ) -> Sequence[KnownEpisode]:
        """See `Episodes.search`."""
        return self._loop.run(self._inner.search(trigger, k=k, outcome=outcome, now=now))
