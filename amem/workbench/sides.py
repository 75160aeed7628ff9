"""A side of a comparison: a version, or a folder of templates somebody is working on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from amem.errors import InputError
from amem.prompts import PromptSet, shipped_prompts

if TYPE_CHECKING:
    from amem.prompts import Root


def open_sides(first: str, second: str, root: Root | None = None) -> tuple[PromptSet, PromptSet]:
    """Open two sides; each is a version's name, or a folder whose templates lie over the other side's version.

    Raises:
        InputError: neither names a version.
        PromptNotFound: there is no such version, or a folder holds a template that the version does not have.
    """
    root = shipped_prompts() if root is None else root
    one, two = _folder(first, root), _folder(second, root)
    if one is not None and two is not None:
        raise InputError(f"{first} and {second} are both folders; one side must be a version that they lie over")
    if one is not None:
        return PromptSet(second, overrides=one, root=root), PromptSet(second, root=root)
    return PromptSet(first, root=root), PromptSet(first if two is not None else second, overrides=two, root=root)


def _folder(side: str, root: Root) -> Path | None:
    """Return the folder that a side names, unless it is the name of a version."""
    if (root / side).is_dir() and "/" not in side and side not in {".", ".."}:
        return None
    return Path(side) if Path(side).is_dir() else None


def common_prompts(first: PromptSet, second: PromptSet) -> tuple[str, ...]:
    """Return the prompts that both sides have, sorted."""
    return tuple(sorted({*first.names()} & {*second.names()}))
