"""Who holds a directory's Chroma: one process at a time, since two writers corrupt it (FACTS.md, P3).

The lock is the operating system's, on an open file, so it ends with the process that holds it, however that dies. The
file's content is the crash marker: the holder's process id, and after a clean close a seal of what was closed. Where
the seal does not fit what is found, somebody else had a hand in it: a file lost or damaged, another version of Chroma,
a backup put back.
"""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING

from amem.errors import IndexUnavailable
from amem.store.folder import FOLDER

if TYPE_CHECKING:
    from pathlib import Path

LOCK_FILE = "amem.lock"


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that has the lock; `pid` is None where it has not written it yet."""

    pid: int | None

    def __str__(self) -> str:
        """Name the process for a message."""
        return "another process" if self.pid is None else f"process {self.pid}"


class IndexLock:
    """The right to open a directory's Chroma; made by `acquire`."""

    def __init__(self, file: int, directory: Path) -> None:
        self.was_dirty = _content(file) != _seal(directory)
        """The last holder did not close, or what it closed is not what is there now: it may be damaged."""
        self._directory = directory
        self._file: int | None = file
        self._pid = os.getpid()

    @classmethod
    def acquire(cls, directory: Path) -> IndexLock | Holder:
        """Take the lock without waiting, or say who has it.

        Raises:
            IndexUnavailable: the lock file cannot be made or locked here (read-only, or a file system without locks).
        """
        path = directory / LOCK_FILE
        file = -1
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            if not _try_lock(file):
                return Holder(_pid_in(_content(file)))
            lock = cls(file, directory)
            _replace(file, f"{os.getpid()}\n".encode())
        except OSError as error:
            raise IndexUnavailable(f"{path} cannot be locked: {error.strerror}") from error
        else:
            file = -1  # it is the lock's from here on
            return lock
        finally:
            if file != -1:
                os.close(file)

    def release(self, *, clean: bool = True) -> None:
        """Give the lock back; `clean=False` leaves the mark that what it guarded must be looked at first."""
        if self._file is None:
            return
        file, self._file = self._file, None
        try:
            # A forked child has the same lock: it may only let go of its copy.
            if os.getpid() == self._pid:
                if clean:
                    _replace(file, _seal(self._directory))
                _unlock(file)
        finally:
            os.close(file)


def _content(file: int) -> bytes:
    os.lseek(file, 0, os.SEEK_SET)
    return os.read(file, 128)


def _replace(file: int, content: bytes) -> None:
    os.ftruncate(file, 0)
    os.lseek(file, 0, os.SEEK_SET)
    os.write(file, content)
    os.fsync(file)


def _seal(directory: Path) -> bytes:
    """Return what tells a closed Chroma from any other: its version, and every file with its size and time.

    That takes no reading of the files, and so does not see a disk that loses bits; the doctor does.
    """
    folder = directory / FOLDER
    files = sorted((str(path.relative_to(folder)), path.stat()) for path in folder.rglob("*") if path.is_file())
    if not files:
        return b""
    seen = [version("chromadb"), *(f"{name} {stat.st_size} {stat.st_mtime_ns}" for name, stat in files)]
    return b"closed " + hashlib.sha256("\n".join(seen).encode("utf-8", "surrogateescape")).hexdigest()[:32].encode()


def _pid_in(content: bytes) -> int | None:
    digits = content.strip()
    return int(digits) if digits.isdigit() else None


if sys.platform == "win32":
    import msvcrt

    _BYTE = 1 << 30  # far behind the content, which others must be able to read

    def _try_lock(file: int) -> bool:
        os.lseek(file, _BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

    def _unlock(file: int) -> None:
        os.lseek(file, _BYTE, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _try_lock(file: int) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _unlock(file: int) -> None:
        fcntl.flock(file, fcntl.LOCK_UN)
