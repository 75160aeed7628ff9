"""RecordedLLM: answer requests from recordings, and record what is missing when asked to.

Replay is strict: only a recording of the same request (`key`) answers it, any number of times, in any order.
The modes are `none` (replay only; the default, and the only one where CI is set), `new` (ask the real model
for what is missing), `all` (record again what is touched) and `live` (ask the real model, record nothing).
Errors are never recorded. Replaying needs no litellm.
"""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from amem.errors import SettingsError
from amem.llm.recording_file import (
    Recording,
    RecordingInvalid,
    file_name,
    folder_of,
    key_of,
    read_recording,
    recordings_in,
    write_recording,
)
from amem.llm.recording_miss import RecordingMiss, explain_miss
from amem.llm.redaction import SECRETS, Redactor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from amem.llm.protocol import LLM, Reply, Request
    from amem.llm.redaction import Rule

__all__ = ["Mode", "RecordedLLM", "Recording", "RecordingInvalid", "RecordingMiss"]

Mode = Literal["none", "new", "all", "live"]


def _today() -> date:
    return datetime.now(UTC).date()


class RecordedLLM:
    """A language model that says what was recorded.

    Args:
        root: The folder of the recordings.
        real: The model to ask in the modes `new`, `all` and `live`.
        mode: `none`, `new`, `all` or `live`.
        also: Further folders to replay from; nothing is ever written there.
        model: The model to replay, where the recordings know several; the model to ask when recording.
        redact: Pairs of pattern and placeholder, applied to requests before they are compared, sent or
            recorded, and to replies.
        today: The date that stands in new recordings.

    Raises:
        SettingsError: the mode needs a real model, or is not allowed because CI is set.
    """

    def __init__(
        self,
        root: Path | str,
        *,
        real: LLM | None = None,
        mode: Mode = "none",
        also: Iterable[Path] = (),
        model: str | None = None,
        redact: Iterable[Rule] = SECRETS,
        today: Callable[[], date] = _today,
    ) -> None:
        _check_mode(mode, real)
        self.root = Path(root)
        self._also = tuple(also)
        self.mode: Mode = mode
        self.used: set[Path] = set()
        """Files that answered at least once."""
        self.new: list[Path] = []
        """Files written by this object."""
        self.misses: list[RecordingMiss] = []
        """Every miss raised so far."""
        self._real = real
        self._model = model
        self._redactor = Redactor(redact)
        self._today = today
        self._read: dict[Path, Recording] | None = None
        self._models: set[str] = set()
        self._by_key: dict[str, list[Path]] = {}
        self._locks: dict[str, asyncio.Lock] = {}

    @property
    def model(self) -> str:
        """The model the recordings were made with; when recording, the model that is asked.

        Raises:
            SettingsError: the recordings are of several models, and none was chosen.
        """
        if self._model is not None:
            return self._model
        if self._real is not None and self.mode != "none":
            return self._real.model
        self._recordings()
        models = sorted(self._models)
        if len(models) > 1:
            raise SettingsError(
                f"the recordings in {self.root} are of several models ({', '.join(models)}); "
                "say which one to replay: RecordedLLM(..., model=...), or --recorded-by."
            )
        return models[0] if models else ""

    async def complete(self, request: Request) -> Reply:
        """Answer from the recordings, or as the mode says.

        Raises:
            RecordingMiss: nothing recorded answers this request, and the mode is `none`.
            LLMError: the real model failed; nothing was recorded.
        """
        if self.mode == "live" and self._real is not None:
            return await self._real.complete(self._addressed(request))
        request = self._redactor.request(self._addressed(request))
        key = key_of(request)
        if self.mode == "none" or self._real is None:
            return self._replay(request, key)
        async with self._locks.setdefault(key, asyncio.Lock()):  # two equal requests at once ask once
            try:
                if self._must_ask(request, key):
                    await self._record(request, key, self._real)
            finally:
                self._locks.pop(key, None)  # the next event loop needs a lock of its own
            return self._replay(request, key)

    def holds(self, request: Request) -> bool:
        """Say whether a recording answers this request."""
        request = self._redactor.request(self._addressed(request))
        return self._find(request, key_of(request)) is not None

    async def aclose(self) -> None:
        """Close the connections of the real model, where one was asked."""
        if self._real is not None and hasattr(self._real, "aclose"):
            await self._real.aclose()

    def unused(self) -> list[Path]:
        """Return the files that answered nothing so far, sorted."""
        return sorted(self._recordings().keys() - self.used)

    def _addressed(self, request: Request) -> Request:
        """Name the model, where the request leaves it open."""
        return request if request.model or not self.model else request.model_copy(update={"model": self.model})

    def _recordings(self) -> dict[Path, Recording]:
        if self._read is None:
            self._read = {}
            for root in dict.fromkeys((self.root, *self._also)):
                for path in recordings_in(root):
                    self._keep(path, read_recording(path))
        return self._read

    def _keep(self, path: Path, recording: Recording) -> None:
        self._recordings()[path] = recording
        if recording.request.model is not None:
            self._models.add(recording.request.model)
        paths = self._by_key.setdefault(recording.key, [])
        if path not in paths:
            paths.append(path)

    def _find(self, request: Request, key: str) -> Path | None:
        """Prefer, among recordings of the same request, what the same prompt made, and what stands in `root`."""
        recordings = self._recordings()

        def strangeness(path: Path) -> tuple[bool, bool]:
            return recordings[path].request.prompt != request.prompt, self.root not in path.parents

        return min(self._by_key.get(key, []), key=strangeness, default=None)

    def _replay(self, request: Request, key: str) -> Reply:
        path = self._find(request, key)
        if path is None:
            miss = explain_miss(request, self._recordings(), self.root)
            self.misses.append(miss)
            raise miss
        self.used.add(path)
        return self._recordings()[path].reply

    def _must_ask(self, request: Request, key: str) -> bool:
        path = self._find(request, key)
        return path is None or (self.mode == "all" and path not in self.new)

    async def _record(self, request: Request, key: str, real: LLM) -> None:
        reply = self._redactor.reply(await real.complete(request))
        reply = reply.model_copy(update={"seconds": round(reply.seconds, 3)})
        by = getattr(real, "written_by", None) or request.model or real.model
        recording = Recording(request=request, reply=reply, on=self._today(), by=by)
        outdated = self._outdated(recording)
        path = self._path_for(recording, key, outdated)
        write_recording(recording, path)
        for old in outdated:
            self._drop(old, keep_file=old == path)
        self._keep(path, recording)
        self.new.append(path)

    def _path_for(self, recording: Recording, key: str, outdated: list[Path]) -> Path:
        folder = folder_of(self.root, recording.request)
        for path in self._by_key.get(key, []):
            if path.parent == folder:
                return path
        first = folder / file_name(recording, first=True)
        taken = first in self._recordings() and first not in outdated
        return folder / file_name(recording, first=False) if taken else first

    def _outdated(self, recording: Recording) -> list[Path]:
        """Find what an earlier wording of the same draft prompt recorded for this case and model.

        Nothing can ask for it any more; when it is replaced, the diff shows the new reply beside the old one.
        """
        asked = recording.request
        folder = folder_of(self.root, asked)
        reworded = (
            (path, old)
            for path, old in self._recordings().items()
            if path.parent == folder and old.request.prompt.hash != asked.prompt.hash
        )
        return [p for p, old in reworded if old.request.model == asked.model and old.case == recording.case]

    def _drop(self, path: Path, *, keep_file: bool) -> None:
        self._by_key[self._recordings().pop(path).key].remove(path)
        self.used.discard(path)
        if not keep_file:
            path.unlink(missing_ok=True)


def _check_mode(mode: Mode, real: LLM | None) -> None:
    if mode == "none":
        return
    if os.environ.get("CI", "").lower() not in {"", "0", "false"}:
        raise SettingsError(
            f"mode {mode!r} is not allowed where CI is set: only 'none' is, so that a test never asks a live "
            "model. Record on your own machine and commit the files."
        )
    if real is None:
        raise SettingsError(f"mode {mode!r} needs a model to ask: RecordedLLM(..., real=...).")
