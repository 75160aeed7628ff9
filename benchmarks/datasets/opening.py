"""Opening whatever data set a path holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amem.errors import InputError

from . import dialsim, dialsim_draw, dialsim_plan, from_dialsim, from_locomo, locomo, longmemeval

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from .conversation import Dataset, Format
    from .dialsim_names import Names
    from .from_dialsim import AnswerFormat

_SNIFFED = 1 << 16


def open_dataset(
    path: Path,
    *,
    captions: bool = True,
    shows: tuple[str, ...] = (),
    plan: Path | None = None,
    seed: int = 0,
    episodes: int | None = None,
    answers: AnswerFormat = "structured",
    names: Names = "original",
) -> Dataset:
    """Read a data set in the common shape.

    Args:
        path: a file, a zip or a folder.
        captions: LoCoMo: whether pictures' captions are part of what was said.
        shows: DialSim: which shows; all, where none is named.
        plan: DialSim: questions drawn before; without a plan they are drawn.
        seed: DialSim: of the draw.
        episodes: DialSim: how many episodes of each show are played, where there is no plan.
        answers: DialSim: how the options are shown.
        names: DialSim: whether the main characters keep their names.

    Raises:
        InputError: it is no data set that is known, or departs from its format, with the place.
    """
    form = format_of(path)
    given = {"shows": shows, "plan": plan, "seed": seed, "episodes": episodes}
    given |= {"answers": answers != "structured", "names": names != "original"}
    _refuse_idle(path, form, given, captions=captions)
    match form:
        case "locomo":
            return from_locomo.dataset(locomo.load(path), captions=captions)
        case "longmemeval":
            return longmemeval.load(path)
        case "dialsim":
            drawn = dialsim_plan.read(plan) if plan is not None else None
            data = dialsim.load(path, shows or tuple(drawn.shows if drawn else ()))
            questions = drawn or dialsim_draw.draw(data, seed, episodes=episodes)
            return from_dialsim.dataset(data, questions, answers=answers, names=names)


def _refuse_idle(path: Path, form: Format, dialsims: Mapping[str, object], *, captions: bool) -> None:
    """Refuse what would be without effect: it was meant to have one."""
    idle = [name for name, value in dialsims.items() if value and form != "dialsim"]
    idle += [] if captions or form == "locomo" else ["captions"]
    if idle:
        raise InputError(f"{path} has the format of {form}, in which there is no choice of {', '.join(idle)}")


def format_of(path: Path) -> Format:
    """Say which data set a path holds, by how it begins.

    Raises:
        InputError: it cannot be read, or is none that is known.
    """
    if path.is_dir() or path.suffix.lower() == ".zip":
        return "dialsim"
    try:
        with path.open(encoding="utf-8") as file:
            start = file.read(_SNIFFED).lstrip()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is no text: {error}. A data set is JSON, a zip, or a folder of pickles.") from error
    if start.startswith("{"):
        return "dialsim"
    if start.startswith("["):
        return "longmemeval" if '"question_type"' in start else "locomo"
    raise InputError(f"{path} is no data set: LoCoMo and LongMemEval are JSON lists, DialSim a folder, a zip or JSON")
