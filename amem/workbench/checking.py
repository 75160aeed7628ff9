"""`check`: do the templates, their locks and the recordings agree? Nothing is asked, and nothing is changed."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Literal

from amem.errors import BadReply, PromptError
from amem.llm import jsontext
from amem.llm.recording_file import RecordingInvalid, key_of, read_recording, recordings_in
from amem.llm.redaction import secrets_in
from amem.llm.structured import REFUSALS, parse_reply
from amem.prompts import OVERRIDE, PromptSet, shipped_prompts
from amem.values import Frozen
from amem.workbench.cases import rerendered
from amem.workbench.changelog import missing_entries
from amem.workbench.diffing import messages_text, unified

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from amem.llm.protocol import Request
    from amem.llm.recording_file import Recording
    from amem.prompts import Root

Kind = Literal["template", "lock", "changelog", "stale", "stamp", "orphaned", "edited", "reply", "secret"]
"""What can be wrong; `stamp` is a recording that still answers, but bears the hash of an older wording."""


_VECTORS = "vectors.npz"
"""Stands beside recordings that the demo made."""


class Finding(Frozen):
    """One thing that is wrong."""

    kind: Kind
    prompt: str
    """`name@version`, as far as it is known."""
    problem: str
    path: str = ""
    """The recording, beneath its folder."""
    root: str = ""
    """The folder of the recording."""
    model: str | None = None
    """The model that was recorded."""
    diff: tuple[str, ...] = ()
    """From what was recorded to what would be asked now."""
    fix: str = ""
    """What to do about it; a command where one does it."""


class Checked(Frozen):
    """What `amem prompts check --json` prints."""

    templates: int
    recordings: int
    findings: tuple[Finding, ...]


def check(roots: Sequence[Path], prompts_root: Root | None = None, overrides: Path | str | None = None) -> Checked:
    """Check every template of every version, the locks, the changelog, and every recording under `roots`."""
    root = shipped_prompts() if prompts_root is None else prompts_root
    versions = _Versions(root, overrides)
    findings = [*versions.findings]
    if not findings:
        findings += [
            Finding(kind="lock", prompt=f"{problem.prompt}@{problem.version}", problem=str(problem))
            for problem in versions.default.check_locked()
        ]
    findings += [
        Finding(kind="changelog", prompt=f"*@{version}", problem=problem)
        for version, problem in missing_entries(root, versions.default.versions())
    ]
    files = [(folder, path) for folder in dict.fromkeys(roots) for path in recordings_in(folder)]
    for folder, path in files:
        findings += _of_recording(path, _Filed(folder, path, prompts_root), versions)
    return Checked(templates=versions.templates, recordings=len(files), findings=tuple(findings))


class _Versions:
    """Every version that is listed, with what is wrong with its templates."""

    def __init__(self, root: Root, overrides: Path | str | None) -> None:
        self.default = PromptSet(root=root)
        self.findings: list[Finding] = []
        self.templates = 0
        self._sets = {name: PromptSet(name, root=root) for name in self.default.versions()}
        self._override = PromptSet(root=root, overrides=overrides) if overrides else None
        for version, prompts in self._sets.items():
            for name in prompts.names():
                self.templates += 1
                try:
                    prompts.get(name)
                except PromptError as error:
                    self.findings.append(Finding(kind="template", prompt=f"{name}@{version}", problem=str(error)))

    def of(self, request: Request) -> PromptSet | None:
        """Return the set that a recording's prompt is in."""
        version = request.prompt.version
        found = self._override if version == OVERRIDE else self._sets.get(version)
        return found if found is not None and request.prompt.name in found.names() else None


