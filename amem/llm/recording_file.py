"""Recording: one request and its reply in one JSON file that a person can review in a diff.

    <root>/<version>/<prompt>/<slug>-<case>.json           the first request of a case
    <root>/<version>/<prompt>/<slug>-<case>-<key6>.json    further ones: a re-ask, a raised cap, another model

`case` is the same question whatever the wording; `key` is the same request. `reply` is the parsed JSON where
writing it again gives the model's text to the byte (`spacing` says how); else `raw` is that text. `recorded`
says how the reply came to be: `by` is the model that was asked, or "hand".
"""

from __future__ import annotations

import datetime as dt
import hashlib
import json
import os
import re
import unicodedata
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, JsonValue, ValidationError

from amem.errors import AmemError
from amem.llm.protocol import Message, PromptRef, Reply, Request, TokenUsage
from amem.llm.reviewable import dump_reviewable, load_reviewable
from amem.values import Frozen, canonical_json

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

IN_KEY = frozenset(("messages", "model", "params", "reply_schema"))
"""Fields of Request that decide what a model answers."""
NOT_IN_KEY = frozenset(("prompt", "variables"))
"""Fields of Request that only say where its messages came from."""

HAND = "hand"
"""`by` of a reply that a person wrote."""

_SPACINGS: dict[str, dict[str, Any]] = {
    "line": {},
    "compact": {"separators": (",", ":")},
    "indent 2": {"indent": 2},
    "indent 4": {"indent": 4},
}
_DEEPEST = 50
_SLUG_WORDS = 5
_SLUG_LENGTH = 40


class RecordingInvalid(AmemError):
    """A recording cannot be read or written, or its content is not what its key says."""

    def __init__(self, path: Path | str, problem: str) -> None:
        self.path = path
        self.problem = problem
        super().__init__(f"recording {path}: {problem}")


class Recording(Frozen):
    """One request, its reply, and how the reply came to be."""

    request: Request
    reply: Reply
    on: dt.date
    by: str
    """The model that was asked, or "hand"."""
    bad: bool = False
    """The reply is of no use, and kept all the same: a fault to test with, or what a wording led to."""

    @property
    def case(self) -> str:
        """The same question, whatever the wording."""
        return case_of(self.request)

    @property
    def key(self) -> str:
        """The same request."""
        return key_of(self.request)


def case_of(request: Request) -> str:
    """Identify the question: prompt name and variables."""
    return _sha256(request.prompt.name + canonical_json(request.variables))[:12]


def key_of(request: Request) -> str:
    """Identify the request: all that decides what a model answers."""
    return _sha256(canonical_json(request.model_dump(include=set(IN_KEY))))


def slug_of(request: Request) -> str:
    """Name a case for people: the first words of the first text of more than one word among the variables."""
    texts = list(_texts(request.variables))
    text = next((t for t in texts if " " in t.strip()), next(iter(texts), ""))
    plain = unicodedata.normalize("NFKD", text[:400]).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9]+", plain)[:_SLUG_WORDS]
    return "-".join(words)[:_SLUG_LENGTH].strip("-") or "case"


def folder_of(root: Path, request: Request) -> Path:
    """Return the folder that holds all recordings of the request's prompt and version."""
    return root / request.prompt.version / request.prompt.name


def recordings_in(root: Path) -> list[Path]:
    """Return the files of all recordings under `root`, sorted by version, prompt and case."""
    return sorted(root.glob("*/*/*.json"))


def file_name(recording: Recording, *, first: bool) -> str:
    """Name the file; `first` says whether the plain name of its case is still free."""
    further = "" if first else f"-{recording.key[:6]}"
    return f"{slug_of(recording.request)}-{recording.case}{further}.json"


def write_recording(recording: Recording, path: Path) -> None:
    """Write the file whole, or not at all.

    Raises:
        RecordingInvalid: a text holds half a surrogate pair, which no file and no request can carry.
    """
    try:
        data = to_text(recording).encode()
    except UnicodeEncodeError as error:
        raise RecordingInvalid(path, f"text that is no Unicode cannot be recorded: {error}") from error
    write_whole(path, data)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file so that a failure at any moment leaves the old one as it was."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        unfinished.write_bytes(data)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def read_recording(path: Path) -> Recording:
    """Read one file.

    Raises:
        RecordingInvalid: it is malformed, or was edited so that its case or key no longer holds.
    """
    try:
        return from_text(path.read_bytes().decode())
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise RecordingInvalid(path, problems) from error
    except ValueError as error:
        raise RecordingInvalid(path, str(error)) from error


