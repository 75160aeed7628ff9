"""LoCoMo (Maharana et al., ACL 2024, arXiv 2402.17753): the official file `locomo10.json`, read and checked.

What two people said is read, with the captions of the pictures they shared, and so are the questions. The
annotators' image searches, observations, summaries and event lists are not: they were made from the dialogue or for
it, and a memory that is given them has an easier task. The data is CC BY-NC 4.0 and no part of this project.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any, Literal

from amem.values import Frozen, Moment

from .checking import named, read
from .months import parse_locomo

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from .checking import Checked

SYNTHETIC = "synthetic-"
"""What the ids of generated conversations begin with."""
SHA256 = "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4"
"""Of the official file, the same since August 2024."""

Category = Literal[1, 2, 3, 4, 5]
CATEGORIES: dict[Category, str] = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
"""By the official code; some publications have them rotated."""

_SESSION = re.compile(r"session_(\d+)")
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")
_BETWEEN = re.compile(r"[;,\s]+")


class Turn(Frozen):
    """One thing said."""

    id: str
    """`D<session>:<number>`, as the questions cite it."""
    speaker: str
    text: str
    """As it was said, without outer white space."""
    caption: str | None = None
    """Of the picture shared with it."""
    has_image: bool = False

    @property
    def said(self) -> str:
        """The text with the caption, as a reader of the chat would have it."""
        return f"{self.text} [image: {self.caption}]" if self.caption else self.text


class Session(Frozen):
    """Turns of one meeting."""

    number: int
    at: Moment
    """The session's date; the file names no time zone, so UTC stands for it."""
    stated: str
    """The date in the file's own words."""
    turns: tuple[Turn, ...]


class Question(Frozen):
    """One question about a conversation."""

    index: int
    """Its place in the conversation's list; (conversation, index) names it."""
    question: str
    category: Category
    answer: str | None
    """None in the adversarial category, where the right answer is that nobody said so; two questions have one all
    the same."""
    adversarial_answer: str | None
    """The trap of an adversarial question: a wrong answer."""
    evidence: tuple[str, ...]
    """Ids of turns that exist, each once."""
    unresolved: tuple[str, ...] = ()
    """What stands in the file's evidence and names no turn."""


class Conversation(Frozen):
    """Two people over many sessions, and the questions about them."""

    id: str
    speakers: tuple[str, str]
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...]


class Locomo(Frozen):
    """The whole file."""

    conversations: tuple[Conversation, ...]
    sha256: str
    warnings: tuple[str, ...] = ()
    """What a result made from this file should carry along."""

    @property
    def synthetic(self) -> bool:
        """Whether all of it was generated."""
        ids = [conversation.id for conversation in self.conversations]
        return bool(ids) and all(name.startswith(SYNTHETIC) for name in ids)

    def conversation(self, name: str) -> Conversation:
        """Return the conversation of that id.

        Raises:
            InputError: there is none.
        """
        return named(self.conversations, name)


def load(path: Path) -> Locomo:
    """Read a file in the official schema.

    Raises:
        InputError: it cannot be read or departs from the schema, with the place: `[0].conversation.session_1[3]`.
    """
    root, data = read(path)
    digest = hashlib.sha256(data).hexdigest()
    found = Locomo(conversations=tuple(_conversation(item) for item in root.items()), sha256=digest)
    if digest == SHA256:
        return found
    generated = f"{path.name} is synthetic: generated texts in LoCoMo's format"
    other = f"{path.name} is not the official file: its SHA-256 is {digest}, not {SHA256}"
    return found.model_copy(update={"warnings": (generated if found.synthetic else other,)})


def repair_evidence(entries: Iterable[str], known: set[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the turns that evidence entries name, each once and in order, and what names none.

    Entries may hold several ids, a colon too many (`D:11:26`) or a leading zero (`D30:05`).
    """
    ids: dict[str, None] = {}
    unresolved: dict[str, None] = {}
    for part in (part for entry in entries for part in _BETWEEN.split(entry) if part):
        found = _EVIDENCE.fullmatch(part)
        turn = f"D{int(found[1])}:{int(found[2])}" if found else part
        (ids if turn in known else unresolved)[turn] = None
    return tuple(ids), tuple(unresolved)


def _conversation(item: Checked) -> Conversation:
    dialogue = item["conversation"]
    speakers = (dialogue["speaker_a"].text(), dialogue["speaker_b"].text())
    numbers = sorted(int(found[1]) for key in dialogue.names() if (found := _SESSION.fullmatch(key)))
    sessions = tuple(_session(dialogue, number, speakers) for number in numbers)
    known = {turn.id for session in sessions for turn in session.turns}
    questions = tuple(_question(index, asked, known) for index, asked in enumerate(item["qa"].items()))
    return Conversation(id=item["sample_id"].text(), speakers=speakers, sessions=sessions, questions=questions)


def _session(dialogue: Checked, number: int, speakers: tuple[str, str]) -> Session:
    """Read one session; dates for which there is no session are left alone."""
    stated = dialogue[f"session_{number}_date_time"]
    at = parse_locomo(stated.text())
    if at is None:
        raise stated.wrong("a date such as `1:56 pm on 8 May, 2023`")
    turns = dialogue[f"session_{number}"].items()
    return Session(
        number=number,
        at=at,
        stated=stated.text(),
        turns=tuple(_turn(turn, f"D{number}:{place}", speakers) for place, turn in enumerate(turns, start=1)),
    )


def _turn(turn: Checked, expected: str, speakers: tuple[str, str]) -> Turn:
    if turn["dia_id"].text() != expected:
        raise turn["dia_id"].wrong(f"the id {expected!r}")
    if turn["speaker"].text() not in speakers:
        raise turn["speaker"].wrong(f"one of {speakers}")
    caption = turn.get("blip_caption")
    return Turn(
        id=expected,
        speaker=turn["speaker"].text(),
        text=turn["text"].text().strip(),
        caption=caption.text().strip() if caption else None,
        has_image=turn.get("img_url") is not None,
    )


def _question(index: int, asked: Checked, known: set[str]) -> Question:
    category: Any = asked["category"].integer()
    if category not in CATEGORIES:
        raise asked["category"].wrong("a category from 1 to 5")
    answer, trap = asked.get("answer"), asked.get("adversarial_answer")
    if answer is None and category != 5:
        raise asked.wrong("an `answer`")
    evidence, unresolved = repair_evidence((entry.text() for entry in asked["evidence"].items()), known)
    return Question(
        index=index,
        question=asked["question"].text().strip(),
        category=category,
        answer=answer.text_or_number().strip() if answer else None,
        adversarial_answer=trap.text_or_number().strip() if trap else None,
        evidence=evidence,
        unresolved=unresolved,
    )
