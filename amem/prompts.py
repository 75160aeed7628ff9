"""PromptSet: find the templates of one version, check them, and render them to requests.

A version is a whole folder `prompts/<version>/<name>.j2`. `versions.toml` beside the folders names the
default and locks the hashes of released versions. A folder of the user's may shadow single templates. The
label `name@version+hash` is stamped on everything a prompt made.
"""

from __future__ import annotations

import datetime as dt
import difflib
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from pydantic import JsonValue, ValidationError

from amem.errors import PromptFormat, PromptNotFound, PromptVariables
from amem.llm.protocol import PromptRef, Request
from amem.templates import Template, parse_template
from amem.values import Frozen

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.resources.abc import Traversable

    from pydantic import BaseModel

    from amem.settings import Settings
    from amem.templates import Outputs

    Root = Path | Traversable

T = TypeVar("T", bound="BaseModel")
OVERRIDE = "override"
"""The version that stands on what a template in the user's own folder made."""

INSTALLED = "_prompts"
"""The folder of the shipped prompts inside an installed package."""

_SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class Prompt(Frozen):
    """One template of one version, and what it says about itself."""

    name: str
    version: str
    hash: str
    """Eight hex digits over all that reaches the model."""
    description: str
    output: str | None
    """Name of the model that a reply must satisfy; None for plain text."""
    variables: tuple[str, ...]
    params: dict[str, JsonValue]
    changes: str
    """What is new in this version, for people."""
    source: str
    """The file's text."""

    @property
    def ref(self) -> PromptRef:
        """What requests and recordings carry."""
        return PromptRef(name=self.name, version=self.version, hash=self.hash)


class Version(Frozen):
    """An entry of `versions.toml`."""

    status: Literal["draft", "released", "retired"]
    date: dt.date | None = None
    files: dict[str, str] = {}
    """Hash by prompt name, locked once the version is released."""


class Versions(Frozen):
    """The file `versions.toml`."""

    default: str
    versions: dict[str, Version]


class LockProblem(Frozen):
    """A file of a released version that is not what was released."""

    version: str
    prompt: str
    locked: str | None
    """The hash in `versions.toml`; None where the file is not listed."""
    found: str | None
    """The hash of the file; None where there is none."""

    def __str__(self) -> str:
        what = f"{self.prompt}@{self.version}"
        if self.found is None:
            return f"{what} is locked as {self.locked}, but the file is gone; restore it."
        if self.locked is None:
            return f"{what} was added to a version already released; move it to the next one."
        return f"{what} is {self.found}, released as {self.locked}; restore it, and change its next version."


def shipped_prompts() -> Traversable:
    """Return the folder of the shipped prompts: in the wheel, or in the checkout."""
    from importlib.resources import files

    inside = files("amem") / INSTALLED
    return inside if inside.is_dir() else Path(__file__).resolve().parent.parent / "prompts"


