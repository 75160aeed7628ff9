"""JSON that a person can review in a diff: text by lines, short things on one line, Unicode as it is.

A text of several lines is a list of lines, each with its line end, as in notebooks; any other text is plain.
The two forms cannot be confused: a true list that holds such a text holds it as a list.
"""

from __future__ import annotations

import json
import re
from typing import Any

_WIDTH = 100


def dump_reviewable(value: dict[str, Any]) -> str:
    """Serialise `value`, keeping the order of its keys.

    Raises:
        ValueError: it holds a number that JSON has no word for.
    """
    return _pretty(_split_lines(value), top=True) + "\n"


def load_reviewable(text: str) -> Any:
    """Read what `dump_reviewable` wrote.

    Raises:
        ValueError: it is no JSON.
    """
    return _join_lines(json.loads(text))


def _split_lines(value: Any) -> Any:
    if isinstance(value, str) and "\n" in value:
        return re.findall(r"[^\n]*\n|[^\n]+", value)
    if isinstance(value, (list, tuple)):
        return [_split_lines(item) for item in value]
    if isinstance(value, dict):
        return {key: _split_lines(item) for key, item in value.items()}
    return value


def _join_lines(value: Any) -> Any:
    if isinstance(value, list):
        if all(isinstance(item, str) for item in value) and "\n" in "".join(value[:1]):
            return "".join(value)
        return [_join_lines(item) for item in value]
    if isinstance(value, dict):
        return {key: _join_lines(item) for key, item in value.items()}
    return value


def _pretty(value: Any, indent: int = 0, *, top: bool = False) -> str:
    flat = json.dumps(value, ensure_ascii=False, allow_nan=False)
    fits = len(flat) + indent <= _WIDTH and "\\n" not in flat
    if not isinstance(value, (dict, list)) or not value or (fits and not top):
        return flat
    pad = " " * (indent + 2)
    if isinstance(value, dict):
        rows = [f"{json.dumps(k, ensure_ascii=False)}: {_pretty(v, indent + 2)}" for k, v in value.items()]
    else:
        rows = [_pretty(item, indent + 2) for item in value]
    begin, end = "{}" if isinstance(value, dict) else "[]"
    return begin + "\n" + ",\n".join(pad + row for row in rows) + "\n" + " " * indent + end
