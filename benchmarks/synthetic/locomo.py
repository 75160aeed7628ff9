"""A synthetic data set in LoCoMo's format."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import TYPE_CHECKING, Any

from ..datasets.locomo import SYNTHETIC  # noqa: TID252 - in a wheel, this package has another name
from ..datasets.months import MONTHS  # noqa: TID252 - likewise
from .locomo_threads import ADVERSARIAL, KINDS, Asked, Thread, World, portrait
from .names import Names
from .portraits import PORTRAIT
from .size import WINDOW_WORDS
from .small_talk import remark, small_talk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .locomo_threads import Statement
    from .size import Shape

QUESTIONS = 200
"""In each conversation, where nothing else is asked for; as many as LoCoMo has."""
_WORDS = 21
"""In a turn, on average."""
_TURNS = 21
"""In a session, on average."""
_TOLD = 0.35
"""The share of turns in which a thread's statement is made."""
_SHARES = {1: 0.14, 2: 0.16, 3: 0.05, 4: 0.43, 5: 0.22}
"""Of the questions, by category; as in LoCoMo."""
_YEARS = 12
"""How long two people stay in touch; sessions are a week apart at most."""


def generate(shape: Shape) -> list[dict[str, Any]]:
    """Return the file's content.

    Args:
        shape: how much of it; the same shape gives the same content, on every machine.
    """
    shape = shape.checked()
    return [_Conversation(shape, number).content() for number in range(1, shape.conversations + 1)]


