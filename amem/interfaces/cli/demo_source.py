"""Who answers in the demo: shipped recordings, a live model, or a live model that is recorded."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from itertools import count
from typing import TYPE_CHECKING

from amem.errors import InputError
from amem.interfaces.cli.call import finish
from amem.interfaces.cli.demo_run import Script, run_demo
from amem.interfaces.cli.shipped import DEMO

if TYPE_CHECKING:
    from pathlib import Path

    from amem.embedding import Embedder
    from amem.interfaces.cli.call import Call
    from amem.interfaces.cli.demo_run import Shown
    from amem.interfaces.cli.terminal import Terminal
    from amem.llm.protocol import LLM
    from amem.llm.recording_file import Recording
    from amem.rooms import Rooms
    from amem.settings import Settings

RECORDINGS = "recordings"
VECTORS = "vectors.npz"

TRANSPORT = frozenset(
    ("llm", "api_base", "api_key", "timeout", "deadline", "retries", "concurrency", "requests_per_minute",
     "budget_calls", "budget_tokens", "budget_usd")
)  # fmt: skip
"""Settings that change how a model is reached, and nothing that it is asked."""


@dataclass(frozen=True)
class Source:
    """Where the replies come from; the defaults are the recordings that ship with amem."""

    settings: Settings
    script: Script
    replay: Path | None = None
    """The folder of recordings and vectors to answer from; None asks the settings' model."""
    record: Path | None = None
    """The folder to record into."""
    origin: list[Recording] = field(default_factory=list)
    """The recordings replayed."""

    def run(self, path: Path, terminal: Terminal) -> Shown:
        """Run the demo in the directory `path`."""
        return finish(lambda: self._open(path), lambda rooms: self._within(rooms, terminal))

    def _open(self, path: Path) -> Rooms:
        if self.replay is None:
            return open_alike(path, self.settings, self.script)
        from amem.testing import RecordedEmbedder, RecordedLLM

        llm = RecordedLLM(self.replay / RECORDINGS, model=self.settings.llm)
        return open_alike(path, self.settings, self.script, llm, RecordedEmbedder(self.replay / VECTORS))

    async def _within(self, rooms: Rooms, terminal: Terminal) -> Shown:
        if self.record is None:
            return await run_demo(rooms, self.script, terminal)
        return await recorded(rooms, self.record, self.script, terminal)


def open_alike(
    path: Path, settings: Settings, script: Script, llm: LLM | None = None, embedder: Embedder | None = None
) -> Rooms:
    """Open rooms with ids and a clock that are the same in every run, since the order of neighbours hangs on them."""
    from amem.opening import open_rooms

    numbers = count(1)
    return open_rooms(
        path,
        settings,
        llm=llm,
        embedder=embedder,
        now=lambda: script.last,
        new_id=lambda: f"demo-{next(numbers):04d}",
    )


async def recorded(rooms: Rooms, folder: Path, script: Script, terminal: Terminal) -> Shown:
    """Run the demo, recording every reply as it comes, and the vectors however the run ends."""
    from amem.testing import RecordedEmbedder, RecordedLLM

    assert rooms.llm is not None
    llm = RecordedLLM(folder / RECORDINGS, real=rooms.llm, mode="new")
    embedder = RecordedEmbedder(folder / VECTORS, real=rooms.embedder)
    try:
        shown = await run_demo(replace(rooms, llm=llm, embedder=embedder), script, terminal)
    finally:
        await asyncio.to_thread(embedder.save)
    for path in llm.unused():
        terminal.warn(f"{path} answered nothing in this run; delete it if an older run made it")
    return shown


def choose(call: Call, record: Path | None, folder: Path = DEMO) -> Source:
    """Decide who answers; AMEM_LLM is not asked, so that `amem demo` never costs anything by surprise.

    Raises:
        InputError: the options contradict each other, or there is nothing to replay.
    """
    from amem.settings import Settings

    script = Script.load(folder)
    if call.given.get("llm") is not None:
        settings = call.settings()
        if record is None:
            return Source(settings, script)
        return Source(_as_replayed(call, settings), script, record=record)
    if record is not None or call.given:
        what = "--record" if record is not None else ", ".join(f"the setting {name}" for name in call.given)
        raise InputError(f"{what} needs --llm: without a model, the demo replays what was recorded")
    origin = _read(folder / RECORDINGS)
    return Source(Settings.model_construct(llm=origin[0].request.model), script, replay=folder, origin=origin)


def _as_replayed(call: Call, settings: Settings) -> Settings:
    """Return the settings of a recording: those of the replay, but for how the model is reached."""
    from amem.settings import Settings

    other = sorted(call.given.keys() - TRANSPORT)
    if other:
        raise InputError(f"a recording is made with the default settings; leave out {', '.join(other)}")
    return Settings.model_construct(**settings.model_dump(include=set(TRANSPORT)))


def _read(folder: Path) -> list[Recording]:
    from amem.llm.recording_file import read_recording

    found = [read_recording(path) for path in sorted(folder.glob("*/*/*.json"))]
    if not found:
        raise InputError(f"there are no recordings in {folder}; give a model: amem demo --llm MODEL")
    return found
