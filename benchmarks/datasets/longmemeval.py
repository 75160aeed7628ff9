"""LongMemEval (Wu et al., ICLR 2025, arXiv 2410.10813): its JSON files, each question with a history of its own.

The files give evidence away: in the names of sessions, in marks on turns, in the ids of questions without an answer,
and by the order of sessions. Here sessions are sorted by date, every id is a number, and the marks are kept apart for
those who score.
"""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from .checking import read
from .conversation import Conversation, Dataset, Question, Turn

if TYPE_CHECKING:
    from pathlib import Path

    from .checking import Checked

TYPES = ("single-session-user", "single-session-assistant", "single-session-preference", "multi-session",
         "temporal-reasoning", "knowledge-update")  # fmt: skip
ABSTENTION = "_abs"
"""What the ids of questions end with that have no answer in their history."""
_DATE = re.compile(r"(\d{4})/(\d{2})/(\d{2}) \([A-Z][a-z]{2}\) (\d{2}):(\d{2})")


class _Said(NamedTuple):
    role: str
    text: str
    evidence: bool


class _Session(NamedTuple):
    id: str
    at: datetime
    stated: str
    said: list[_Said]


def load(path: Path) -> Dataset:
    """Read a file in the official form; a conversation for each question.

    Raises:
        InputError: it cannot be read or departs from the form, with the place: `[3].haystack_sessions[0][1].role`.
    """
    root, data = read(path)
    return Dataset(
        name="longmemeval",
        format="longmemeval",
        conversations=tuple(_conversation(number, record) for number, record in enumerate(root.items(), start=1)),
        sha256=hashlib.sha256(data).hexdigest(),
        warnings=("no published SHA-256 of LongMemEval's files is known here; nothing was compared",),
    )


def parse_date(text: str) -> datetime | None:
    """Read `2023/05/30 (Tue) 23:40`, whatever the locale; None where it is no such date."""
    found = _DATE.fullmatch(text.strip())
    if found is None:
        return None
    try:
        year, month, day, hour, minute = map(int, found.groups())
        return datetime(year, month, day, hour, minute, tzinfo=UTC)
    except ValueError:
        return None


def _conversation(number: int, record: Checked) -> Conversation:
    name = f"question-{number}"
    sessions = _sessions(record)
    turns: list[Turn] = []
    evidence: list[str] = []
    for place, session in enumerate(sessions, start=1):
        for count, said in enumerate(session.said, start=1):
            turn = f"{name}/{place}:{count}"
            turns.append(
                Turn(
                    id=turn, session=f"{name}/{place}", position=len(turns), speaker=said.role, text=said.text,
                    at=session.at, stated=session.stated,
                )
            )  # fmt: skip
            evidence += [turn] if said.evidence else []
    holding = {answer.text() for answer in record["answer_session_ids"].items()}
    where = [f"{name}/{place}" for place, session in enumerate(sessions, start=1) if session.id in holding]
    question = _question(name, record, len(turns), evidence, where)
    return Conversation(id=name, speakers=("user", "assistant"), turns=tuple(turns), questions=(question,))


def _question(name: str, record: Checked, after: int, evidence: list[str], sessions: list[str]) -> Question:
    """Return the question; one without an answer has no evidence either, as in the official recall."""
    kind, asked, official = (record[key].text().strip() for key in ("question_type", "question", "question_id"))
    if kind not in TYPES:
        raise record["question_type"].wrong(f"one of {', '.join(TYPES)}")
    answerable = not official.endswith(ABSTENTION)
    at, stated = _date(record["question_date"])
    return Question(
        conversation=name,
        index=0,
        question=asked,
        shown=f"{asked} (asked on {stated})",
        at=at,
        after=after,
        category=kind,
        answerable=answerable,
        gold=record["answer"].text_or_number().strip(),
        evidence=tuple(evidence) if answerable else (),
        evidence_sessions=tuple(sessions) if answerable else (),
        official_id=official,
    )


def _sessions(record: Checked) -> list[_Session]:
    """Return the history's sessions that have any text, sorted by date."""
    ids = list(record["haystack_session_ids"].items())
    dates = list(record["haystack_dates"].items())
    sessions = list(record["haystack_sessions"].items())
    if not len(ids) == len(dates) == len(sessions):
        raise record["haystack_sessions"].wrong(f"as many sessions as ids and dates ({len(ids)}, {len(dates)})")
    found = [
        _Session(name.text(), *_date(date), [said for turn in turns.items() if (said := _said(turn)).text])
        for name, date, turns in zip(ids, dates, sessions, strict=True)
    ]
    return sorted((session for session in found if session.said), key=lambda session: session.at)


def _said(turn: Checked) -> _Said:
    role = turn["role"].text()
    if role not in ("user", "assistant"):
        raise turn["role"].wrong("`user` or `assistant`")
    mark = turn.get("has_answer")
    return _Said(role, turn["content"].text().strip(), mark is not None and mark.truth())


def _date(date: Checked) -> tuple[datetime, str]:
    found = parse_date(date.text())
    if found is None:
        raise date.wrong("a date such as `2023/05/30 (Tue) 23:40`")
    return found, date.text()
