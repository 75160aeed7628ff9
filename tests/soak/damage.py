"""What may happen to Chroma's files while nobody has them open."""

from __future__ import annotations

import shutil

from amem.store.folder import FOLDER


def damage(directory, random):
    """Do something to Chroma's folder; tell what, or None where there is none."""
    folder = directory / FOLDER
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.stat().st_size)
    if not files:
        return None
    return random.choice((_remove, _truncate, _flip, _lose))(folder, random.choice(files), random)


def _remove(folder, _file, _random):
    shutil.rmtree(folder)
    return "removed the folder"


def _lose(_folder, file, _random):
    file.unlink()
    return f"lost {file.name}"


def _truncate(_folder, file, random):
    with file.open("r+b") as opened:
        opened.truncate(random.randrange(file.stat().st_size))
    return f"truncated {file.name}"


def _flip(_folder, file, random):
    data = bytearray(file.read_bytes())
    for _ in range(random.randint(1, 50)):
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    file.write_bytes(data)
    return f"flipped bits of {file.name}"
