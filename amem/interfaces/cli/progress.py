"""Progress of long work on stderr: done and total, calls, tokens, and the time left."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import EllipsisType

    from rich.progress import Progress as Bars

    from amem.ingest.worker import Progress, Step
    from amem.interfaces.cli.terminal import Terminal
    from amem.model import Usage

    Left = float | EllipsisType | None


class Spending(Protocol):
    """Moves a bar."""

    def __call__(self, part: str, done: int, total: int, spent: Usage, left: Left = ...) -> None:
        """Say what is done.

        Args:
            part: what the work is at.
            done: how much is done.
            total: of how much.
            spent: on all of it so far.
            left: seconds; None where that is not known; `...` where it follows from how much is done.
        """
        ...


@contextmanager
def progress(terminal: Terminal, what: str) -> Iterator[Progress]:
    """Show a bar that the yielded function moves; nothing where stderr is no terminal, or quiet was asked for."""
    with _bars(terminal, "{task.fields[calls]} calls", "{task.fields[tokens]:,} tokens") as bars:
        task = bars.add_task(what, total=None, calls=0, tokens=0)

        def moved(step: Step) -> None:
            spent = step.usage
            bars.update(
                task,
                completed=step.done,
                total=step.total,
                description=f"{what}, {step.pending} pending" if step.pending else what,
                calls=spent.calls,
                tokens=spent.prompt_tokens + spent.completion_tokens,
            )

        yield moved


@contextmanager
def spending(terminal: Terminal) -> Iterator[Spending]:
    """Show a bar for work in several parts that may cost money; the yielded function moves it."""
    fields = ("{task.fields[calls]} calls", "{task.fields[tokens]:,} tokens", "{task.fields[money]}")
    with _bars(terminal, *fields) as bars:
        task = bars.add_task("", total=None, calls=0, tokens=0, money="")

        def moved(part: str, done: int, total: int, spent: Usage, left: Left = ...) -> None:
            priced = spent.calls - spent.failed > spent.unpriced
            money = f"${spent.cost:.2f}" if priced else ""
            tokens = spent.prompt_tokens + spent.completion_tokens
            bars.update(
                task, description=part, completed=done, total=total, calls=spent.calls, tokens=tokens, money=money,
                left=left,
            )  # fmt: skip

        yield moved


@contextmanager
def counting(terminal: Terminal, what: str) -> Iterator[Callable[[int, int], None]]:
    """Show a bar for work without a model; the yielded function takes how much is done, and of how much."""
    with naming(terminal, what) as moved:
        yield lambda done, total: moved(what, done, total)


@contextmanager
def naming(terminal: Terminal, what: str) -> Iterator[Callable[[str, int, int], None]]:
    """Show such a bar for work in several parts; the yielded function takes the part's name first."""
    with _bars(terminal) as bars:
        task = bars.add_task(what, total=None)
        yield lambda part, done, total: bars.update(task, description=part, completed=done, total=total)


def _bars(terminal: Terminal, *texts: str) -> Bars:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        Task,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class TimeLeft(TimeRemainingColumn):
        """The time left as it was told, else as it follows from what is done of the whole."""

        def render(self, task: Task) -> Text:
            told: Left = task.fields.get("left", ...)
            if told is ... or task.finished:
                return super().render(task)
            text = "-:--:--" if told is None else str(timedelta(seconds=round(told)))
            return Text(text, style="progress.remaining")

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        *(TextColumn(text) for text in texts),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeLeft(),
        console=terminal.err,
        transient=True,
        disable=terminal.quiet or not terminal.err.is_terminal,
        speed_estimate_period=600,  # a window may take a minute
    )
