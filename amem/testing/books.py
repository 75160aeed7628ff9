"""What became of recordings in one run of pytest: replayed, new, stale, unused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from amem.llm.recording import RecordedLLM
from amem.llm.recording_file import RecordingInvalid, read_recording
from amem.testing.embedders import RecordedEmbedder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from amem.embedding import Embedder
    from amem.llm.protocol import LLM
    from amem.llm.recording import Mode
    from amem.llm.redaction import Rule

VECTORS = "vectors.npz"
"""Beside the recordings: the vectors of the texts that were embedded."""


class Books:
    """Recordings opened in one run. Where nothing is recorded, tests share what was read."""

    def __init__(self, mode: Mode) -> None:
        self.mode = mode
        self._opened: list[RecordedLLM] = []
        self._shared: dict[tuple[Path, str | None, tuple[Rule, ...]], RecordedLLM] = {}
        self._vectors: dict[Path, RecordedEmbedder] = {}

    def llm(self, root: Path, model: str | None, rules: Iterable[Rule], real: Callable[[], LLM]) -> RecordedLLM:
        """Open the recordings of a folder.

        Raises:
            RecordingInvalid: one of them still shows a secret.
        """
        key = (root, model, tuple(rules))
        if key not in self._shared or self.mode != "none":
            _check_secrets(root, key[2])
            asked = None if self.mode == "none" else real()
            self._shared[key] = RecordedLLM(root, real=asked, mode=self.mode, model=model, redact=key[2])
            self._opened.append(self._shared[key])
        return self._shared[key]

    def embedder(self, root: Path, real: Callable[[], Embedder]) -> RecordedEmbedder:
        """Open the vectors beside the recordings of a folder."""
        if root not in self._vectors:
            self._vectors[root] = RecordedEmbedder(root / VECTORS, real=None if self.mode == "none" else real())
        return self._vectors[root]

    def summary(self) -> Summary:
        """Return what became of the recordings of all folders that were opened."""
        summary = Summary()
        for llm in self._opened:
            summary.used |= llm.used
            summary.new |= set(llm.new)
            summary.known |= {*llm.used, *llm.new, *llm.unused()}
        return summary


class Summary:
    """Sets of files; runs of several processes add up."""

    def __init__(self, used: Iterable[Path] = (), new: Iterable[Path] = (), known: Iterable[Path] = ()) -> None:
        self.used = set(used)
        self.new = set(new)
        self.known = set(known)

    def add(self, other: Summary) -> None:
        """Add what another process found."""
        self.used |= other.used
        self.new |= other.new
        self.known |= other.known

    def as_texts(self) -> dict[str, list[str]]:
        """Return it in a form that can be sent to another process."""
        return {name: sorted(map(str, getattr(self, name))) for name in ("used", "new", "known")}

    @classmethod
    def of_texts(cls, texts: dict[str, list[str]]) -> Summary:
        """Return what `as_texts` told."""
        return cls(**{name: map(Path, paths) for name, paths in texts.items()})

    def unused(self) -> list[Path]:
        """Return the files that no test asked for, sorted."""
        return sorted(path for path in self.known - self.used if path.exists())

    def stale(self) -> list[Path]:
        """Return those of them that nothing can ask for any more, since their prompt was changed, or is gone."""
        return [path for path in self.unused() if _is_stale(path)]


def _is_stale(path: Path) -> bool:
    from amem.errors import PromptNotFound
    from amem.prompts import OVERRIDE, PromptSet

    prompt = read_recording(path).request.prompt
    if prompt.version == OVERRIDE:
        return False  # whose wording it was is known to the code under test alone
    try:
        return PromptSet(prompt.version).get(prompt.name).hash != prompt.hash
    except PromptNotFound:
        return True


def _check_secrets(root: Path, rules: Iterable[Rule]) -> None:
    for path in sorted(root.glob("*/*/*.json")):
        text = path.read_text(encoding="utf-8", errors="replace")
        shown = [placeholder for pattern, placeholder in rules if re.search(pattern, text)]
        if shown:
            raise RecordingInvalid(
                path,
                f"it shows what should stand there as {', '.join(shown)}. Take it out of the file and out of its "
                "history, replace the secret where it is in use, and record the case again.",
            )
