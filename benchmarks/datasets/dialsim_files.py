"""Where DialSim's data lies: nine pickles in a folder or a zip, or one JSON file with the same values.

In JSON, a part is a key named as its pickle (`friends_dialsim`), and whole numbers as keys are texts. Besides the
official parts a show may have `<show>_about`, as JSON: its agent, whether it was generated, and its evidence.
"""

from __future__ import annotations

import hashlib
import json
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from amem.errors import InputError

from .archive import Folder, Zip
from .checking import Checked, read
from .unpickling import unpickle

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path

    from .archive import Files

SUFFIX = "dialsim"
PARTS = (SUFFIX, "oracle_tkg", "oracle_fan", "about")


class Source(NamedTuple):
    """Where shows can be read from, one at a time: three of them at once would need gigabytes."""

    parts: dict[str, Callable[[], dict[str, Checked]]]
    """By show, what reads its parts; they have their names."""
    archive: str | None = None
    """The SHA-256 of the zip, where it was one."""


def source(path: Path, shows: Collection[str] = ()) -> Source:
    """Find some shows; all that are there, where none is named.

    Raises:
        InputError: a file cannot be read, or a show is not there.
    """
    if path.is_dir():
        inner = path / "data"  # where the official repository has them
        return _from_files(path, Folder(inner if inner.is_dir() else path), shows, None)
    if path.suffix.lower() == ".zip":
        return _from_files(path, Zip(path), shows, _hash(path))
    root, _ = read(path)
    return Source({show: partial(_of_mirror, root, show) for show in _chosen(path, root.names(), shows)})


def as_json(parts: Mapping[str, Checked], show: str) -> str:
    """Return a show's parts as JSON text, which needs no unpickling: the inside of an object, without its brackets.

    The same values give the same text, wherever they were read from; its hash names them.
    """
    return ",\n".join(f'"{show}_{part}": {parts[part].json()}' for part in PARTS if part in parts)


def _from_files(path: Path, files: Files, shows: Collection[str], archive: str | None) -> Source:
    pickles = [name.removesuffix(".pickle") for name in files.names() if name.endswith(".pickle")]
    return Source({show: partial(_of_files, path, files, show) for show in _chosen(path, pickles, shows)}, archive)


def _of_files(path: Path, files: Files, show: str) -> dict[str, Checked]:
    names = {part: f"{show}_{part}.{'json' if part == 'about' else 'pickle'}" for part in PARTS}
    there = {part: name for part, name in names.items() if name in files.names()}
    return {
        part: Checked(_value(files.read(name), f"{path}: {name}"), f"{path}: {name}") for part, name in there.items()
    }


def _of_mirror(root: Checked, show: str) -> dict[str, Checked]:
    found = {part: root.get(f"{show}_{part}") for part in PARTS}
    return {part: value for part, value in found.items() if value is not None}


def _value(data: bytes, name: str) -> Any:
    if not name.endswith(".json"):
        return unpickle(data, name)
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{name} is not JSON: {error}") from error


def _shows(names: Collection[str]) -> list[str]:
    return [name.removesuffix(f"_{SUFFIX}") for name in names if name.endswith(f"_{SUFFIX}")]


def _chosen(path: Path, names: Collection[str], shows: Collection[str]) -> list[str]:
    there = _shows(names)
    if not there:
        raise InputError(f"{path} has no DialSim data: no file or key such as friends_{SUFFIX}")
    missing = [show for show in shows if show not in there]
    if missing:
        raise InputError(f"{path} has no show {', '.join(missing)}; it has {', '.join(there)}")
    return sorted(show for show in there if not shows or show in shows)


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
