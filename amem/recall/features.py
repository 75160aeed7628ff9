"""What speaks for a note: a dozen named features, each a number, and the few weights that add them up.

The weights are those of a listwise logistic model fitted on LoCoMo's conversations 26, 30 and 41; docs/recall.md says
what each feature adds, and what was tried besides.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from amem.recall.layout import NOBODY, OFFSETS
from amem.recall.words import asks_when, named

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from numpy.typing import NDArray

    from amem.recall.layout import View
    from amem.recall.timefocus import Span

    Floats = NDArray[np.float64]
    Rows = NDArray[np.int64]

WEIGHTS: Mapping[str, float] = {
    "dense": 0.62, "dense-2": 0.23, "dense-1": 0.31, "dense+1": 0.24, "dense+2": 0.04, "cover": 6.91,
    "session": 0.48, "speaker": 0.78, "asks": -0.90, "answers": 0.73, "time": 0.77, "when": 2.00, "date": 2.01,
}  # fmt: skip
WEIGHTS_WITHOUT_VECTORS: Mapping[str, float] = {
    "cover": 8.50, "session": 0.59, "speaker": 1.05, "asks": -0.84, "answers": 0.91, "time": 0.55, "when": 2.01,
    "date": 1.68,
}  # fmt: skip
NEARBY: Mapping[int, float] = {-1: 0.9, 1: 0.5, -2: 0.6, 2: 0.3}
"""What a word is worth to a note when it stands so many places away in the session."""
_K1, _B = 1.2, 0.6


class Lexical(NamedTuple):
    """The question's words, looked up in a view."""

    holders: tuple[Rows, ...]
    """For each word, the rows whose notes hold it."""
    idf: tuple[float, ...]
    """Of each word, over the notes of the view: ln(1 + (N - n + ½) / (n + ½))."""


def look_up(words: Sequence[str], postings: Sequence[NDArray[np.int64]], view: View) -> Lexical:
    """Turn ledger rows that hold each word into rows of the view; words with the same holders count once.

    A note also holds the words of its date.
    """
    holders: dict[bytes, Rows] = {}
    for word, rids in zip(words, postings, strict=True):
        rows, dated = view.rows(rids), view.rows_dated(word)
        if len(dated):
            rows = np.union1d(rows, dated)
        key = rows.tobytes() or f"unknown {len(holders)}".encode()
        holders.setdefault(key, rows)
    idf = [idf_of(len(rows), len(view)) for rows in holders.values()]
    return Lexical(tuple(holders.values()), tuple(idf))


def idf_of(holders: int, total: int) -> float:
    """Return the inverse document frequency of BM25 (Robertson and Zaragoza 2009, equation 3.15), never negative."""
    return math.log(1 + (total - holders + 0.5) / (holders + 0.5))


def cover(lexical: Lexical, view: View) -> Floats:
    """Return for every row the share of the question's idf that it, or what stands around it, holds; 0 to 1."""
    total = np.zeros(len(view))
    for rows, idf in zip(lexical.holders, lexical.idf, strict=True):
        has = np.zeros(len(view) + 1)  # the last place is the row "no such note"
        has[rows] = 1.0
        best = has[:-1].copy()
        for offset, worth in NEARBY.items():
            np.maximum(best, worth * has[view.around[offset]], out=best)
        total += idf * best
    share: Floats = total / max(sum(lexical.idf), 1e-9)
    return share


def own_cover(lexical: Lexical, view: View) -> Floats:
    """Return for every row the idf of the question's words that it holds itself: the lexical arm."""
    total = np.zeros(len(view))
    for rows, idf in zip(lexical.holders, lexical.idf, strict=True):
        total[rows] += idf
    return total


def session_scores(lexical: Lexical, view: View) -> Floats:
    """Return each session's BM25 for the question, a note counting once for each word it holds; by session number."""
    count = len(view.sessions)
    lengths = np.bincount(view.session[view.session != NOBODY], minlength=count).astype(float)
    norm = _K1 * (1 - _B + _B * lengths / max(lengths.mean() if count else 0.0, 1e-9))
    scores = np.zeros(count)
    for rows in lexical.holders:
        sessions = view.session[rows]
        held = np.bincount(sessions[sessions != NOBODY], minlength=count).astype(float)
        idf = idf_of(int(np.count_nonzero(held)), count)
        scores += idf * held * (_K1 + 1) / (held + norm)
    return scores


def standardised(values: Floats, over: Floats) -> Floats:
    """Return z-scores by the mean and spread of `over`."""
    if not len(over):
        return np.zeros_like(values)
    scores: Floats = (values - over.mean()) / max(float(over.std()), 1e-6)
    return scores


class Question(NamedTuple):
    """What is asked, as far as it can be read without a model."""

    text: str
    focus: Span | None
    now: datetime | None = None
    """What it is asked at, where that counts."""


def features(question: Question, view: View, lexical: Lexical, rows: Rows, cosines: Floats | None) -> dict[str, Floats]:
    """Return each feature's values over the candidates.

    Args:
        question: what is asked.
        view: the notes that may be found.
        lexical: the question's words, looked up in the view.
        rows: the candidates.
        cosines: of every row, NaN where it is not known; None where there are no vectors.
    """
    found = _dense(view, rows, cosines) if cosines is not None else {}
    found["cover"] = cover(lexical, view)[rows]
    found["session"] = _session(view, rows, lexical)
    who = named(question.text, view.speakers)
    number = view.speakers.index(who[0]) if len(who) == 1 else None
    found["speaker"] = (view.speaker[rows] == number).astype(float) if number is not None else np.zeros(len(rows))
    found["asks"] = view.asks[rows]
    before = view.around[-1][rows]
    found["answers"] = np.where(before != NOBODY, view.asks[before], 0.0)
    found["time"] = view.time_word[rows]
    found["when"] = view.time_word[rows] * float(asks_when(question.text))
    focus = question.focus
    near = [focus.nearness(view.moments[row]) for row in rows] if focus else np.zeros(len(rows))
    found["date"] = np.asarray(near, dtype=float)
    return found


def _dense(view: View, rows: Rows, cosines: Floats) -> dict[str, Floats]:
    """Return the standardised cosine of each candidate, and of the notes around it; 0 where there is none."""
    known = np.append(cosines, np.nan)  # the last place is the row "no such note"
    here = known[rows]
    scores = standardised(known, here[~np.isnan(here)])
    scores[np.isnan(scores)] = 0.0
    return {"dense": scores[rows], **{f"dense{k:+d}": scores[view.around[k][rows]] for k in OFFSETS}}


def recency(view: View, rows: Rows, now: datetime | None, half_life_days: float) -> Floats:
    """Return 1 for what happens now, and half as much for each half-life that lies between, before or after."""
    if now is None:
        return np.zeros(len(rows))
    days = np.array([abs((now - view.moments[row]).total_seconds()) / 86_400 for row in rows], dtype=float)
    fresh: Floats = 0.5 ** (days / half_life_days)
    return fresh


def _session(view: View, rows: Rows, lexical: Lexical) -> Floats:
    inside = view.session[rows] != NOBODY
    if not view.sessions:
        return np.zeros(len(rows))
    scores = np.where(inside, session_scores(lexical, view)[view.session[rows]], 0.0)
    values = standardised(scores, scores)
    values[~inside] = 0.0
    return values
