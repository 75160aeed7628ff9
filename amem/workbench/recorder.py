"""Recording cases in one wording, so that they can be replayed; a run that was stopped goes on where it stopped."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal

from amem.errors import PromptError
from amem.llm.recording_file import key_of, read_recording, recordings_in, write_recording, write_whole
from amem.values import Frozen
from amem.workbench.cases import rerendered
from amem.workbench.checking import unusable

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from pathlib import Path

    from amem.llm.protocol import Request
    from amem.prompts import PromptSet
    from amem.workbench.answers import Answers, Heard
    from amem.workbench.cases import Case
    from amem.workbench.trials import Trial

State = Literal["recorded", "unusable", "kept", "left"]

UNFINISHED = ".recording-all.json"
"""Beside the recordings: what a run that records everything again has done so far."""


class Step(Frozen):
    """What became of one case."""

    prompt: str
    case: str
    name: str
    state: State
    """`unusable`: recorded, but the reply cannot be used. `kept`: recorded before. `left`: there is no reply yet."""
    why: str = ""


class Marks:
    """The requests that a run in mode `all` has recorded, kept in a file until the run is complete."""

    def __init__(self, root: Path) -> None:
        self.file = root / UNFINISHED
        self.done: set[str] = set(json.loads(self.file.read_text("ascii"))) if self.file.is_file() else set()

    def add(self, key: str) -> None:
        """Note down that a request was recorded."""
        self.done.add(key)
        write_whole(self.file, json.dumps(sorted(self.done)).encode("ascii"))

    def clear(self) -> None:
        """Forget the run: it is complete."""
        self.file.unlink(missing_ok=True)


async def record(
    cases: Sequence[Case], prompts: PromptSet, answers: Answers, *, heard: Heard | None = None
) -> list[Step]:
    """Record each case in this wording, in the manner of the recordings' mode: `new` what is missing, `all` everything.

    Every reply is on disk when it arrives. A model that fails, or a spent budget, leaves the rest for another run.
    """
    root = answers.llm.root
    marks = Marks(root) if answers.llm.mode == "all" else None
    kept = {case.id for case in cases if _is_recorded(case, prompts, answers, marks)}

    def told(trial: Trial) -> None:
        if marks is not None and trial.request is not None and not trial.missing:
            marks.add(_key(trial.request, answers))
        if heard is not None:
            heard(trial)

    asked = [case for case in cases if case.id not in kept]
    trials = await answers.all([(case, prompts) for case in asked], told)
    steps = {case.id: _step(case, trial) for case, trial in zip(asked, trials, strict=True)}
    if marks is not None and not any(step.state == "left" for step in steps.values()):
        marks.clear()
    _mark_bad(answers.llm.new, prompts)
    return [steps.get(case.id) or _step(case, None) for case in cases]


def _mark_bad(paths: Sequence[Path], prompts: PromptSet) -> None:
    """Say in the files themselves which replies are of no use: they are kept, since they tell of the wording."""
    for path in paths:
        recording = read_recording(path)
        if not recording.bad and unusable(recording, prompts):
            write_recording(recording.model_copy(update={"bad": True}), path)


def _is_recorded(case: Case, prompts: PromptSet, answers: Answers, marks: Marks | None) -> bool:
    try:
        request = case.request(prompts)
    except PromptError:
        return False
    return answers.llm.holds(request) if marks is None else _key(request, answers) in marks.done


def _key(request: Request, answers: Answers) -> str:
    return key_of(request.model_copy(update={"model": request.model or answers.llm.model}))


def _step(case: Case, trial: Trial | None) -> Step:
    state: State = "kept"
    if trial is not None:
        state = "left" if trial.missing else "unusable" if trial.problem else "recorded"
    return Step(prompt=case.prompt, case=case.id, name=case.name, state=state, why=trial.problem if trial else "")


def restamp(root: Path, prompts: PromptSet, names: Collection[str] = ()) -> list[Path]:
    """Put the present hash on recordings whose request is what it was: their wording changed where they do not show it.

    Nothing is asked: the reply answers the request, and that is the same to the byte. Files that cannot be rendered
    any more are left alone.
    """
    stamped: list[Path] = []
    for path in recordings_in(root):
        recording = read_recording(path)
        ref = recording.request.prompt
        if names and ref.name not in names:
            continue
        try:
            today = rerendered(recording, prompts)
        except PromptError:
            continue
        reworded = today.prompt.version == ref.version and today.prompt.hash != ref.hash
        if reworded and key_of(today) == recording.key:
            write_recording(recording.model_copy(update={"request": today}), path)
            stamped.append(path)
    return stamped
