"""The lines between a package's process and its parent; this runs in the package's environment."""

from __future__ import annotations

import json
import os
import sys
from typing import Any


class Pipe:
    """The lines between parent and child; whatever the package prints goes to stderr."""

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)

    def send(self, value: Any) -> None:
        """Send one line."""
        self._out.write(json.dumps(value) + "\n")
        self._out.flush()

    def take(self) -> Any:
        """Wait for one line; the parent's end is the child's."""
        line = sys.stdin.readline()
        if not line:
            sys.exit(0)
        return json.loads(line)
