"""The group of verbs: global options stand anywhere, and amem's errors become one line and an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperGroup

from amem.errors import AmemError
from amem.interfaces.cli.call import Call
from amem.interfaces.cli.exits import STOPPED, code_of
from amem.interfaces.cli.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence


class Verbs(TyperGroup):
    """The root of the command line."""

    # `Any`: typer brings its own click or uses the installed one, by version.
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options of amem itself wherever they stand, but for those that the verb has under the same name."""
        return super().parse_args(ctx, hoisted(args, self.params, self.commands))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the verbs by what they are for, in the order of the table."""
        panels: dict[str, list[tuple[str, str]]] = {}
        for name in self.list_commands(ctx):
            verb: Any = self.get_command(ctx, name)
            panels.setdefault(str(verb.rich_help_panel), []).append((name, verb.get_short_help_str(limit=100)))
        for panel, rows in panels.items():
            with formatter.section(panel):
                formatter.write_dl(rows)

    def invoke(self, ctx: Any) -> Any:
        """Run a verb; say what went wrong without a traceback, but hide no programming error."""
        try:
            return super().invoke(ctx)
        except AmemError as error:
            _terminal(ctx).fail(str(error))
            raise typer.Exit(code_of(error)) from error
        except KeyboardInterrupt as error:
            _terminal(ctx).fail("stopped. What was stored is kept; the same command goes on from there.")
            raise typer.Exit(STOPPED) from error


def _terminal(context: Any) -> Terminal:
    return context.obj.terminal if isinstance(context.obj, Call) else Terminal()


def hoisted(args: Sequence[str], options: Iterable[Any], verbs: Mapping[str, Any] | None = None) -> list[str]:
    """Move options of the root to the front, each with its value; what follows `--` stays where it is.

    Options that the verb itself has are the verb's, where they stand behind it.
    """
    takes_value = {
        spelling: not option.is_flag
        for option in options
        if hasattr(option, "is_flag") and not option.is_eager  # a verb has its own --help, and may have a --version
        for spelling in (*option.opts, *option.secondary_opts)
    }
    front: list[str] = []
    rest: list[str] = []
    inner: Mapping[str, Any] = verbs or {}
    waiting = list(args)
    while waiting:
        word = waiting.pop(0)
        if word == "--":
            rest += [word, *waiting]
            break
        name, equals, _ = word.partition("=")
        if name not in takes_value:
            rest.append(word)
            if word in inner:
                takes_value = {
                    spelling: v for spelling, v in takes_value.items() if spelling not in _options(inner[word])
                }
                inner = getattr(inner[word], "commands", {})
            continue
        front.append(word)
        if takes_value[name] and not equals and waiting:
            front.append(waiting.pop(0))
    return front + rest


def _options(verb: Any) -> set[str]:
    """Return how a verb's own options are spelled."""
    return {spelling for option in verb.params if hasattr(option, "is_flag") for spelling in option.opts}
