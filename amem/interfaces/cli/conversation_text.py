"""Conversations as plain text: `Speaker: what was said`, with dates above and longer messages indented.

    # 2024-02-03
    Ana: I sold the boat.
    Ben: Why?
      You loved it.

    [2024-02-05 18:20]
    Ana: The harbour closed.

A date line starts a session of that name. An indented line goes on with the message above it. Empty lines mean
nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime

from amem.errors import InputError
from amem.intake import NewNote
from amem.interfaces.cli.conversation_types import Bad, Conversation, Sources

_HEADER = re.compile(r"(?:#+\s*(?P<plain>\S.*?)|\[(?P<boxed>[^\]]*)\])\s*")
_MESSAGE = re.compile(r"(?P<speaker>[^\s:\[#][^:]{0,59}?)\s*:(?:\s+(?P<text>.*))?", re.DOTALL)


@dataclass
class _Open:
    """The message being read."""

    line: int
    speaker: str
    session: str
    at: datetime | None
    parts: list[str] = field(default_factory=list)

    def note(self) -> NewNote:
        text = "\n".join(self.parts).strip()
        return NewNote.of(
            {"content": text, "speaker": self.speaker, "session_id": self.session, "occurred_at": self.at}
        )


class _Reader:
    def __init__(self, stem: str) -> None:
        self.notes: list[NewNote] = []
        self.bad: list[Bad] = []
        self._sources = Sources(stem)
        self._session = stem
        self._at: datetime | None = None
        self._open: _Open | None = None

    def line(self, number: int, line: str) -> None:
        if not line.strip():
            return
        if line[0].isspace():
            self._continue(line.strip())
            return
        self.close()
        if (header := _HEADER.fullmatch(line)) is not None:
            self._date(header["plain"] or header["boxed"])
        elif (message := _MESSAGE.fullmatch(line)) is not None:
            parts = [message["text"]] if message["text"] else []
            self._open = _Open(number, message["speaker"], self._session, self._at, parts)
        else:
            raise InputError("neither `Speaker: text`, nor a date, nor indented under a message")

    def _continue(self, text: str) -> None:
        if self._open is None:
            raise InputError("an indented line goes on with the message above, and there is none that could be read")
        self._open.parts.append(text)

    def _date(self, text: str) -> None:
        try:
            self._at = datetime.fromisoformat(text.strip())
        except ValueError as error:
            raise InputError(f"{text!r} is no date such as 2024-02-03 or 2024-02-03 18:20") from error
        self._session = text.strip()

    def close(self) -> None:
        """Keep the message that was open."""
        message, self._open = self._open, None
        if message is None:
            return
        try:
            note = message.note()
        except InputError as error:
            self.bad.append(Bad(message.line, str(error)))
            return
        self.notes.append(note.model_copy(update={"source": self._sources.of(note)}))


def read(data: bytes, stem: str) -> Conversation:
    """Read a file's bytes; `stem` is its name, for the ids of messages and of the first session."""
    reader = _Reader(stem)
    for number, raw in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        try:
            reader.line(number, raw.decode().rstrip("\r"))
        except (InputError, UnicodeDecodeError) as error:
            reader.bad.append(Bad(number, str(error)))
    reader.close()
    return Conversation(reader.notes, sorted(reader.bad, key=lambda item: item.line))
