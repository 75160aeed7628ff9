"""The table of verbs, the global options, and `main`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from amem import __version__
from amem.interfaces.cli import (
    bench,
    bench_data,
    bench_report,
    bench_run,
    comparing,
    correcting,
    demo,
    explaining,
    exporting,
    forgetting,
    importing,
    knowing,
    prompts,
    prompts_check,
    prompts_compare,
    prompts_run,
    prompts_scrub,
    reading,
    rebuild,
    reviewing,
    tidying,
    upkeep,
    writing,
)
from amem.interfaces.cli import parameters as given
from amem.interfaces.cli.call import DIRECTORY, Call, settings_from
from amem.interfaces.cli.exits import EPILOG
from amem.interfaces.cli.terminal import Terminal
from amem.interfaces.cli.verbs import Verbs

if TYPE_CHECKING:
    from collections.abc import Callable

app = typer.Typer(
    name="amem",
    cls=Verbs,
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # it prints local variables, and a key may be among them
    rich_markup_mode=None,  # rich's help page alone takes a quarter of a second
    context_settings={"help_option_names": ["-h", "--help"]},
)

PANELS: dict[str, dict[str, Callable[..., None]]] = {
    "Writing": {
        "add": writing.add,
        "correct": correcting.correct,
        "import": importing.import_,
        "pin": correcting.pin,
        "process": writing.process,
        "undo": writing.undo,
        "unpin": correcting.unpin,
    },
    "Reading": {
        "search": reading.search,
        "recall": reading.recall,
        "explain": explaining.explain,
        "list": reading.list_,
        "show": reading.show,
        "links": reading.links,
        "history": reading.history,
        "stats": reading.stats,
    },
    "Upkeep": {
        "doctor": upkeep.doctor,
        "export": exporting.export,
        "forget": forgetting.forget,
        "rebuild": rebuild.rebuild,
        "reindex": upkeep.reindex,
        "stale": rebuild.stale,
        "upkeep": tidying.upkeep,
    },
    "Looking around": {"compare": comparing.compare, "demo": demo.demo},
}
for panel, verbs in PANELS.items():
    for name, verb in verbs.items():
        app.command(name, rich_help_panel=panel)(verb)

templates = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Try, compare, check and release prompts.")
WORKBENCH: dict[str, Callable[..., None]] = {
    "list": prompts.list_,
    "render": prompts.render,
    "run": prompts_run.run,
    "record": prompts_run.record,
    "diff": prompts_compare.diff,
    "compare": prompts_compare.compare,
    "check": prompts_check.check,
    "new": prompts_check.new,
    "release": prompts_check.release,
    "scrub": prompts_scrub.scrub,
}
for name, verb in WORKBENCH.items():
    templates.command(name)(verb)
app.add_typer(templates, name="prompts", rich_help_panel="Looking around")

facts = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="What holds, and until when.")
facts.command("list")(knowing.list_facts)
facts.command("add")(knowing.add_fact)
facts.command("search")(knowing.search_facts)
app.add_typer(facts, name="facts", rich_help_panel="Reading")

episodes = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="What was done, and how it ended.")
episodes.command("add")(knowing.add_episode)
episodes.command("search")(knowing.search_episodes)
app.add_typer(episodes, name="episodes", rich_help_panel="Reading")

held_back = typer.Typer(invoke_without_command=True, rich_markup_mode=None)
held_back.callback()(reviewing.list_)
held_back.command("accept")(reviewing.accept)
held_back.command("reject")(reviewing.reject)
app.add_typer(held_back, name="review", rich_help_panel="Upkeep")

measurements = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Measure amem on public data sets.")
data = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Read, check and generate data sets.")
DATA: dict[str, Callable[..., None]] = {
    "list": bench_data.list_,
    "check": bench_data.check,
    "generate": bench_data.generate,
    "plan": bench_data.plan,
    "convert": bench_data.convert,
}
for name, verb in DATA.items():
    data.command(name)(verb)
measurements.add_typer(data, name="data")
measurements.command("recall")(bench.recall)
measurements.command("selftest")(bench.selftest)
measurements.command("run")(bench_run.run)
measurements.command("score")(bench_run.score)
measurements.command("judge")(bench_report.judge)
measurements.command("report")(bench_report.report)
measurements.command("compare")(bench_report.compare)
app.add_typer(measurements, name="bench", rich_help_panel="Looking around")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"amem {__version__}")
        raise typer.Exit


Version = Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")]


@app.callback()
def options(
    ctx: typer.Context,
    *,
    directory: given.Directory = None,
    box: given.Box = "default",
    llm: given.Model = None,
    api_base: given.ApiBase = None,
    strategy: given.Strategy = None,
    budget_calls: given.BudgetCalls = None,
    budget_tokens: given.BudgetTokens = None,
    pairs: given.Pairs = None,
    config: given.Config = None,
    quiet: given.Quiet = False,
    verbose: given.Verbose = False,
    version: Version = False,  # noqa: ARG001 - its callback does the work
) -> None:
    """Agentic memory: notes that a language model annotates, links and lets evolve."""
    terminal = Terminal(quiet=quiet)
    terminal.log(verbose=verbose)
    named = {"llm": llm, "api_base": api_base, "strategy": strategy}
    limits = {"budget_calls": budget_calls, "budget_tokens": budget_tokens}
    settings = settings_from(pairs or [], **named, **limits)
    home = Path(os.environ.get("AMEM_DIR") or DIRECTORY)
    ctx.obj = Call(directory, home, box=box, config=config, given=settings, terminal=terminal)


def main() -> None:
    """Run the command line on this process's arguments; `exits.py` lists the exit codes."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # a terminal that lacks a letter is no reason to fail
    app()
