"""Writing to a terminal: results to stdout, everything else to stderr, and no text that could act on either."""

from __future__ import annotations

import json
import logging
import re
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console, RenderableType

    from amem.values import Frozen

# Newline and tab stay. Bidirectional overrides are in it because they make text read as what it is not.
_ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_RAW_IN_JSON = re.compile("[\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """Return `text` with control characters written out, so that they cannot move a cursor or set a title."""
    return _ACTING.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def one_line(text: str, limit: int = 0) -> str:
    """Return `text` on one line, cut to `limit` characters where that is given."""
    line = visible(" ".join(text.split()))
    return line if not limit or len(line) <= limit else f"{line[: limit - 1]}…"


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return `1 note`, `2 notes`."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def json_text(value: Any) -> str:
    """Return `value` as JSON that is safe on a terminal and means the same."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return _RAW_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class Terminal:
    """Standard output and error of one run; `quiet` keeps everything back but results and errors."""

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet

    @cached_property
    def out(self) -> Console:
        """Where results go. Markup and emoji codes in texts are left as they are."""
        return _console(stderr=False)

    @cached_property
    def err(self) -> Console:
        """Where progress, remarks and errors go."""
        return _console(stderr=True)

    def say(self, *parts: RenderableType) -> None:
        """Write a result for people."""
        for part in parts:
            self.out.print(part)

    def json(self, value: Frozen | Sequence[Frozen]) -> None:
        """Write a result for programs: an amem type, or a list of them, as `model_dump(mode="json")`."""
        from amem.values import Frozen

        one = isinstance(value, Frozen)
        items = [value] if isinstance(value, Frozen) else value
        dumped = [item.model_dump(mode="json") for item in items]
        self.out.file.write(f"{json_text(dumped[0] if one else dumped)}\n")

    def remark(self, text: str) -> None:
        """Say something about the run, on stderr."""
        if not self.quiet:
            self.err.print(visible(text), style="dim")

    def warn(self, text: str) -> None:
        """Say what was not done, on stderr."""
        self.err.print(f"amem: {visible(text)}", style="yellow")

    def fail(self, text: str) -> None:
        """Say why the run failed, on stderr."""
        self.err.print(f"amem: {visible(text)}", style="bold red")

    def log(self, *, verbose: bool) -> None:
        """Show what amem's rooms log: warnings, and with `verbose` everything they tell of."""
        logger = logging.getLogger("amem")
        for old in [handler for handler in logger.handlers if isinstance(handler, _Handler)]:
            logger.removeHandler(old)
        logger.addHandler(_Handler(self))
        logger.setLevel(logging.INFO if verbose else logging.WARNING)


class _Handler(logging.Handler):
    """Writes log records between the redrawn lines of a progress bar."""

    def __init__(self, terminal: Terminal) -> None:
        super().__init__()
        self._terminal = terminal

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.WARNING:
            self._terminal.warn(record.getMessage())
        else:
            self._terminal.remark(record.getMessage())


def _console(*, stderr: bool) -> Console:
    from rich.console import Console

    return Console(stderr=stderr, markup=False, emoji=False, highlight=False, soft_wrap=True)
