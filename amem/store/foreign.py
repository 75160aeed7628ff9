"""Reading a Chroma that is not ours: a copy of it, in a child process, since a damaged one kills who opens it.

Its database alone is copied: it has ids and metadata, and the files of its graphs are those that get damaged.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amem.errors import IndexUnavailable, InputError
from amem.store.child import ChildFailed, run_child
from amem.store.chroma import PAGE, opened
from amem.store.guard import guarded

if TYPE_CHECKING:
    from collections.abc import Iterator

SECONDS = 600.0
DATABASE = "chroma.sqlite3"


def rows(folder: Path, collection: str, workspace: Path) -> list[tuple[str, dict[str, Any]]]:
    """Return ids and metadata of a collection in the Chroma folder `folder`, which is not touched.

    Args:
        folder: the folder.
        collection: its name.
        workspace: where the copy is made; it is removed again.

    Raises:
        InputError: it cannot be copied, or not be read.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="import-", dir=workspace) as place:
            for path in folder.glob(f"{DATABASE}*"):
                shutil.copyfile(path, Path(place) / path.name)
            return list(_read_by_child(folder, Path(place), collection))
    except OSError as error:
        raise InputError(f"{folder} cannot be copied: {error.strerror or error}. Nothing was stored.") from error


def _read_by_child(folder: Path, copied: Path, collection: str) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        written = run_child("amem.store.foreign", str(copied), collection, seconds=SECONDS)
    except ChildFailed as error:
        raise InputError(f"{folder} cannot be read: {error}. Nothing was stored.") from error
    for line in written.splitlines():
        note_id, metadata = json.loads(line)
        yield note_id, metadata


def _pages(folder: Path, name: str) -> Iterator[Any]:
    """Yield the rows of a collection, page by page; nothing of its graph is touched."""
    with guarded("be opened"):
        client = opened(folder)
        collection = client.get_collection(name, embedding_function=None)
    for start in range(0, collection.count(), PAGE):
        with guarded("be read"):
            yield collection.get(include=["metadatas"], limit=PAGE, offset=start)


def main() -> int:
    """Write a collection as lines of JSON; the folder and the collection are named on the command line."""
    folder, collection = sys.argv[1:3]
    try:
        for page in _pages(Path(folder), collection):
            for row in zip(page["ids"], page["metadatas"], strict=True):
                sys.stdout.write(f"{json.dumps(row)}\n")
    except IndexUnavailable as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
