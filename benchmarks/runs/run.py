"""A whole run: every system over every conversation; each unit is on disk before the next one begins."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from amem.prompts import PromptSet

from ..systems.catalogue import system  # noqa: TID252 - in a wheel, this package has another name
from .answering import answer
from .calls import Calls
from .folder import Folder, Manifest, at_work, joined, sitting, system_hashes
from .journal import alone
from .material import material, model_of
from .remembering import Remembering
from .work import Bench

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ..systems.protocol import System  # noqa: TID252 - likewise
    from .calls import Client, Live
    from .config import Config, SystemConfig
    from .material import Material
    from .work import Progress, Step

_SEEN_EVERY = 60.0
"""Seconds between two notes of a run that it is at work."""


async def run(config: Config, path: Path, *, replay: Path | None = None, progress: Progress | None = None) -> Manifest:
    """Do what is not done yet of a run.

    Args:
        config: what is measured.
        path: the run's folder; one that holds a part of this run is gone on with.
        replay: the folder of another run, whose calls answer instead of live models.
        progress: told each step.

    Raises:
        InputError: the data or the configuration is refused, or the folder holds another run.
        LLMError: a model cannot be had; what was done is kept, and the same command goes on from there.
    """
    found = material(config)
    with alone(path):
        folder = Folder(path)
        manifest = joined(folder.manifest(), described(found))
        bench = Bench(found, folder, Calls(path, replay=replay), _Presence(folder, manifest, progress))
        parties = [_party(entry, bench) for entry in config.systems]  # a slip in the last one is found before any work
        folder.write(manifest)
        try:
            await _all(bench, parties)
        finally:
            manifest = at_work(manifest, ended=True)
            folder.write(manifest)
        return manifest


class _Presence:
    """Notes now and then in the manifest that the run is at work: a killed process cannot say when it ended."""

    def __init__(self, folder: Folder, manifest: Manifest, then: Progress | None) -> None:
        self._folder = folder
        self._manifest = manifest
        self._then = then
        self._noted = monotonic()

    def __call__(self, step: Step) -> None:
        """Hear of a step, and pass it on."""
        if monotonic() - self._noted >= _SEEN_EVERY:
            self._folder.write(at_work(self._manifest))
            self._noted = monotonic()
        if self._then is not None:
            self._then(step)


def described(found: Material) -> Manifest:
    """Return the manifest of a run that begins."""
    config, data = found.config, found.data
    return Manifest(
        config=config,
        config_hash=config.hash,
        systems=system_hashes(config),
        data=found.hashes,
        data_name=data.name,
        data_format=data.format,
        restricted=data.restricted,
        category_names=data.category_names,
        warnings=data.warnings,
        reader=found.reader.about,
        embedding=f"{found.embedder.name} ({found.embedder.fingerprint})",
        tokenizer=found.tokenizer.name,
        prompts=_writing_prompts(config.systems),
        questions=len(found.questions()),
        seed=config.seed,
        sittings=(sitting(),),
    )


class Party(NamedTuple):
    """One system with its model."""

    label: str
    system: System
    client: Client | None
    live: Live | None


async def _all(bench: Bench, parties: Sequence[Party]) -> None:
    given = bench.material.config.reader
    reading = None if given.model is None else model_of(given.model, given.concurrency)
    try:
        for party in parties:
            for conversation in bench.material.data.conversations:
                await Remembering(bench, party.label, party.system, party.client).run(conversation)
                await answer(bench, party.label, reading, conversation)
    finally:
        for live in (reading, *(party.live for party in parties)):
            if live is not None:
                await live.aclose()


_ASKED = {"atomic": ("distill",), "fused": ("note", "link_evolve"), "paper": ("note", "link", "evolve")}
"""The prompts of each strategy."""


def _writing_prompts(entries: Sequence[SystemConfig]) -> dict[str, str]:
    """Return the labels of the prompts that amem writes with, by system."""
    found = {}
    for entry in entries:
        if entry.kind == "amem" and entry.model is not None:
            version = entry.settings.get("prompts_version")
            prompts = PromptSet(str(version) if version else None)
            found[entry.label] = ", ".join(prompts.get(name).ref.label for name in _ASKED[entry.strategy or "fused"])
    return found


def _party(entry: SystemConfig, bench: Bench) -> Party:
    live = None if entry.model is None else model_of(entry.model)
    client = None if live is None else bench.calls.client(live)
    return Party(entry.label, system(entry, bench.material.shop(bench.folder.memories), client), client, live)
