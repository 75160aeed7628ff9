"""DialSim's other names: its main characters' names swapped or replaced, so that no model answers from the television.

The names and the way of replacing them, text by text and also inside other words, are the simulator's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from amem.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Names = Literal["original", "shuffle", "new_name"]

_SHUFFLED: Mapping[str, Mapping[str, str]] = {
    "friends": {"Monica": "Joey", "Chandler": "Rachel", "Joey": "Monica", "Phoebe": "Ross", "Rachel": "Chandler",
                "Ross": "Phoebe"},
    "bigbang": {"Howard": "Amy", "Leonard": "Howard", "Raj": "Penny", "Penny": "Raj", "Bernadette": "Sheldon",
                "Amy": "Leonard", "Sheldon": "Bernadette"},
    "theoffice": {"Dwight": "Ryan", "Jim": "Michael", "Pam": "Dwight", "Ryan": "Jim", "Michael": "Pam"},
}  # fmt: skip
_NEW: Mapping[str, Mapping[str, str]] = {
    "friends": {"Monica": "Patricia", "Chandler": "James", "Joey": "John", "Phoebe": "Jennifer", "Rachel": "Linda",
                "Ross": "Robert"},
    "bigbang": {"Howard": "Robert", "Leonard": "James", "Raj": "Michael", "Penny": "Jennifer", "Bernadette": "Linda",
                "Amy": "Patricia", "Sheldon": "John"},
    "theoffice": {"Dwight": "John", "Jim": "Robert", "Pam": "Jennifer", "Ryan": "William", "Michael": "James"},
}  # fmt: skip


def renamer(show: str, names: Names) -> Callable[[str], str]:
    """Return what puts a show's other names into a text.

    Raises:
        InputError: the show has no other names.
    """
    if names == "original":
        return lambda text: text
    tables = _SHUFFLED if names == "shuffle" else _NEW
    if show not in tables:
        raise InputError(f"there are no other names for the show {show!r}; there are some for {', '.join(tables)}")
    table = tables[show]

    def renamed(text: str) -> str:
        for place, old in enumerate(table):
            text = text.replace(old, f"[MASK {place}]")  # else a swap would swap back
        for place, new in enumerate(table.values()):
            text = text.replace(f"[MASK {place}]", new)
        return text

    return renamed
