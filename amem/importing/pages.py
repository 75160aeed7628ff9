"""Folders of Markdown pages, as memories for people are kept in: front matter, then text."""

from __future__ import annotations

import os
import re
from datetime import date
from typing import TYPE_CHECKING, Any, TypeVar

import yaml

from amem.importing.foreign import refuse

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from amem.importing.foreign import Reader

_FRONT = re.compile(r"\A---[ \t]*\r?\n(?P<front>.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)


class _Plain(yaml.SafeLoader):  # type: ignore[misc] # PyYAML has no types
    """Plain values only: an alias could make a few lines into a value of gigabytes."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Refuse aliases."""
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not read")
        return super().compose_node(parent, index)


class Page:
    """One file: what its front matter says, and the text after it."""

    def __init__(self, key: str, text: str, changed_at: float) -> None:
        self.key = key
        """The path within the folder."""
        self.changed_at = changed_at
        self.front: dict[str, Any] = {}
        self.problem: str | None = None
        found = _FRONT.match(text)
        if found is not None:
            try:
                value = yaml.load(found["front"], _Plain)  # noqa: S506 - a SafeLoader, and less
                self.front = value if isinstance(value, dict) else {}
            except (yaml.YAMLError, ValueError, RecursionError) as error:
                self.problem = f"its front matter cannot be read: {' '.join(str(error).split())[:200]}"
        self.body = text if found is None else text[found.end() :]

    @property
    def stem(self) -> str:
        """The file's name without its ending."""
        return self.key.rpartition("/")[2][:-3]


P = TypeVar("P", bound=Page)


def pages(folder: Path, reader: Reader, kind: type[P]) -> list[P]:
    """Return the Markdown files of a folder, and of those in it, in order of paths; hidden ones are left out.

    Args:
        folder: the folder.
        reader: told what cannot be read.
        kind: what a file is read as.

    Raises:
        InputError: it is no folder, or holds no Markdown file.
    """
    if not folder.is_dir():
        raise refuse(folder, "it is no folder")
    found = [kind(*file) for file in _files(folder, reader)]
    if not found:
        raise refuse(folder, "there is no Markdown file in it")
    return found


def _files(folder: Path, reader: Reader) -> Iterator[tuple[str, str, float]]:
    """Yield (path within the folder, text, time of its last change), in order of paths."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if name.startswith(".") or not name.lower().endswith(".md"):
                continue
            path = folder.__class__(place) / name
            key = path.relative_to(folder).as_posix()
            try:
                yield key, path.read_bytes().decode("utf-8-sig"), path.stat().st_mtime
            except OSError as error:
                reader.skip(key, f"it cannot be read: {error.strerror or error}")
            except UnicodeDecodeError:
                reader.skip(key, "it is not UTF-8")


def as_json(value: Any) -> Any:
    """Return a value of a front matter as JSON has it."""
    if isinstance(value, date):  # a datetime is one
        return value.isoformat()
    if isinstance(value, dict):
        return {str(key): as_json(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [as_json(inner) for inner in value]
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)
