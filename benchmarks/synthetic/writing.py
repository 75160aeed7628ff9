"""Writing generated data as files in the official formats, the same bytes for the same shape."""

from __future__ import annotations

import json
import pickle
from typing import TYPE_CHECKING, Any

from . import dialsim, locomo

if TYPE_CHECKING:
    from pathlib import Path

    from .size import Shape


def write_locomo(shape: Shape, path: Path) -> None:
    """Write one file such as `locomo10.json`."""
    text = json.dumps(locomo.generate(shape), indent=1)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n", encoding="utf-8")


def write_dialsim(shape: Shape, folder: Path) -> None:
    """Write three pickles for each show into a folder, and beside them what is known of it as JSON."""
    shows = dialsim.generate(shape)
    folder.mkdir(parents=True, exist_ok=True)
    for show in shows:
        for part in ("dialsim", "oracle_tkg", "oracle_fan"):
            (folder / f"{show.name}_{part}.pickle").write_bytes(pickled(getattr(show, part)))
        about = json.dumps(show.about, indent=1) + "\n"
        (folder / f"{show.name}_about.json").write_text(about, encoding="utf-8")


def pickled(value: Any) -> bytes:
    """Return a pickle whose bytes depend on the value alone, not on which of its texts are one object."""
    return pickle.dumps(_shared(value, {}), protocol=4)


def _shared(value: Any, texts: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {_shared(key, texts): _shared(one, texts) for key, one in value.items()}
    if isinstance(value, list):
        return [_shared(one, texts) for one in value]
    return texts.setdefault(value, value) if isinstance(value, str) else value