def to_text(recording: Recording) -> str:
    """Serialise in a fixed order, pretty, with Unicode as it is."""
    request, reply = recording.request, recording.reply
    document = {
        "prompt": request.prompt.name,
        "version": request.prompt.version,
        "hash": request.prompt.hash,
        "case": recording.case,
        "key": recording.key,
        "model": request.model,
        "params": request.params,
        "variables": request.variables,
        "messages": [message.model_dump() for message in request.messages],
        **_spoken(reply.text),
        **({"bad": True} if recording.bad else {}),
        "finish_reason": reply.finish_reason,
        "usage": reply.usage.model_dump(),
        **({"attempts": reply.attempts} if reply.attempts != 1 else {}),
        "seconds": reply.seconds,
        "cost": reply.cost,
        "recorded": {"on": recording.on.isoformat(), "by": recording.by, "model_reported": reply.model},
        "schema": request.reply_schema,
    }
    return dump_reviewable(document)


def from_text(text: str) -> Recording:
    """Read what `to_text` wrote, or a person.

    Raises:
        ValueError: it is malformed, or case or key do not fit the content.
    """
    document = _Document.model_validate(load_reviewable(text))
    recording = document.recording()
    for name, stated, actual in (
        ("case", document.case, recording.case),
        ("key", document.key, recording.key),
    ):
        if stated is not None and stated != actual:
            raise ValueError(
                f"{name} is {stated}, but the content gives {actual}: the request was edited by hand. "
                f"Restore it, or record it again; to keep a request you wrote yourself, remove {name!r}."
            )
    return recording


class _Recorded(Frozen):
    on: dt.date
    by: str
    model_reported: str = ""


class _Document(Frozen):
    """The file as it is read; `case` and `key` may be left out by hand."""

    prompt: str
    version: str
    hash: str
    case: str | None = None
    key: str | None = None
    model: str | None
    params: dict[str, JsonValue]
    variables: dict[str, JsonValue]
    messages: tuple[Message, ...]
    reply: JsonValue = None
    spacing: Literal["line", "compact", "indent 2", "indent 4"] = "line"
    raw: str | None = None
    bad: bool = False
    finish_reason: str = "stop"
    usage: TokenUsage = TokenUsage()
    attempts: int = 1
    seconds: float = 0.0
    cost: float | None = None
    recorded: _Recorded
    reply_schema: dict[str, JsonValue] | None = Field(default=None, alias="schema")

    def recording(self) -> Recording:
        request = Request(
            prompt=PromptRef(name=self.prompt, version=self.version, hash=self.hash),
            variables=self.variables,
            messages=self.messages,
            reply_schema=self.reply_schema,
            model=self.model,
            params=self.params,
        )
        reply = Reply(
            text=self._text(),
            finish_reason=self.finish_reason,
            usage=self.usage,
            attempts=self.attempts,
            seconds=self.seconds,
            cost=self.cost,
            model=self.recorded.model_reported,
        )
        return Recording(request=request, reply=reply, on=self.recorded.on, by=self.recorded.by, bad=self.bad)

    def _text(self) -> str:
        if ("reply" in self.model_fields_set) == (self.raw is not None):
            raise ValueError("there must be either 'reply' or 'raw'")
        return _dumps(self.reply, self.spacing) if self.raw is None else self.raw


def _spoken(text: str) -> dict[str, JsonValue]:
    """Return the reply as JSON if writing it again gives `text` to the byte, else as raw text."""
    try:
        value = json.loads(text)
        if _depth(value) > _DEEPEST:
            return {"raw": text}
        spacing = next(name for name in _SPACINGS if _dumps(value, name) == text)
    except (ValueError, RecursionError, StopIteration):  # no JSON, too deep, spaced in its own way
        return {"raw": text}
    return {"reply": value} if spacing == "line" else {"reply": value, "spacing": spacing}


def _dumps(value: JsonValue, spacing: str) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, **_SPACINGS[spacing])


def _depth(value: JsonValue, limit: int = _DEEPEST + 1) -> int:
    """Count the levels of nesting, up to `limit`."""
    if limit == 0 or not isinstance(value, (list, dict)):
        return 0
    items = value.values() if isinstance(value, dict) else value
    return 1 + max((_depth(item, limit - 1) for item in items), default=0)


def _texts(value: JsonValue) -> Iterator[str]:
    """Yield the texts in a JSON value, depth first."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
