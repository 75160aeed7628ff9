"""Cases: the questions that were recorded, kept apart from the wording, so that any wording can be tried on them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import JsonValue

from amem.errors import InputError
from amem.llm.protocol import Message, PromptRef, Request
from amem.llm.recording_file import case_of, read_recording, recordings_in, slug_of
from amem.values import Frozen

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from pathlib import Path

    from amem.llm.recording_file import Recording
    from amem.prompts import Prompt, PromptSet

CALLERS = frozenset(("max_tokens",))
"""Parameters that the caller sets over the template's own: they stay those of the case in every wording."""

_SHORTEST_PREFIX = 4


class Case(Frozen):
    """One question to one prompt, whatever its wording."""

    prompt: str
    id: str
    """Twelve digits over the prompt's name and the variables."""
    name: str
    """The first words of its text, for people."""
    variables: dict[str, JsonValue]
    params: dict[str, JsonValue] = {}
    """Parameters it was recorded with; a template's own go over them, but for those that the caller sets."""

    @classmethod
    def of(cls, request: Request) -> Case:
        """Return the case that a request asks about."""
        return cls(
            prompt=request.prompt.name,
            id=case_of(request),
            name=slug_of(request),
            variables=request.variables,
            params=request.params,
        )

    @classmethod
    def given(cls, prompt: str, variables: dict[str, JsonValue]) -> Case:
        """Return the case of variables that come from elsewhere than a recording."""
        ref = PromptRef(name=prompt, version="", hash="")
        return cls.of(Request(prompt=ref, variables=variables, messages=()))

    def request(self, prompts: PromptSet, model: str | None = None) -> Request:
        """Ask about this case in the wording of `prompts`.

        Raises:
            PromptError: that version has no such prompt, or it takes other variables.
        """
        params = kept_params(self.params, prompts.get(self.prompt))
        return prompts.render(self.prompt, self.variables, model=model, params=params)


def kept_params(params: dict[str, JsonValue], prompt: Prompt) -> dict[str, JsonValue]:
    """Return, of recorded parameters, those that the template does not set itself."""
    return {name: value for name, value in params.items() if name in CALLERS or name not in prompt.params}


def rerendered(recording: Recording, prompts: PromptSet) -> Request:
    """Return what the recording's prompt asks today; what an unusable first reply was answered with stays as it is.

    Raises:
        PromptError: there is no such prompt any more, or it takes other variables.
    """
    recorded = recording.request
    name = recorded.prompt.name
    params = kept_params(recorded.params, prompts.get(name))
    today = prompts.render(name, recorded.variables, model=recorded.model, params=params)
    return today.model_copy(update={"messages": (*today.messages, *_asked_again(recorded, len(today.messages)))})


def _asked_again(recorded: Request, first: int) -> tuple[Message, ...]:
    """Return the unusable reply and the demand for a better one, where the request is a second one."""
    tail = recorded.messages[first:]
    return tail if [message.role for message in tail] == ["assistant", "user"] else ()


def read_all(roots: Iterable[Path]) -> dict[Path, Recording]:
    """Read every recording under some folders.

    Raises:
        InputError: one of the folders does not exist.
        RecordingInvalid: a file is malformed, or was edited by hand.
    """
    found: dict[Path, Recording] = {}
    for root in roots:
        if not root.is_dir():
            raise InputError(f"there is no folder {root} of recordings")
        found |= {path: read_recording(path) for path in recordings_in(root)}
    return found


def cases_of(recordings: Iterable[Recording], prompts: Collection[str] = ()) -> list[Case]:
    """Return every case recorded of these prompts (none given: of all), by prompt and name.

    A case recorded several times (again in another version, with a second request, with more room) is one case, asked
    with the least room it was given: that is its first request.
    """
    first: dict[str, Case] = {}
    for recording in recordings:
        case = Case.of(recording.request)
        if prompts and case.prompt not in prompts:
            continue
        if case.id not in first or _room(case) < _room(first[case.id]):
            first[case.id] = case
    return sorted(first.values(), key=lambda case: (case.prompt, case.name, case.id))


def _room(case: Case) -> float:
    room = case.params.get("max_tokens")
    return room if isinstance(room, int) else float("inf")


def chosen(cases: Sequence[Case], wanted: Sequence[str]) -> list[Case]:
    """Return the cases whose ids begin as wanted; none wanted means all.

    Raises:
        InputError: a beginning fits no case or several, or is shorter than four digits.
    """
    if not wanted:
        return list(cases)
    found: dict[str, Case] = {}
    for beginning in wanted:
        fitting = [case for case in cases if case.id.startswith(beginning)]
        if len(beginning) < _SHORTEST_PREFIX or len(fitting) != 1:
            known = ", ".join(f"{case.id} ({case.name})" for case in (fitting or cases)[:12]) or "none"
            raise InputError(
                f"{beginning!r} should be the beginning of one case, at least {_SHORTEST_PREFIX} digits; "
                f"it fits {len(fitting)}. There are: {known}."
            )
        found[fitting[0].id] = fitting[0]
    return list(found.values())