class _Filed:
    """A recording's file, and what is found about it."""

    def __init__(self, root: Path, path: Path, prompts_root: Root | None) -> None:
        self._about = {"path": path.relative_to(root).as_posix(), "root": str(root)}
        self._prompt = f"{path.parent.name}@{path.parent.parent.name}"
        self._model: str | None = None
        self._root = root
        self._prompts = "" if prompts_root is None else f" --prompts {shlex.quote(str(prompts_root))}"

    def name(self, request: Request) -> None:
        """Take from the content what the folders only hint at."""
        self._prompt = f"{request.prompt.name}@{request.prompt.version}"
        self._model = request.model

    def finding(self, kind: Kind, problem: str, fix: str, diff: Sequence[str] = ()) -> Finding:
        about = {**self._about, "prompt": self._prompt, "model": self._model}
        return Finding(kind=kind, problem=problem, fix=fix, diff=tuple(diff), **about)

    def record(self, *, live: bool = True) -> str:
        """Return the command that records it again, or only stamps it."""
        model = f" --llm {shlex.quote(self._model or 'MODEL')}" if live else ""
        if live and (self._root.parent / _VECTORS).is_file():  # one run of the demo: its replies stand on each other
            return (
                f"amem demo --record {shlex.quote(str(self._root.parent))} --llm {shlex.quote(self._model or 'MODEL')}"
            )
        name, _, version = self._prompt.partition("@")
        where = f"--recordings {shlex.quote(str(self._root))}"
        return f"amem prompts record {name} --version {version} {where}{self._prompts}{model}"


def _of_recording(path: Path, filed: _Filed, versions: _Versions) -> Iterator[Finding]:
    try:
        recording = read_recording(path)
    except RecordingInvalid as error:
        yield filed.finding("edited", error.problem, "restore the file, or delete it and record the case again")
        return
    filed.name(recording.request)
    kinds = secrets_in(path.read_text(encoding="utf-8"))
    if kinds:
        fix = "take the secret out of the case, and record it again"
        yield filed.finding("secret", f"it shows what looks like a secret: {', '.join(kinds)}", fix)
    prompts = versions.of(recording.request)
    if prompts is None:
        yield filed.finding("orphaned", "there is no such prompt or version", "delete it, or bring the prompt back")
        return
    try:
        yield from _against(recording, prompts, filed)
    except PromptError as error:
        fix = "delete it, or record a case that has these variables"
        yield filed.finding("stale", f"its prompt does not take its variables any more: {error}", fix)


def _against(recording: Recording, prompts: PromptSet, filed: _Filed) -> Iterator[Finding]:
    today, recorded = rerendered(recording, prompts), recording.request
    if key_of(today) != recording.key:
        problem = f"its prompt asks something else today: {_how(recorded, today)}"
        diff = unified(messages_text(recorded), messages_text(today), ("recorded", "today"), context=1)
        yield filed.finding("stale", problem, filed.record(), diff)
    elif today.prompt.hash != recorded.prompt.hash:
        problem = f"it asks what its prompt asks, but bears the hash of {recorded.prompt.label}"
        yield filed.finding("stamp", problem, filed.record(live=False))
    problem = "" if recording.bad else unusable(recording, prompts)
    if problem:
        yield filed.finding("reply", problem, 'say "bad": true in the file if it is to be kept, or record it again')


def unusable(recording: Recording, prompts: PromptSet) -> str:
    """Say why nothing can be made of the recorded reply, or nothing."""
    reply, output = recording.reply, prompts.output(recording.request.prompt.name)
    if reply.finish_reason == "length":
        return "its reply was cut at the token limit"
    if reply.finish_reason in REFUSALS:
        return "its reply is a refusal"
    try:
        if output is not None:
            parse_reply(reply.text, output)
        elif jsontext.is_blank(reply.text):
            return "its reply is empty"
    except BadReply as error:
        return f"its reply cannot be used: {error.problem}"
    return ""


def _how(recorded: Request, today: Request) -> str:
    """Name what differs between two requests."""
    parts = {
        "messages": recorded.messages != today.messages,
        "params": recorded.params != today.params,
        "schema of the reply": recorded.reply_schema != today.reply_schema,
    }
    differing = ", ".join(name for name, differs in parts.items() if differs)
    return f"{differing} ({recorded.prompt.label} → {today.prompt.label})"