class PromptSet:
    """All prompts of one version.

    Args:
        version: The version to use; else the one in `settings`, else the default of `versions.toml`.
        overrides: A folder whose templates shadow single ones; else the one in `settings`.
        settings: Where version and overrides come from if they are not given.
        root: Another folder of versions than the shipped one.
        outputs: Where output models are looked up by name; `amem.replies` if not given.

    Raises:
        PromptNotFound: there is no such version or folder, or an override shadows nothing.
    """

    def __init__(
        self,
        version: str | None = None,
        *,
        overrides: Path | str | None = None,
        settings: Settings | None = None,
        root: Root | None = None,
        outputs: Outputs | None = None,
    ) -> None:
        self._root = shipped_prompts() if root is None else root
        self._outputs = outputs
        self._loaded: dict[tuple[str, str], tuple[Prompt, Template]] = {}
        self._listed = _read_versions(self._root)
        self._version = self._choose(version or (settings.prompts_version if settings else None))
        overrides = overrides or (settings.prompts_overrides if settings else None)
        self._overrides = _overriding(Path(overrides), self.names()) if overrides else {}

    @property
    def version(self) -> str:
        """The version chosen."""
        return self._version

    def names(self) -> tuple[str, ...]:
        """Return the names of this version's prompts, sorted."""
        return _names(self._root / self._version)

    def versions(self) -> dict[str, Version]:
        """Return what `versions.toml` says of each version."""
        return dict(self._listed.versions) if self._listed else {}

    def get(self, name: str) -> Prompt:
        """Return the prompt `name`, or what overrides it.

        Raises:
            PromptNotFound: there is none of that name.
            PromptFormat: its file is malformed, or names an output that does not exist.
            PromptVariables: the variables it declares, uses, or overrides are not the same.
        """
        return self._find(name)[0]

    def output(self, name: str) -> type[BaseModel] | None:
        """Return the model that replies to `name` must satisfy; None for plain text.

        Raises:
            PromptError: as by `get`.
        """
        return self._find(name)[1].output

    def reply(self, name: str, first: type[T], *others: type[T]) -> type[T]:
        """Return the model by which replies to `name` are read: the template's own where the caller knows it.

        Versions of a prompt may ask for replies of different shapes; a caller names those that it can read, and what
        a template that names none of them is to be answered with, first.

        Raises:
            PromptError: as by `get`.
        """
        output = self.output(name)
        return next((known for known in others if known is output), first)

    def render(
        self,
        name: str,
        variables: Mapping[str, JsonValue],
        *,
        model: str | None = None,
        params: Mapping[str, JsonValue] | None = None,
    ) -> Request:
        """Make the request that asks `name` about `variables`; `params` go over the template's own.

        Raises:
            PromptVariables: a declared variable is missing, or one is given that is not declared.
        """
        prompt, template = self._find(name)
        _require_same(name, set(prompt.variables), set(variables))
        return Request(
            prompt=prompt.ref,
            variables=dict(variables),
            messages=template.messages(variables),
            reply_schema=template.schema_for(variables),
            model=model,
            params={**prompt.params, **(params or {})},
        )

    def check_locked(self) -> tuple[LockProblem, ...]:
        """Compare the files of every released or retired version with the hashes that lock them."""
        problems: list[LockProblem] = []
        for version, entry in self.versions().items():
            if entry.status == "draft":
                continue
            found = {name: self._shipped(version, name)[0].hash for name in _names(self._root / version)}
            problems += [
                LockProblem(version=version, prompt=name, locked=entry.files.get(name), found=found.get(name))
                for name in sorted(found.keys() | entry.files.keys())
                if found.get(name) != entry.files.get(name)
            ]
        return tuple(problems)

    def _choose(self, version: str | None) -> str:
        known = self._listed.versions if self._listed else None
        if version is None:
            if self._listed is None:
                raise PromptNotFound(f"{self._root} has no versions.toml to name a default; pass a version.")
            version = self._listed.default
        exists = (self._root / version).is_dir() if known is None else version in known
        if not _SAFE_NAME.fullmatch(version) or not exists:
            raise PromptNotFound(f"there is no prompt version {version!r}. Listed: {', '.join(known or ())}.")
        return version

    def _find(self, name: str) -> tuple[Prompt, Template]:
        if name not in self._overrides:
            return self._shipped(self._version, name)
        if (OVERRIDE, name) not in self._loaded:
            mine = self._load(name, OVERRIDE, self._overrides[name])
            shadowed = self._shipped(self._version, name)
            _require_same(name, set(shadowed[0].variables), set(mine[0].variables))
            self._loaded[OVERRIDE, name] = mine
        return self._loaded[OVERRIDE, name]

    def _shipped(self, version: str, name: str) -> tuple[Prompt, Template]:
        if (version, name) not in self._loaded:
            folder = self._root / version
            _require_known(name, _names(folder), f"version {version}")
            self._loaded[version, name] = self._load(name, version, folder / f"{name}.j2")
        return self._loaded[version, name]

    def _load(self, name: str, version: str, file: Root) -> tuple[Prompt, Template]:
        template = parse_template(name, _text(file), str(file), self._outputs)
        front = dict(template.front)
        prompt = Prompt(name=name, version=version, hash=template.hash, source=template.source, **front)
        return prompt, template


def _text(file: Root) -> str:
    try:
        return file.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise PromptFormat(str(file), f"not UTF-8: {error}") from error


def _names(folder: Root) -> tuple[str, ...]:
    if not folder.is_dir():
        return ()
    return tuple(sorted(f.name.removesuffix(".j2") for f in folder.iterdir() if f.name.endswith(".j2")))


def _require_same(prompt: str, declared: set[str], given: set[str]) -> None:
    if declared != given:
        raise PromptVariables(prompt, missing=sorted(declared - given), unused=sorted(given - declared))


def _require_known(name: str, names: tuple[str, ...], where: str) -> None:
    if name not in names:
        close = difflib.get_close_matches(name, names, n=1)
        hint = f" (did you mean {close[0]!r}?)" if close else ""
        listed = ", ".join(names) or "none"
        raise PromptNotFound(f"there is no prompt {name!r} in {where}{hint}. There are: {listed}.")


def _overriding(folder: Path, names: tuple[str, ...]) -> dict[str, Path]:
    """Return the overriding file of each name; one that shadows nothing is a slip, not an extension."""
    if not folder.is_dir():
        raise PromptNotFound(f"the overrides folder {folder} does not exist.")
    for name in _names(folder):
        _require_known(name, names, f"the set that {folder / name}.j2 is to override")
    return {name: folder / f"{name}.j2" for name in _names(folder)}


def _read_versions(root: Root) -> Versions | None:
    file = root / "versions.toml"
    if not file.is_file():
        return None
    try:
        return Versions.model_validate(tomllib.loads(_text(file)))
    except (tomllib.TOMLDecodeError, ValidationError) as error:
        raise PromptFormat(str(file), str(error)) from error
