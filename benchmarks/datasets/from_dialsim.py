"""DialSim's shows with a plan of questions, in the common shape: each show a conversation, each scene a session."""

from __future__ import annotations

import hashlib
from itertools import accumulate
from typing import TYPE_CHECKING, Literal, NamedTuple

from amem.errors import InputError

from ..metrics.dialsim import LETTERS  # noqa: TID252 - in a wheel, this package has another name
from .conversation import Conversation, Dataset, Question, Turn
from .dialsim_names import renamer

if TYPE_CHECKING:
    from collections.abc import Callable

    from .dialsim import Candidate, DialSim, Scene, Show
    from .dialsim_names import Names
    from .dialsim_plan import Plan, Planned

AnswerFormat = Literal["structured", "unstructured", "open"]
DONT_KNOW = "I don't know."
"""What the right answer is where no option is, but (E) cannot be said."""


def dataset(data: DialSim, plan: Plan, *, answers: AnswerFormat = "structured", names: Names = "original") -> Dataset:
    """Return the shows that a plan has questions for.

    Args:
        data: the shows.
        plan: the questions.
        answers: whether the options stand below the question with letters (`structured`), behind it as one sentence
            (`unstructured`), or nowhere (`open`).
        names: whether the main characters keep their names.

    Raises:
        InputError: the plan was drawn from other data.
    """
    shows = {show.name: show for show in data.shows}
    for name, digest in plan.shows.items():
        if name not in shows or shows[name].sha256 != digest:
            raise InputError(f"the plan was drawn from another {name!r} than the data has. Draw a plan for this data")
    chosen = [show for show in data.shows if show.name in plan.shows]
    whole = "".join(f"{show.name} {show.sha256}\n" for show in chosen)
    return Dataset(
        name="synthetic-dialsim" if all(show.synthetic for show in chosen) else "dialsim",
        format="dialsim",
        conversations=tuple(_Conversion(show, plan, answers, renamer(show.name, names)).done() for show in chosen),
        sha256=hashlib.sha256(whole.encode()).hexdigest(),
        warnings=data.warnings,
        restricted=not all(show.synthetic for show in chosen),
    )


class _Place(NamedTuple):
    """A scene, and how many turns had been said before it."""

    scene: Scene
    before: int


class _Conversion:
    def __init__(self, show: Show, plan: Plan, answers: AnswerFormat, renamed: Callable[[str], str]) -> None:
        self._show = show
        self._planned = [question for question in plan.questions if question.show == show.name]
        self._answers = answers
        self._renamed = renamed
        played = list(dict.fromkeys(scene.episode for scene in show.scenes))[: plan.episodes]
        self._scenes = [scene for scene in show.scenes if scene.episode in set(played)]
        before = accumulate((_spoken(scene, len(scene.utterances)) for scene in self._scenes), initial=0)
        self._places = {
            (scene.episode, scene.number): _Place(scene, turns)
            for scene, turns in zip(self._scenes, before, strict=False)
        }

    def done(self) -> Conversation:
        turns = self._turns()
        return Conversation(
            id=self._show.name,
            speakers=tuple(dict.fromkeys(turn.speaker for turn in turns)),
            agent=self._renamed(self._show.agent),
            turns=turns,
            questions=tuple(self._question(planned) for planned in self._planned),
        )

    def _turns(self) -> tuple[Turn, ...]:
        said = [
            (scene, number, one)
            for scene in self._scenes
            for number, one in enumerate(scene.utterances, start=1)
            if one.text
        ]
        return tuple(
            Turn(
                id=f"{self._session(scene)}:{number}",
                session=self._session(scene),
                position=position,
                speaker=self._renamed(one.speaker),
                text=self._renamed(one.text),
                at=scene.at,
                stated=scene.date,
            )
            for position, (scene, number, one) in enumerate(said)
        )

    def _session(self, scene: Scene) -> str:
        return f"{self._show.name}/{scene.ordinal}"

    def _question(self, planned: Planned) -> Question:
        scene, before = self._place_of(planned)
        found = self._candidate(scene, planned)
        assert found.right is not None  # else it would not have been drawn
        wording = found.wordings.get(planned.asker) or found.wordings["default"]
        asked = self._renamed(f"{planned.asker}: {wording}")
        options = tuple(map(self._renamed, found.options))
        known = found.right < len(options) - 1
        return Question(
            conversation=self._show.name,
            index=planned.index,
            question=asked,
            shown=_shown(asked, options, self._answers),
            at=scene.at,
            after=before + _spoken(scene, planned.utterance + 1),
            category=planned.bucket,
            answerable=known,
            gold=options[found.right] if known or self._answers == "structured" else DONT_KNOW,
            options=options if self._answers != "open" else (),
            right=LETTERS[found.right] if self._answers == "structured" else None,
            evidence=tuple(f"{self._show.name}/{turn}" for turn in found.evidence),
            evidence_sessions=self._sessions(found, scene),
        )

    def _place_of(self, planned: Planned) -> _Place:
        try:
            return self._places[planned.episode, planned.scene]
        except KeyError:
            raise InputError(f"the plan names {planned.episode!r}, scene {planned.scene}, which is not there") from None

    def _candidate(self, scene: Scene, planned: Planned) -> Candidate:
        for candidate in scene.hard.get(planned.bucket) or scene.easy.get(planned.bucket, ()):
            if candidate.place == planned.place and candidate.right is not None:
                return candidate
        raise InputError(f"the plan names the {planned.bucket} question {planned.place} of a scene that has none such")

    def _sessions(self, found: Candidate, scene: Scene) -> tuple[str, ...]:
        """Return the sessions of the evidence: of its turns where they are known, else of its dates, until now."""
        if found.evidence:
            return tuple(dict.fromkeys(f"{self._show.name}/{turn.partition(':')[0]}" for turn in found.evidence))
        seen = (one for one in self._scenes if one.ordinal <= scene.ordinal)
        return tuple(self._session(one) for one in seen if one.date in found.dates)


def _spoken(scene: Scene, utterances: int) -> int:
    """Return how many of the first utterances say anything; a name alone is no turn."""
    return sum(bool(one.text) for one in scene.utterances[:utterances])


def _shown(asked: str, options: tuple[str, ...], answers: AnswerFormat) -> str:
    if answers == "structured":
        return "\n".join([asked, *(f"\t({letter}) {text}" for letter, text in zip(LETTERS, options, strict=True))])
    if answers == "unstructured":
        return f"{asked} {' '.join(f'{option}? or' for option in options[:-1])} you don't know?"
    return asked
