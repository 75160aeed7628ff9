"""JSON from others, read with the place of whatever is wrong in it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from amem.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_KINDS = {dict: "an object", list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}


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
    """A JSON value and where it stands in its file."""

    def __init__(self, value: Any, file: str, path: str = "") -> None:
        self._value = value
        self._file = file
        self._path = path

    def wrong(self, expected: str) -> InputError:
        """Return the error that this value is not what was expected."""
        found = _KINDS.get(type(self._value), "null")
        shown = f" {self._value!r}" if isinstance(self._value, (str, int, float)) else ""
        return InputError(f"{self._file}: {self._path or 'the file'}: expected {expected}, found {found}{shown[:80]}")

    def __getitem__(self, key: str) -> Checked:
        """Return the value under `key`.

        Raises:
            InputError: this is no object, or has no such key.
        """
        found = self.get(key)
        if found is None:
            raise self.wrong(f"an object with the key {key!r}") from None
        return found

    def get(self, key: str) -> Checked | None:
        """Return the value under `key`, or None where there is no such key.

        Raises:
            InputError: this is no object.
        """
        if not isinstance(self._value, dict):
            raise self.wrong("an object")
        if key not in self._value:
            return None
        return Checked(self._value[key], self._file, f"{self._path}.{key}".removeprefix("."))

    def names(self) -> list[str]:
        """Return an object's keys.

        Raises:
            InputError: this is no object.
        """
        if not isinstance(self._value, dict):
            raise self.wrong("an object")
        return list(self._value)

    def items(self) -> Iterator[Checked]:
        """Yield a list's values.

        Raises:
            InputError: this is no list.
        """
        if not isinstance(self._value, list):
            raise self.wrong("a list")
        return (Checked(item, self._file, f"{self._path}[{i}]") for i, item in enumerate(self._value))

    def text(self) -> str:
        """Return this text.

        Raises:
            InputError: it is something else.
        """
        if not isinstance(self._value, str):
            raise self.wrong("text")
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
