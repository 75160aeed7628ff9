"""Opening a memory: from a directory and settings to the rooms."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amem.embedding import CheckedEmbedder, open_embedder
from amem.errors import LedgerUnavailable
from amem.ids import NoteIds
from amem.llm.metering import Budget, Meter
from amem.prompts import PromptSet
from amem.recall.access import AccessLog
from amem.recall.graph import Graphs
from amem.recall.layout import Layouts
from amem.render import RenderName, renderer
from amem.rooms import Rooms
from amem.settings import Settings
from amem.store.ledger import Ledger
from amem.store.outbox import LedgerVectors
from amem.store.vectors import VectorIndex
from amem.tokens import open_tokenizer
from amem.upkeep.forget import finish

if TYPE_CHECKING:
    from collections.abc import Callable

    from amem.embedding import Embedder
    from amem.llm.protocol import LLM

log = logging.getLogger("amem.store")

LEDGER_FILE = "ledger.db"


def now_utc() -> datetime:
    """Return the present moment."""
    return datetime.now(UTC)


def open_rooms(
    path: str | Path,
    settings: Settings,
    *,
    llm: LLM | None = None,
    embedder: Embedder | None = None,
    now: Callable[[], datetime] = now_utc,
    new_id: Callable[[], str] | None = None,
    rebind: bool = False,
) -> Rooms:
    """Open the memory in directory `path`, creating it where it does not exist.

    Args:
        path: the directory; everything amem writes is in it.
        settings: how the memory works.
        llm: a model to use instead of the one that the settings name.
        embedder: an embedder to use instead of the one that the settings name.
        now: gives the present moment.
        new_id: gives the next note's id.
        rebind: accept another embedding than the stored one (a reindex must follow).

    Raises:
        EmbeddingMismatch: the memory was made with another embedding.
        LedgerUnavailable: the directory or the database cannot be opened.
        LedgerTooNew: a newer amem wrote it.
    """
    directory = Path(path)
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LedgerUnavailable(f"{directory} cannot be used for a memory: {error}") from error
    render_name: RenderName = "paper-1" if settings.strategy == "paper" else "spoken-1"
    render = renderer(render_name)
    embedder = embedder or open_embedder(settings)
    url = settings.database_url or f"sqlite:///{directory / LEDGER_FILE}"
    ledger = Ledger(url, render=render)
    about = {
        "embedding": embedder.name,
        "fingerprint": embedder.fingerprint,
        "dimension": str(embedder.dimension),
        "render": render_name,
    }
    with ExitStack() as unless_bound:
        unless_bound.callback(ledger.close)
        ledger.bind_embedding(about, rebind=rebind)
        unless_bound.pop_all()
    stored = 0 if rebind else ledger.stored_dimension()
    vectors = LedgerVectors(ledger.database, embedder.dimension or stored)
    rooms = Rooms(
        directory=directory,
        settings=settings,
        ledger=ledger,
        vectors=vectors,
        index=VectorIndex(vectors, directory, settings),
        layouts=Layouts(ledger),
        graphs=Graphs(ledger),
        accesses=AccessLog(ledger),
        embedder=CheckedEmbedder(embedder, stored),
        tokenizer=open_tokenizer(settings),
        prompts=_prompts(settings),
        llm=llm or live_model(settings),
        meter=Meter(Budget(calls=settings.budget_calls, tokens=settings.budget_tokens, usd=settings.budget_usd)),
        render=render,
        now=now,
        new_id=new_id or NoteIds(),
    )
    for problem in finish(rooms):
        log.warning("a forgetting is not finished: %s", problem)
    return rooms


def _prompts(settings: Settings) -> PromptSet:
    overrides = Path(settings.prompts_overrides) if settings.prompts_overrides else None
    return PromptSet(version=settings.prompts_version, overrides=overrides)


def live_model(settings: Settings) -> LLM | None:
    """Return the client of the model the settings name; it imports litellm at its first call, not here."""
    if settings.llm is None:
        return None
    from amem.llm.litellm_client import LiteLLM

    return LiteLLM(
        settings.llm,
        api_base=settings.api_base,
        api_key=settings.api_key,
        timeout=settings.timeout,
        deadline=settings.deadline,
        retries=settings.retries,
        concurrency=settings.concurrency,
        requests_per_minute=settings.requests_per_minute,
    )


def load_settings(llm: str | LLM | None, values: dict[str, Any]) -> tuple[Settings, LLM | None]:
    """Build settings from a verb's arguments; `llm` may be a model's name or anything that completes requests."""
    if llm is None or isinstance(llm, str):
        return Settings.load(llm=llm, **values), None
    return Settings.load(llm=llm.model or "custom", **values), llm
