"""Reading finished runs, and refusing to put together what is not alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from amem.errors import InputError

from ..runs.calls import Calls  # noqa: TID252 - in a wheel, this package has another name
from ..runs.config import meaning  # noqa: TID252 - likewise
from ..runs.folder import existing  # noqa: TID252 - likewise
from ..runs.judging import read_rulings  # noqa: TID252 - likewise
from ..runs.scoring import read_scores  # noqa: TID252 - likewise

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ..runs.config import SystemConfig  # noqa: TID252 - likewise
    from ..runs.folder import Folder, Manifest  # noqa: TID252 - likewise
    from ..runs.judging import Rulings  # noqa: TID252 - likewise
    from ..runs.records import Scored  # noqa: TID252 - likewise
    from ..runs.scoring import Scoring  # noqa: TID252 - likewise


class Run(NamedTuple):
    """One run, as it lies in its folder."""

    manifest: Manifest
    folder: Folder
    calls: Calls
    scores: list[Scored]
    scoring: Scoring
    rulings: Rulings


class Party(NamedTuple):
    """One system of one run."""

    label: str
    """What it is called in the report: its own name, with the run's number where another has the same."""
    entry: SystemConfig
    run: Run
    scores: list[Scored]


def read(path: Path) -> Run:
    """Read a run.

    Raises:
        InputError: there is none, or it was not scored.
    """
    folder, manifest = existing(path)
    scores, scoring = read_scores(path)
    return Run(manifest, folder, Calls(path), scores, scoring, read_rulings(path))


def alike(runs: Sequence[Run], *, force: bool = False) -> list[str]:
    """Return in what runs differ that makes their numbers incomparable.

    Raises:
        InputError: they do differ, and `force` was not given; or they have different readers.
    """
    readers = [line for number, other in enumerate(runs[1:], start=2) for line in _other_reader(runs[0], other, number)]
    if readers:
        raise InputError(f"one table has one reader: {'; '.join(readers)}. Nothing was compared; report each alone.")
    found = [line for number, other in enumerate(runs[1:], start=2) for line in _differences(runs[0], other, number)]
    if found and not force:
        raise InputError(
            f"the runs are not comparable: {'; '.join(found)}. Nothing was compared; --force puts these lines on top."
        )
    return found


def unfinished(run: Run) -> Iterator[str]:
    """Yield what of a run is not done, or was done after it was scored."""
    asked = run.manifest.questions
    for entry in run.manifest.config.systems:
        scored = sum(one.system == entry.label for one in run.scores)
        if scored < asked:
            yield f"{entry.label}: {f'{scored} of {asked}' if scored else f'none of {asked}'} questions answered"
    later = len(run.folder.answers) - len(run.scores)
    if later > 0:
        yield f"answers that came after the scores were made: {later}; `amem bench score` takes them in"


def parties(runs: Sequence[Run]) -> list[Party]:
    """Return the systems of all runs, each name once."""
    found: list[Party] = []
    for number, run in enumerate(runs, start=1):
        names = {party.label for party in found}
        for entry in run.manifest.config.systems:
            label = entry.label if entry.label not in names else f"{entry.label} ({number})"
            scores = [one for one in run.scores if one.system == entry.label]
            if scores:
                found.append(Party(label, entry, run, scores))
    if not found:
        raise InputError("no system has an answer that was scored")
    return found


def _other_reader(first: Run, other: Run, number: int) -> Iterator[str]:
    return _unlike([_reader(run) for run in (first, other)], number)


def _differences(first: Run, other: Run, number: int) -> Iterator[str]:
    """Yield what differs, key by key; systems may."""
    return _unlike([_facts(run) for run in (first, other)], number)


def _unlike(sides: Sequence[dict[str, Any]], number: int) -> Iterator[str]:
    for name in dict.fromkeys((*sides[0], *sides[1])):
        ours, theirs = (side.get(name, "as by default") for side in sides)
        if ours != theirs:
            yield f"{name}: {ours} in run 1, {theirs} in run {number}"


def _reader(run: Run) -> dict[str, Any]:
    """Return who answered; the address of a model, or how many questions it is asked at once, is not in it."""
    given = run.manifest.config.reader
    flat = dict(_flat("reader.", meaning(given)))
    return flat | {"reader": run.manifest.reader, "reader's model": given.model.label if given.model else "none"}


def _facts(run: Run) -> dict[str, Any]:
    manifest = run.manifest
    flat = dict(
        _flat("", {k: v for k, v in meaning(manifest.config).items() if k not in {"systems", "name", "reader"}})
    )
    flat |= {f"SHA-256 of {name}": value for name, value in manifest.data.items()}
    flat |= {"embedding": manifest.embedding, "tokenizer": manifest.tokenizer}
    flat |= {"SHA-256 of disputed": run.scoring.disputed or manifest.data.get("disputed", "none")}
    flat |= {"version of the measures": run.scoring.metrics}
    return flat | {f"version of {name}": value for name, value in run.scoring.versions.items()}


def _flat(before: str, value: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, item in value.items():
        if isinstance(item, dict):
            yield from _flat(f"{before}{name}.", item)
        else:
            yield f"{before}{name}", item