class _Conversation:
    """One conversation while it is made."""

    def __init__(self, shape: Shape, number: int) -> None:
        self._shape, self._number = shape, number
        self._random = Random(f"locomo {shape.seed} {number}")  # noqa: S311 - no secret; a text seeds alike everywhere
        names = Names(self._random)
        self._speakers = (names.new(), names.new())
        turns = max(6, round(shape.size * WINDOW_WORDS / _WORDS))
        self._lengths = _lengths(self._random, max(3, round(turns / _TURNS)), turns)
        self._days = _days(self._random, len(self._lengths))
        self._first = [self._random.randrange(2) for _ in self._lengths]
        self._room = [[_room(length, first == place) for place in (0, 1)]
                      for length, first in zip(self._lengths, self._first, strict=True)]  # fmt: skip
        self._world = World(self._random, names, self._speakers, self._days, self._sessions)

    def content(self) -> dict[str, Any]:
        threads = self._threads()
        ids, sessions = self._said(threads)
        dialogue: dict[str, Any] = {"speaker_a": self._speakers[0], "speaker_b": self._speakers[1]}
        for number, (day, turns) in enumerate(zip(self._days, sessions, strict=True), start=1):
            dialogue[f"session_{number}_date_time"] = _stated(self._random, day)
            dialogue[f"session_{number}"] = turns
        return {
            "synthetic": self._shape.about("LoCoMo", self._number),
            "sample_id": f"{SYNTHETIC}{self._number}",
            "conversation": dialogue,
            "qa": self._asked(threads, ids),
            "event_summary": {},
            "observation": {},
            "session_summary": {},
        }

    def _threads(self) -> list[Thread]:
        """Return threads until enough of the turns are taken."""
        kinds = [kind for kind, weight in KINDS.items() for _ in range(weight)]
        wanted = max(4, round(_TOLD * sum(self._lengths)))
        portraits = iter(self._random.sample(PORTRAIT, len(PORTRAIT)))
        found: list[Thread] = []
        told = 0
        while told < wanted:
            trait = next(portraits, None) if len(found) % 4 == 0 else None
            thread = self._random.choice(kinds)(self._world) if trait is None else portrait(self._world, trait)
            for statement in thread.statements:
                self._room[statement.session][statement.speaker] -= 1
            told += len(thread.statements)
            found.append(thread)
        return found

    def _sessions(self, count: int) -> list[int]:
        """Return different sessions, in order, those with room for either speaker first."""
        for _ in range(50):
            drawn = sorted(self._random.sample(range(len(self._room)), count))
            if all(min(self._room[session]) > 0 for session in drawn):
                return drawn
        return sorted(sorted(range(len(self._room)), key=lambda session: -min(self._room[session]))[:count])

    def _said(self, threads: Sequence[Thread]) -> tuple[dict[Statement, str], list[list[dict[str, Any]]]]:
        """Put the statements among small talk; return each statement's turn, and the sessions."""
        told: list[list[list[Statement]]] = [[[], []] for _ in self._lengths]
        for thread in threads:
            for statement in thread.statements:
                told[statement.session][statement.speaker].append(statement)
        ids: dict[Statement, str] = {}
        return ids, [self._session(session, statements, ids) for session, statements in enumerate(told)]

    def _session(self, session: int, told: list[list[Statement]], ids: dict[Statement, str]) -> list[dict[str, Any]]:
        speakers = self._alternating(session, told)
        turns: list[dict[str, Any]] = []
        waiting = [self._placed(told[place], speakers.count(place)) for place in (0, 1)]
        for number, speaker in enumerate(speakers, start=1):
            statement = waiting[speaker].pop()
            turn = {"speaker": self._speakers[speaker], "dia_id": f"D{session + 1}:{number}"}
            if statement is None:
                turns.append(turn | {"text": small_talk(self._random)})
                continue
            ids[statement] = turn["dia_id"]
            turns.append(turn | self._told(statement))
        return turns

    def _alternating(self, session: int, told: list[list[Statement]]) -> list[int]:
        """Return who speaks when: by turns, and as often as there is something to tell."""
        first = self._first[session]
        length = max(self._lengths[session], *(2 * len(told[place]) + 1 for place in (0, 1)))
        return [(first + number) % 2 for number in range(length)]

    def _placed(self, statements: list[Statement], turns: int) -> list[Statement | None]:
        filled: list[Statement | None] = [*statements, *[None] * (turns - len(statements))]
        self._random.shuffle(filled)
        return filled

    def _told(self, statement: Statement) -> dict[str, Any]:
        said = [statement.text, *([remark(self._random)] if self._random.random() < 0.7 else [])]
        self._random.shuffle(said)
        turn: dict[str, Any] = {"text": " ".join(said)}
        if statement.caption is not None:
            turn["img_url"] = [f"https://synthetic.invalid/{self._random.randrange(10**6)}.jpg"]
            turn["blip_caption"] = statement.caption
            turn["query"] = "synthetic: what an annotator would have searched for"
        return turn

    def _asked(self, threads: Sequence[Thread], ids: dict[Statement, str]) -> list[dict[str, Any]]:
        """Return the questions, in LoCoMo's shares as far as there are enough, the adversarial ones last."""
        pools: dict[int, list[tuple[Thread, Asked]]] = {category: [] for category in _SHARES}
        for thread in threads:
            for asked in thread.asked:
                pools[asked.category].append((thread, asked))
        count = self._shape.questions or QUESTIONS
        chosen: list[tuple[Thread, Asked]] = []
        for category, share in _SHARES.items():
            pool = self._random.sample(pools[category], len(pools[category]))
            pool.sort(key=lambda one: not one[0].plain)
            chosen += pool[: round(count * share)]
        self._random.shuffle(chosen)
        chosen.sort(key=lambda one: one[1].category == ADVERSARIAL)
        return [_qa(asked, [ids[thread.statements[place]] for place in asked.evidence]) for thread, asked in chosen]


def _qa(asked: Asked, evidence: list[str]) -> dict[str, Any]:
    name = "adversarial_answer" if asked.category == ADVERSARIAL else "answer"
    return {"question": asked.question, name: asked.answer, "evidence": evidence, "category": asked.category}


def _lengths(random: Random, sessions: int, turns: int) -> list[int]:
    mean = turns / sessions
    return [max(2, round(random.uniform(0.7, 1.3) * mean)) for _ in range(sessions)]


def _room(length: int, first: bool) -> int:
    """Return how much a speaker may tell in a session: half of the turns that are theirs."""
    return ((length + first) // 2 + 1) // 2


def _days(random: Random, sessions: int) -> list[date]:
    longest = max(1, min(7, _YEARS * 365 // sessions))
    day, days = date(2023, 1, 9), []
    for _ in range(sessions):
        day += timedelta(days=random.randint(1, longest))
        days.append(day)
    return days


def _stated(random: Random, day: date) -> str:
    at = datetime(day.year, day.month, day.day, random.randint(8, 21), random.randrange(60), tzinfo=UTC)
    half = "am" if at.hour < 12 else "pm"
    return f"{(at.hour - 1) % 12 + 1}:{at.minute:02} {half} on {day.day} {MONTHS[day.month - 1]}, {day.year}"
