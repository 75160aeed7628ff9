"""Versions: copying one to the next draft, and releasing a draft, after which its files may not change."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError

from amem.errors import InputError
from amem.llm.recording_file import write_whole
from amem.prompts import INSTALLED, PromptSet, Version, Versions
from amem.values import Frozen
from amem.workbench import changelog
from amem.workbench.changelog import CHANGELOG

if TYPE_CHECKING:
    import datetime as dt

    from amem.prompts import Root

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_LISTED = "versions.toml"


def own_folder(root: Path | None, shipped: Root) -> Path:
    """Return the folder to write versions in; a new or empty one is filled with the shipped versions first.

    Raises:
        InputError: the shipped prompts are part of an installation, or the folder holds something else.
    """
    if root is None:
        if isinstance(shipped, Path) and shipped.name != INSTALLED:
            return shipped
        raise InputError("the shipped prompts are part of the installation; say --prompts DIR to work on a copy in DIR")
    if (root / _LISTED).is_file():
        return root
    if root.is_dir() and any(root.iterdir()):
        raise InputError(f"{root} is no folder of prompts: it has no {_LISTED}, and is not empty")
    _copy(shipped, root)
    return root


def _copy(source: Root, target: Path) -> None:
    for item in source.iterdir():
        if item.is_dir():
            _copy(item, target / item.name)
        else:
            write_whole(target / item.name, item.read_bytes())


class Drafted(Frozen):
    """What `amem prompts new --json` prints."""

    version: str
    source: str
    """The version it was copied from."""
    folder: str
    prompts: tuple[str, ...]


class Released(Frozen):
    """What `amem prompts release --json` prints."""

    version: str
    date: str
    files: dict[str, str]
    """The hash of each prompt, locked from now on."""


def draft(root: Path, name: str, source: str | None = None) -> Drafted:
    """Copy a version (the default one, unless another is named) to a new draft.

    Raises:
        InputError: the name is taken or not fit for one, or `versions.toml` cannot be extended.
        PromptNotFound: there is no such version to copy.
    """
    prompts = PromptSet(source, root=root)
    if not _NAME.fullmatch(name):
        raise InputError(f"{name!r} is no name for a version; use letters, digits, - and _, such as v2")
    folder = root / name
    if name in prompts.versions() or folder.exists():
        raise InputError(f"there is a version {name} already; nothing was changed")
    listed = _edited(
        root, _toml(root).rstrip("\n") + f'\n\n[versions.{name}]\nstatus = "draft"\n', name, Version(status="draft")
    )
    log = changelog.with_draft(_text(root / CHANGELOG), name, prompts.version)
    for prompt in prompts.names():  # last what makes the version exist: an interrupted copy is no version
        write_whole(folder / f"{prompt}.j2", (root / prompts.version / f"{prompt}.j2").read_bytes())
    write_whole(root / CHANGELOG, log.encode())
    write_whole(root / _LISTED, listed.encode())
    return Drafted(version=name, source=prompts.version, folder=str(folder), prompts=prompts.names())


def release(root: Path, name: str, date: dt.date) -> Released:
    """Lock the hash of each of a draft's files.

    Raises:
        InputError: it is no draft, the changelog does not tell of it, or `versions.toml` cannot be edited.
        PromptError: there is no such version, or a template is malformed.
    """
    prompts = PromptSet(name, root=root)
    status = prompts.versions()[name].status
    if status != "draft":
        raise InputError(
            f"{name} is {status} already; nothing was changed. Copy it: amem prompts new NAME --from {name}"
        )
    log = _text(root / CHANGELOG)
    if not changelog.has_entry(log, name):
        raise InputError(f"{root / CHANGELOG} has no entry '## {name} (draft)'; write it before the release")
    files = {prompt: prompts.get(prompt).hash for prompt in prompts.names()}
    version = Version(status="released", date=date, files=files)
    listed = _edited(root, _with_section(_toml(root), name, _section(version)), name, version)
    write_whole(root / CHANGELOG, changelog.with_release(log, name, date.isoformat()).encode())
    write_whole(root / _LISTED, listed.encode())
    return Released(version=name, date=date.isoformat(), files=files)


def _section(version: Version) -> str:
    files = ", ".join(
        f'"{name}" = "{digest}"' if "." in name else f'{name} = "{digest}"' for name, digest in version.files.items()
    )
    return f'status = "{version.status}"\ndate = {version.date}\nfiles = {{ {files} }}\n'


def _with_section(text: str, name: str, body: str) -> str:
    """Replace what stands under `[versions.<name>]`, and keep the comments in it."""
    lines = text.splitlines(keepends=True)
    try:
        start = next(i for i, line in enumerate(lines) if line.split("#")[0].strip() == f"[versions.{name}]")
    except StopIteration:
        raise InputError(f"{_LISTED} has no section [versions.{name}] of its own; edit it by hand") from None
    end = next((i for i in range(start + 1, len(lines)) if lines[i].startswith("[")), len(lines))
    while end < len(lines) and lines[end - 1].startswith("#"):  # what stands above a section is about it
        end -= 1
    kept = [line for line in lines[start + 1 : end] if line.startswith("#")]
    gap = ["\n"] if end < len(lines) else []
    return "".join([*lines[: start + 1], *kept, body, *gap, *lines[end:]])


def _edited(root: Path, text: str, name: str, version: Version) -> str:
    """Return the edited `versions.toml` once it is sure that it says what it should, and nothing else is new."""
    before = Versions.model_validate(tomllib.loads(_toml(root)))
    wanted = before.model_copy(update={"versions": {**before.versions, name: version}})
    try:
        if Versions.model_validate(tomllib.loads(text)) == wanted:
            return text
    except (tomllib.TOMLDecodeError, ValidationError):
        pass
    raise InputError(
        f"{root / _LISTED} is not laid out so that it can be edited safely; nothing was changed, edit it by hand"
    )


def _toml(root: Path) -> str:
    file = root / _LISTED
    if not file.is_file():
        raise InputError(f"{root} has no {_LISTED}")
    return _text(file)


def _text(file: Path) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig") if file.is_file() else ""
    except UnicodeDecodeError as error:
        raise InputError(f"{file} is not UTF-8: {error}") from error
