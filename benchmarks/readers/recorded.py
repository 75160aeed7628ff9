"""Answers that were given before, in another run or by somebody else: `{"unit": "bm25 conv-26#0", "answer": "…"}`."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from amem.errors import InputError

from .protocol import Answer

if TYPE_CHECKING:
    from pathlib import Path

    from amem.llm.protocol import LLM

    from .protocol import Asked


class RecordedReader:
    """Says what stands in a file; a question it has no answer to is an error.

    Raises:
        InputError: the file cannot be read, or a line of it is no answer.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            data = path.read_bytes()
        except OSError as error:
            raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
        self._digest = hashlib.sha256(data).hexdigest()[:8]
        self._answers = dict(self._read(number, line) for number, line in enumerate(data.splitlines(), start=1))

    @property
    def about(self) -> str:
        """The file and its hash."""
        return f"recorded answers of {self._path.name}+{self._digest}"

    async def answer(self, asked: Asked, llm: LLM | None) -> Answer:  # noqa: ARG002 - the protocol's
        """Return what was answered.

        Raises:
            InputError: nothing was.
        """
        unit = f"{asked.system} {asked.key}"
        if unit not in self._answers:
            raise InputError(f"{self._path} has no answer for {unit!r}. What was done so far is kept.")
        return Answer(text=self._answers[unit])

    def _read(self, number: int, line: bytes) -> tuple[str, str]:
        try:
            value = json.loads(line)
            unit, text = value["unit"], value["answer"]
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(f"{self._path}:{number} is no line with `unit` and `answer`") from error
        if not isinstance(unit, str) or not isinstance(text, str):
            raise InputError(f"{self._path}:{number}: `unit` and `answer` must be text")
        return unit, text
