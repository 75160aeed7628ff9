"""Looking for what was forgotten, on every path: tables, full text, vectors, files byte by byte, caches."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from amem.store import remains
from amem.store.folder import FOLDER
from amem.store.receipt import Searched

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from amem.rooms import Rooms
    from amem.store.receipt import Receipt

MOST = 32
"""Texts that are looked for; with more, every so many-th."""
_LENGTH = 40
_LEAST = 12
"""Characters: a shorter piece is found in anything."""
_PLAIN = re.compile(r'[^"\\\x00-\x1f\x7f]+')
OUT_OF_REACH = "recordings, results of benchmarks, backups, snapshots of the file system and logs are not amem's"


@dataclass(frozen=True)
class Looked:
    """What will be looked for: pieces of the texts that are about to be forgotten."""

    pieces: tuple[str, ...]

    @classmethod
    def before(cls, rooms: Rooms, box: str, note_ids: Sequence[str] | None) -> Looked:
        """Choose the pieces while the notes are still there."""
        contents = remains.contents(rooms.ledger.database, box, note_ids)
        some = contents[:: max(1, -(-len(contents) // MOST))]
        return cls(tuple(dict.fromkeys(piece for text in some for piece in _pieces(text))))


def _pieces(text: str) -> Iterator[str]:
    """Yield a piece of a text that stands in every encoding of it as it is: no quotes, no line breaks."""
    runs = [run.strip() for run in _PLAIN.findall(text)]
    longest = max(runs, key=len, default="")
    if len(longest) >= _LEAST:
        start = (len(longest) - _LENGTH) // 2 if len(longest) > _LENGTH else 0
        yield longest[start : start + _LENGTH]


def search_for(rooms: Rooms, box: str, looked: Looked, receipt: Receipt) -> tuple[Searched, ...]:
    """Look for forgotten texts, and for the notes' ids where only those can be found."""
    database, erased = rooms.ledger.database, receipt.erased
    others = remains.held_by_others(database, looked.pieces)
    pieces = [piece for piece in looked.pieces if piece not in others]
    about = f"{len(pieces)} texts looked for"
    if others:
        about += f"; {len(others)} more stand in other notes too"
    tables = remains.tables_with(database, pieces, erased)
    words = remains.full_text_with(database, pieces)
    found = [
        _place("ledger tables", tables, about),
        _place("full text", words, about),
        _place("vectors", rooms.vectors.vectors_of(erased)[0], f"{len(erased)} notes looked for"),
        _place("caches in memory", _cached(rooms, box, erased), f"{len(erased)} notes looked for"),
    ]
    return (*found, *_files(rooms, pieces, erased, about), _server(rooms), _nobody())


def _place(place: str, found: Sequence[str], about: str) -> Searched:
    if not found:
        return Searched(place=place, result="clean", remark=about)
    return Searched(place=place, result="found", remark=f"still in {', '.join(found[:5])}")


def _cached(rooms: Rooms, box: str, erased: Sequence[str]) -> list[str]:
    """Return what the copies in memory that searches read still hold."""
    view = rooms.layouts.view(box)
    return [note_id for note_id in erased if note_id in view.row_of]


def _files(rooms: Rooms, pieces: Sequence[str], erased: Sequence[str], about: str) -> Iterator[Searched]:
    """Search every byte under the memory's directory; Chroma never knew texts, but ids."""
    ids = erased[:: max(1, -(-len(erased) // MOST))]
    files = sorted(path for path in rooms.directory.rglob("*") if path.is_file())
    chroma = rooms.directory / FOLDER
    groups = {
        "files of the ledger": [path for path in files if path.name.startswith("ledger.db")],
        "files of Chroma": [path for path in files if path.is_relative_to(chroma)],
    }
    groups["other files"] = [path for path in files if not any(path in some for some in groups.values())]
    looks = [(some, [*pieces, *(ids if place == "files of Chroma" else [])]) for place, some in groups.items()]
    try:
        found = _holding(looks)
    except (OSError, subprocess.SubprocessError) as error:
        yield Searched(place="files", result="not searched", remark=f"no child process could read them: {error}")
        return
    for place, paths in zip(groups, found, strict=True):
        yield _place(place, [str(path.relative_to(rooms.directory)) for path in paths], about)


def _holding(looks: Sequence[tuple[Sequence[Path], Sequence[str]]]) -> list[list[Path]]:
    """Return which files hold any of their texts, as a child process finds: see `looking` for why none of ours may."""
    asked = json.dumps([[[str(path) for path in files], list(texts)] for files, texts in looks])
    command = [sys.executable, "-I", "-S", str(Path(__file__).with_name("looking.py"))]
    child = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)  # noqa: S603 - our own file
    return [[Path(path) for path in paths] for paths in json.loads(child.stdout)]


def _server(rooms: Rooms) -> Searched:
    if rooms.settings.chroma_url is not None and rooms.settings.chroma:
        return Searched(place="Chroma server", result="not searched", remark="a server's own files are out of reach")
    if not rooms.ledger.database.is_sqlite:
        return Searched(place="database server", result="not searched", remark="a server's own files are out of reach")
    return Searched(place="servers", result="clean", remark="none is used")


def _nobody() -> Searched:
    return Searched(place="elsewhere", result="not searched", remark=OUT_OF_REACH)
