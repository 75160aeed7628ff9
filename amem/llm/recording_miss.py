"""RecordingMiss: what was asked, what is recorded, where they differ, and how to mend it."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, Literal

from amem.errors import AmemError
from amem.llm.recording_file import case_of
from amem.llm.reviewable import dump_reviewable
from amem.values import canonical_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from amem.llm.protocol import Request
    from amem.llm.recording_file import Recording

Reason = Literal["stale_prompt", "stale_model", "stale_params", "stale_schema", "new_input", "empty"]

_SHOWN_LINES = 60


class RecordingMiss(AmemError):
    """Nothing recorded answers what was asked.

    It is not an LLMError: a miss is the fault of the recordings or of the code under test, never of a model,
    so nothing may handle it as an outage.
    """

    def __init__(self, message: str, *, reason: Reason, nearest: Path | None = None, diff: str = "") -> None:
        self.reason: Reason = reason
        self.nearest = nearest
        """The recording that comes closest."""
        self.diff = diff
        """Unified diff from `nearest` to what was asked."""
        super().__init__(message)


def explain_miss(request: Request, recordings: Mapping[Path, Recording], root: Path) -> RecordingMiss:
    """Say why none of `recordings` answers `request`."""
    name = request.prompt.name
    fix = _fixes(request, root, known=any(case_of(r.request) == case_of(request) for r in recordings.values()))
    if not recordings:
        return RecordingMiss(f"NO recordings in {root} (empty); asked for {name!r}\n\n{fix}", reason="empty")
    nearest = _nearest(request, recordings)
    if nearest is None:
        head = f"NO recording for {name!r} (new_input): nothing of this prompt is recorded in {root}"
        return RecordingMiss(f"{head}\n\n{fix}", reason="new_input")
    recorded = recordings[nearest].request
    reason, head = _reason(request, recorded)
    diff = _diff(recorded, request, "/".join(nearest.parts[-3:]))
    changed = "".join(f"  changed: {change}\n" for change in _changes(recorded, request, reason))
    message = f"{head} ({reason})\n{changed}{_cut(diff)}\n\n{fix}"
    return RecordingMiss(message, reason=reason, nearest=nearest, diff=diff)


def _nearest(request: Request, recordings: Mapping[Path, Recording]) -> Path | None:
    """Find the recording of the same case with most in common, else of the prompt's most similar input."""
    of_prompt = {p: r.request for p, r in recordings.items() if r.request.prompt.name == request.prompt.name}
    case = case_of(request)
    same = [path for path, other in of_prompt.items() if case_of(other) == case]
    if same:
        return max(same, key=lambda path: _common(request, of_prompt[path]))
    asked = difflib.SequenceMatcher(b=_words(request))
    ratios: dict[Path, float] = {}
    for path, other in of_prompt.items():
        asked.set_seq1(_words(other))
        ratios[path] = asked.quick_ratio()
    return max(ratios, key=lambda path: ratios[path], default=None)


def _common(a: Request, b: Request) -> tuple[int, bool]:
    equal = (
        a.messages == b.messages,
        a.model == b.model,
        a.reply_schema == b.reply_schema,
        a.params == b.params,
    )
    return sum(equal), a.prompt == b.prompt


def _words(request: Request) -> list[str]:
    return re.findall(r"\w+", canonical_json(request.variables))


def _reason(asked: Request, recorded: Request) -> tuple[Reason, str]:
    stale = f"STALE recording for {asked.prompt.name!r}"
    if case_of(asked) != case_of(recorded):
        return (
            "new_input",
            f"NO recording for {asked.prompt.name!r}: its input is new, the nearest differs so",
        )
    if asked.messages != recorded.messages:
        if asked.prompt.hash != recorded.prompt.hash:
            return "stale_prompt", stale
        return "new_input", f"NO recording for {asked.prompt.name!r}: same case, other messages (a re-ask?)"
    if asked.reply_schema != recorded.reply_schema:
        return "stale_schema", stale
    return ("stale_model" if asked.model != recorded.model else "stale_params"), stale


def _changes(recorded: Request, asked: Request, reason: Reason) -> list[str]:
    changes = []
    if reason != "new_input" and recorded.prompt != asked.prompt:
        changes.append(f"prompt {recorded.prompt.label} -> {asked.prompt.label}")
    if recorded.model != asked.model:
        changes.append(f"model {recorded.model} -> {asked.model}")
    if recorded.params != asked.params:
        changes.append(f"params {canonical_json(recorded.params)} -> {canonical_json(asked.params)}")
    if recorded.reply_schema != asked.reply_schema:
        changes.append("schema of the reply")
    return changes


def _readable(request: Request) -> list[str]:
    lines = [f"model: {request.model}", f"params: {canonical_json(request.params)}"]
    for message in request.messages:
        lines += [f"[{message.role}]", *message.content.split("\n")]
    if request.reply_schema is not None:
        lines += ["[schema]", *dump_reviewable(request.reply_schema).splitlines()]
    return lines


def _diff(recorded: Request, asked: Request, path: str) -> str:
    lines = difflib.unified_diff(
        _readable(recorded), _readable(asked), f"recorded {path}", "asked now", lineterm="", n=2
    )
    return "\n".join(lines)


def _cut(diff: str) -> str:
    lines = diff.split("\n")
    rest = len(lines) - _SHOWN_LINES
    return "\n".join([*lines[:_SHOWN_LINES], f"… {rest} more lines in .diff"]) if rest > 0 else diff


def _fixes(request: Request, root: Path, *, known: bool) -> str:
    """Name what records this request; a case that is recorded in another wording needs no program to be run."""
    model = request.model or "<model>"
    live = f"RecordedLLM({str(root)!r}, real=LiteLLM({model!r}), mode='new')"
    prompt = request.prompt
    command = f"amem prompts record {prompt.name} --case {case_of(request)} --version {prompt.version}"
    from_shell = f"\n     or: {command} --recordings {root} --llm {model}" if known else ""
    return (
        "Fix:\n"
        f"  1. if this is what should be asked, record it once: {live}{from_shell}\n"
        "  2. if not, take back the change that made the request another one"
    )
