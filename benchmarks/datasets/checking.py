"""Data from others, read with the place of whatever is wrong in it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from amem.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

_KINDS = {
    dict: "an object", list: "a list", tuple: "a list", str: "text", bool: "true or false", int: "a number",
    float: "a number",
}  # fmt: skip
_PLAIN = re.compile(r"\w+")
_LONE = re.compile(r"[\ud800-\udfff]")
_NUMBER = re.compile(r"-?[0-9]{1,18}")


class Named(Protocol):
    """Something with an id."""

    @property
    def id(self) -> str:
        """What it is called by."""
        ...


T = TypeVar("T", bound=Named)


def named(conversations: Sequence[T], name: str) -> T:
    """Return the conversation of that id.

    Raises:
        InputError: there is none.
    """
    found = {conversation.id: conversation for conversation in conversations}
    if name not in found:
        raise InputError(f"there is no conversation {name!r}; there are {', '.join(found)}")
    return found[name]


def read(path: Path) -> tuple[Checked, bytes]:
    """Return a JSON file's value, and its bytes.

    Raises:
        InputError: it cannot be read, or is not JSON.
    """
    try:
        data = path.read_bytes()
        return Checked(json.loads(data), str(path)), data
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not JSON: {error}") from error


class Checked:
    """A value made of objects, lists, texts and numbers, and where it stands in its file."""

    __slots__ = ("_file", "_key", "_parent", "_value")

    def __init__(self, value: Any, file: str, parent: Checked | None = None, key: str | int = "") -> None:
        self._value = value
        self._file = file
        self._parent = parent
        self._key = key

    @property
    def place(self) -> str:
        """Where it stands: `[0].conversation.session_1[3]`; empty for the whole file."""
        if self._parent is None:
            return ""
        plain = isinstance(self._key, str) and _PLAIN.fullmatch(self._key)
        return f"{self._parent.place}{f'.{self._key}' if plain else f'[{self._key!r}]'}".removeprefix(".")

    def wrong(self, expected: str) -> InputError:
        """Return the error that this value is not what was expected."""
        found = _KINDS.get(type(self._value), "null" if self._value is None else type(self._value).__name__)
        shown = f" {self._value!r}" if isinstance(self._value, (str, int, float)) else ""
        return InputError(f"{self._file}: {self.place or 'the file'}: expected {expected}, found {found}{shown[:80]}")

    def __getitem__(self, key: str | int) -> Checked:
        """Return the value under `key`.

        Raises:
            InputError: this is no object, or has no such key.
        """
        found = self.get(key)
        if found is None:
            raise self.wrong(f"an object with the key {key!r}") from None
        return found

    def get(self, key: str | int) -> Checked | None:
        """Return the value under `key`, or None where there is no such key.

        Raises:
            InputError: this is no object.
        """
        if not isinstance(self._value, dict):
            raise self.wrong("an object")
        if key not in self._value:
            return None
        return Checked(self._value[key], self._file, self, key)

    def entry(self, key: str | int) -> Checked | None:
        """Return what stands under a key or at a place, or None; in JSON whole numbers are texts as keys."""
        value = self._value
        if isinstance(value, dict):
            found = key if key in value else str(key)
            return Checked(value[found], self._file, self, found) if found in value else None
        if isinstance(value, (list, tuple)) and isinstance(key, int) and 0 <= key < len(value):
            return Checked(value[key], self._file, self, key)
        return None

    def json(self) -> str:
        """Return this as JSON, with keys in their order.

        Raises:
            InputError: JSON has nothing like it.
        """
        try:
            return json.dumps(self._value, separators=(",", ":"))
        except (TypeError, ValueError, RecursionError) as error:
            raise self.wrong(f"something that JSON can hold ({error})") from error

    def names(self) -> list[str]:
        """Return an object's keys.

        Raises:
            InputError: this is no object.
        """
        if not isinstance(self._value, dict):
            raise self.wrong("an object")
        if not all(isinstance(name, str) for name in self._value):
            raise self.wrong("an object whose keys are texts")
        return list(self._value)

    def numbered(self) -> Iterator[tuple[int, Checked]]:
        """Yield an object's whole-number keys with their values; in JSON such keys are texts.

        Raises:
            InputError: this is no object, or a key is something else.
        """
        if not isinstance(self._value, dict):
            raise self.wrong("an object")
        for key, value in self._value.items():
            found = Checked(value, self._file, self, key)
            if isinstance(key, bool) or not (isinstance(key, int) or (isinstance(key, str) and _NUMBER.fullmatch(key))):
                raise self.wrong(f"whole numbers as keys, not {key!r},")
            yield int(key), found

    def items(self) -> Iterator[Checked]:
        """Yield a list's values.

        Raises:
            InputError: this is no list.
        """
        if not isinstance(self._value, (list, tuple)):
            raise self.wrong("a list")
        return (Checked(item, self._file, self, place) for place, item in enumerate(self._value))

    def text(self) -> str:
        """Return this text.

        Raises:
            InputError: it is something else.
        """
        if not isinstance(self._value, str):
            raise self.wrong("text")
        if not self._value.isascii() and _LONE.search(self._value):
            raise self.wrong("text that UTF-8 can hold")
        return self._value

    def integer(self) -> int:
        """Return this whole number.

        Raises:
            InputError: it is something else.
        """
        if not isinstance(self._value, int) or isinstance(self._value, bool):
            raise self.wrong("a whole number")
        return self._value

    def text_or_number(self) -> str:
        """Return this text or number, as text.

        Raises:
            InputError: it is something else.
        """
        if isinstance(self._value, (int, float)) and not isinstance(self._value, bool):
            return str(self._value)
        return self.text()

    def number(self) -> float:
        """Return this number; true and false are 1 and 0, as metrics write them.

        Raises:
            InputError: it is something else.
        """
        if not isinstance(self._value, (int, float)):
            raise self.wrong("a number")
        return float(self._value)

    def truth(self) -> bool:
        """Return this true or false.

        Raises:
            InputError: it is something else.
        """
        if not isinstance(self._value, bool):
            raise self.wrong("true or false")
        return self._value
