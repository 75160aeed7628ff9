"""What a worker was about to do and what was acknowledged: written before and after, so that a kill loses no word."""

from __future__ import annotations

import json
import os
import time


class Journal:
    """A file of one JSON object a line, each written at once."""

    def __init__(self, path):
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def write(self, what, **about):
        line = json.dumps({"what": what, "at": time.monotonic_ns(), **about})
        os.write(self._file, f"{line}\n".encode())

    def close(self):
        os.close(self._file)


def entries(path):
    """Return what was written; a last line that a kill cut short was never said."""
    lines = path.read_text().split("\n") if path.exists() else [""]
    return [json.loads(line) for line in lines[:-1]]
