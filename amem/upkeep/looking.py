"""Which files hold any of some texts, byte by byte: a program of its own, which is not to be imported.

A process that closes a file gives up every lock it has on it, those of its SQLite connections as well (POSIX; "How To
Corrupt An SQLite Database File", 2.2). So whoever has a ledger open must not open its files besides, and has them read
by a child.
"""

from __future__ import annotations

import json
import mmap
import sys
from pathlib import Path


def holds(path: str, needles: list[bytes]) -> bool:
    """Whether a file holds any of the needles; one that is gone, or empty, holds none."""
    try:
        with Path(path).open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return any(data.find(needle) >= 0 for needle in needles)
    except (FileNotFoundError, ValueError):  # an empty file cannot be mapped
        return False


def main() -> None:
    """Read pairs of paths and texts as JSON, and write for each pair the paths that hold any of its texts."""
    found = [
        [path for path in paths if holds(path, [text.encode("utf-8", "surrogatepass") for text in texts])]
        for paths, texts in json.load(sys.stdin)
    ]
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
