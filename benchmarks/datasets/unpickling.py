"""Pickles from others: containers, texts and numbers are read, and nothing in them is ever called.

A pickle is a program. One that names anything to be imported is refused, but for `set` and `frozenset`, which old
pickles have to name; all else that data needs is part of the format itself.
"""

from __future__ import annotations

import io
import pickle
from typing import Any

from amem.errors import InputError

_ALLOWED = {"set": set, "frozenset": frozenset}
_BUILTINS = ("builtins", "__builtin__")
_DAMAGED = (
    EOFError, IndexError, KeyError, ValueError, TypeError, AttributeError, OverflowError, MemoryError, RecursionError,
    pickle.UnpicklingError,
)  # fmt: skip
"""What Python's unpickler raises where the bytes are no pickle, by the byte it stumbles over."""


def unpickle(data: bytes, name: str) -> Any:
    """Return a pickle's value.

    Args:
        data: the pickle.
        name: of its file, for messages.

    Raises:
        InputError: it is damaged, or would import something.
    """
    try:
        return _DataOnly(data, name).load()
    except InputError:
        raise
    except _DAMAGED as error:
        raise InputError(f"{name} is no pickle that can be read: {type(error).__name__}: {error}") from error


class _DataOnly(pickle.Unpickler):
    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(io.BytesIO(data))
        self._name = name

    def find_class(self, module: str, name: str) -> Any:
        """Return one of the two types that data may name."""
        if module in _BUILTINS and name in _ALLOWED:
            return _ALLOWED[name]
        raise InputError(
            f"{self._name} asks for {module}.{name}, which plain data does not need. It was not read: a pickle can"
            " run any code. If you trust it, turn it into JSON elsewhere and give the JSON file"
        )
