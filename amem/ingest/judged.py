"""Judged pairs: from what a model names and says of two notes to what code links and changes.

A small model names what two notes tell of better than it says whether it is the same, and it rewrites whatever it may
rewrite. So a link is made where it says "yes" or names the same thing twice, and a note that something has become of
keeps its context, with what the new note is known for behind it, dated.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amem.model import Note
    from amem.replies import JudgedChange, JudgedLink, JudgedWindowPair

FOLLOWS = "goes on"
"""How a new note is related to one of the same thing, where the model was not asked to say it."""
MOST_NEWS = 3
"""Later notes told behind a context; the oldest gives way to the next."""
MAX_NEWS = 240
"""Characters of one of them."""

_NEWS = re.compile(r"\s*\[\d{4}-\d\d-\d\d: [^\[\]]*\]")
_WORD = re.compile(r"\w+")
_NOTHING = re.compile(r"(?:nothing|none|no change|repeated|same)\b", re.IGNORECASE)


def is_same(pair: JudgedLink | JudgedWindowPair) -> bool:
    """Whether two notes tell of the same thing, and are to be linked."""
    return pair.same == "yes" or _plain(pair.older) == _plain(pair.newer) != ""


def is_news(pair: JudgedChange | JudgedWindowPair) -> bool:
    """Whether something has become of what the older note tells of."""
    then = pair.then.strip()
    return is_same(pair) and bool(then) and _NOTHING.match(then) is None


def told_since(older: Note, newer: Note) -> str:
    """Return the context of an older note with what a newer one tells behind it."""
    news = " ".join((_NEWS.sub("", newer.context) or newer.content).replace("[", "(").replace("]", ")").split())
    shortened = news if len(news) <= MAX_NEWS else f"{news[:MAX_NEWS]}…"
    so_far = [found.group().strip() for found in _NEWS.finditer(older.context)]
    since = [*so_far, f"[{newer.occurred_at:%Y-%m-%d}: {shortened}]"][-MOST_NEWS:]
    return " ".join([_NEWS.sub("", older.context), *since]).strip()


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))
