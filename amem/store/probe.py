"""Looking at a Chroma that is not as it was closed: in a child process, since a damaged one kills who opens it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from amem.errors import IndexUnavailable
from amem.store.child import ChildFailed, run_child
from amem.store.chroma import ChromaIndex
from amem.store.folder import FOLDER

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SECONDS = 120.0
"""Importing chromadb alone takes 2 s, and 30 s on a machine under load; reading is .1 ms a vector."""
_EVERY = 100
_SAME = 0.999


def look(directory: Path) -> int:
    """Read every vector and search for some of each page; return how many there are.

    Raises:
        IndexUnavailable: something does not answer, or not what it should.
    """
    index = ChromaIndex.embedded(directory)
    seen = 0
    for name in sorted(index.names()):
        for ids, vectors in index.rows(name):
            _expect_found(index, name, ids[::_EVERY], vectors[::_EVERY])
            seen += len(ids)
    index.close()
    return seen


def _expect_found(index: ChromaIndex, name: str, ids: list[str], vectors: NDArray[np.float32]) -> None:
    """Search for vectors that are there: each must find itself, or its like."""
    for note_id, found in zip(ids, index.query(name, vectors, 1), strict=True):
        if not found or found[0].similarity < _SAME:
            raise IndexUnavailable(f"{name} has {note_id} and does not find it")


def probe(directory: Path, *, seconds: float = SECONDS) -> None:
    """Look at the database in `directory` from a child process.

    Raises:
        IndexUnavailable: the child found damage, died, or did not end in time.
    """
    if not (directory / FOLDER).exists():
        return
    try:
        run_child("amem.store.probe", str(directory), seconds=seconds)
    except ChildFailed as error:
        raise IndexUnavailable(f"Chroma is damaged: {error}") from error


def main() -> int:
    """Look at the directory named on the command line; the exit code says whether it is whole."""
    try:
        look(Path(sys.argv[1]))
    except IndexUnavailable as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
