"""An embedded Chroma's folder: which database it has, what was never meant to be in its files, and its removal."""

from __future__ import annotations

import shutil
from contextlib import suppress
from typing import TYPE_CHECKING

from amem.store.guard import guarded

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = "chroma"
_SAVED = "index_metadata.pickle"
"""Chroma writes it when it first saves a graph, and reads the files of no graph without it."""
_HEADER = "header.bin"


def identity(folder: Path | None) -> tuple[int, int] | None:
    """Tell a folder's database from another of the same name."""
    if folder is None:
        return None
    try:
        found = (folder / "chroma.sqlite3").stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


class Graphs:
    """The graphs in an embedded Chroma's folder; a server's are its own matter."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._blank: dict[Path, int] = {}
        """Files of zeros, and when they were written."""

    def blank(self) -> None:
        """Write zeros over the graphs that were never saved (P6); nobody may be saving one meanwhile.

        Chroma makes their files as large as memory was set aside, and of whatever was in that memory before: scraps of
        texts, which may be forgotten later.
        """
        folders = () if self._folder is None else [path for path in self._folder.iterdir() if path.is_dir()]
        unsaved = [folder for folder in folders if not (folder / _SAVED).exists()]
        for file in [path for folder in unsaved for path in folder.iterdir() if path.name != _HEADER]:
            with suppress(FileNotFoundError):  # its collection may have been dropped
                if self._blank.get(file) != file.stat().st_mtime_ns:
                    _fill_with_zeros(file)
                    self._blank[file] = file.stat().st_mtime_ns


def _fill_with_zeros(file: Path) -> None:
    content = file.read_bytes()
    if any(content):
        with file.open("r+b") as opened:
            opened.write(bytes(len(content)))


def remove(directory: Path) -> None:
    """Delete an embedded database that nobody has open.

    Raises:
        IndexUnavailable: it cannot be deleted.
    """
    with guarded("be removed"):
        if (directory / FOLDER).exists():
            shutil.rmtree(directory / FOLDER)
