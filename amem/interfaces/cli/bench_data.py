"""`amem bench data`: which data sets there are, whether one can be read, and new ones that are generated."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from amem.errors import InputError
from amem.interfaces.cli import parameters as given  # noqa: TC001 - typer reads the annotations at run time
from amem.interfaces.cli.call import Call, call_of
from amem.interfaces.cli.shipped import benchmarks_module
from amem.interfaces.cli.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.datasets.conversation import Dataset
    from benchmarks.datasets.known import Known
    from benchmarks.datasets.summary import Counts, Summary

Where = Annotated[Path, typer.Argument(metavar="PATH", help="A JSON file, a zip, or a folder of pickles.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="The same seed gives the same result.")]
Out = Annotated[Path, typer.Option("--out", metavar="PATH", help="Where it is written; nothing may be there.")]


def list_(ctx: typer.Context, *, as_json: given.Json = False) -> None:
    """List the data sets that can be read, where they come from, and under what terms.

    JSON: a list of `benchmarks.datasets.known.Known`.
    """
    call = call_of(ctx)
    known: tuple[Known, ...] = benchmarks_module("datasets.known").KNOWN
    if as_json:
        call.terminal.json(known)
        return
    for one in known:
        call.terminal.say(one.name, f"  {one.files}", f"  {one.source}", f"  {one.terms}")


def check(
    ctx: typer.Context,
    path: Where,
    *,
    plan: Annotated[
        Path | None, typer.Option("--plan", metavar="FILE", help="DialSim: questions drawn by `amem bench data plan`.")
    ] = None,
    as_json: given.Json = False,
) -> None:
    """Read a data set whole, and count what it holds; an error names the place of whatever is wrong.

    Of DialSim, which has far more questions than are asked, those drawn with the seed 0 are counted, or the plan's.

    JSON: a `benchmarks.datasets.summary.Summary`.
    """
    call = call_of(ctx)
    data: Dataset = benchmarks_module("datasets.opening").open_dataset(path, plan=plan)
    _show(call, data, path, as_json=as_json)


def generate(
    ctx: typer.Context,
    kind: Annotated[Literal["locomo", "dialsim"], typer.Argument(metavar="FORMAT", help="locomo or dialsim.")],
    *,
    out: Out,
    size: Annotated[
        float | None,
        typer.Option(
            "--size",
            metavar="X",
            help="Length of each conversation, in context windows of 32,000 tokens;"
            " 10 and 100 do well. [locomo 1, dialsim 4]",
        ),
    ] = None,
    conversations: Annotated[
        int | None, typer.Option("--conversations", metavar="N", help="How many; shows, of DialSim. [10, 3]")
    ] = None,
    questions: Annotated[
        int | None, typer.Option("--questions", metavar="N", help="In each conversation. [200, one in each scene]")
    ] = None,
    seed: Seed = 0,
    as_json: given.Json = False,
) -> None:
    """Generate a synthetic data set: invented texts in the format of LoCoMo or DialSim, with a certain answer key.

    JSON: a `benchmarks.datasets.summary.Summary`.
    """
    call = call_of(ctx)
    usual = {"locomo": (1.0, 10), "dialsim": (4.0, 3)}[kind]
    shape = benchmarks_module("synthetic.size").Shape(
        size=usual[0] if size is None else size,
        conversations=usual[1] if conversations is None else conversations,
        questions=questions,
        seed=seed,
    )
    writing = benchmarks_module("synthetic.writing")
    with _new(out):
        (writing.write_locomo if kind == "locomo" else writing.write_dialsim)(shape, out)
    _show(call, benchmarks_module("datasets.opening").open_dataset(out), out, as_json=as_json)


def plan(
    ctx: typer.Context,
    path: Where,
    *,
    out: Out,
    seed: Seed = 0,
    episodes: Annotated[
        int | None, typer.Option("--episodes", metavar="N", min=1, help="Of each show, the first so many. [all]")
    ] = None,
) -> None:
    """Draw DialSim's questions as its simulator does, and keep them, so that every system is asked the same ones."""
    call = call_of(ctx)
    with _new(out):
        data = benchmarks_module("datasets.dialsim").load(path)
        drawn = benchmarks_module("datasets.dialsim_draw").draw(data, seed, episodes=episodes)
        benchmarks_module("datasets.dialsim_plan").write(drawn, out)
    shows = ", ".join(drawn.shows)
    call.terminal.say(f"{counted(len(drawn.questions), 'question')} of {shows} in {out}")


def convert(ctx: typer.Context, path: Where, *, out: Out) -> None:
    """Turn DialSim's pickles into one JSON file that says the same, and needs no unpickling any more."""
    call = call_of(ctx)
    files = benchmarks_module("datasets.dialsim_files")
    with _new(out):
        shows = files.source(path).parts
        text = ",\n".join(files.as_json(parts(), show) for show, parts in shows.items())
        out.write_text(f"{{{text}}}\n", encoding="utf-8")
    call.terminal.say(f"{', '.join(shows)} in {out}")


@contextmanager
def _new(path: Path) -> Iterator[None]:
    """Let something be written where nothing is."""
    if path.exists():
        raise InputError(f"{path} exists already. Nothing was written; name another place, or remove it")
    try:
        yield
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}") from error


def _show(call: Call, data: Dataset, path: Path, *, as_json: bool) -> None:
    found: Summary = benchmarks_module("datasets.summary").summary(data, str(path))
    for warning in found.warnings:
        call.terminal.warn(warning)
    if as_json:
        call.terminal.json(found)
    else:
        call.terminal.say(*_lines(found))


def _lines(found: Summary) -> Iterator[str]:
    yield f"{found.name}, in the format of {found.format}, SHA-256 {found.sha256}"
    yield f"{counted(len(found.conversations), 'conversation')}: {_counts(found.all)}"
    categories = found.all.by_category.items()
    names = found.category_names
    yield ", ".join(f"{names.get(category, category)} {number:,}" for category, number in categories)
    if len(found.conversations) <= 20:
        for name, counts in found.conversations.items():
            yield f"{name}: {_counts(counts)}"
    if found.restricted:
        yield "Its texts are other people's: publish ids and scores, not the texts."


def _counts(counts: Counts) -> str:
    unanswerable = f", {counts.unanswerable:,} without an answer" if counts.unanswerable else ""
    return (
        f"{counted(counts.sessions, 'session')}, {counted(counts.turns, 'turn')}, {counted(counts.words, 'word')}"
        f" ({counts.first} to {counts.last}); {counted(counts.questions, 'question')}{unanswerable},"
        f" {counts.with_evidence:,} with known evidence"
    )
