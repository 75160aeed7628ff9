"""What a run measures: one TOML file, every key of it checked and its meaning hashed. `benchmarks/configs` has some."""

from __future__ import annotations

import hashlib
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import Field, JsonValue, ValidationError, model_validator

from amem.errors import InputError
from amem.values import Frozen, canonical_json

from ..datasets.dialsim_names import Names  # noqa: TID252 - in a wheel, this package has another name
from ..datasets.from_dialsim import AnswerFormat  # noqa: TID252 - in a wheel, this package has another name
from ..systems.ablated import Part  # noqa: TID252 - in a wheel, this package has another name

SystemKind = Literal[
    "amem", "a-mem", "mem0", "none", "full_context", "recent", "bm25", "dense", "hybrid", "oracle", "oracle_sessions"
]
Compat = Literal["fair", "official", "amem"]

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

P = TypeVar("P", bound=Frozen)

NOT_IN_HASH = {
    "Config": {"name"},
    "Data": {"path", "disputed", "plan"},
    "Model": {"about", "api_base", "api_key_env", "timeout", "deadline", "retries"},
    "Reader": {"concurrency", "answers"},
    "SystemConfig": {"name", "python"},
}
"""Fields that say what a thing is called, where it lies and how long it may take, but do not decide a result. Of files,
the manifest has the hashes."""


class Model(Frozen):
    """A language model, and how it is reached."""

    name: str
    """As litellm spells it."""
    about: str = ""
    """For people: which model it is, where its name does not say so."""
    api_base: str | None = None
    api_key_env: str | None = None
    """Name of the environment variable that holds the key, where it is not the provider's own."""
    timeout: float = Field(default=120.0, gt=0)
    """Seconds of one attempt."""
    deadline: float | None = Field(default=None, gt=0)
    """Seconds of one call with all its retries; default: three times the timeout."""
    retries: int = Field(default=3, ge=0)

    @property
    def label(self) -> str:
        """What stands in reports."""
        return f"{self.name} ({self.about})" if self.about else self.name


class Data(Frozen):
    """How the data is read, and which questions are asked about what."""

    path: Path
    """The data set's file or folder; relative to the configuration's own file."""
    captions: bool = True
    """Of LoCoMo: whether pictures' captions are part of what was said."""
    shows: tuple[str, ...] = ()
    """Of DialSim: which shows; none names all. What follows is of DialSim too."""
    names: Names = "original"
    answers: AnswerFormat = "structured"
    """How the options are shown."""
    seed: int = 0
    """Of the draw of questions, where there is no plan."""
    episodes: Annotated[int, Field(ge=1)] | None = None
    """How many of each show are played, where there is no plan."""
    plan: Path | None = None
    """Which questions are asked, and when."""
    conversations: tuple[str, ...] = ()
    """Ids; none names all."""
    sessions: Annotated[int, Field(ge=1)] | None = None
    """Only the first so many of each conversation."""
    questions: Literal["all", "evidence_within"] = "all"
    """All, or those whose whole evidence lies in the sessions that are taken in. With `sessions`, only these can be
    asked."""
    categories: tuple[str, ...] = ()
    """None names all."""
    limit: Annotated[int, Field(ge=1)] | None = None
    """Only the first so many questions of each conversation."""
    disputed: Path | None = None
    """A list of questions whose answer key is disputed."""

    @model_validator(mode="after")
    def _asks_what_can_be_known(self) -> Data:
        if self.sessions is not None and self.questions == "all":
            raise ValueError('with `sessions`, give questions = "evidence_within": the others cannot be answered')
        return self


class Reader(Frozen):
    """Who answers from what a system found."""

    kind: Literal["extractive", "llm", "recorded"]
    model: Model | None = None
    """Of the reader `llm`."""
    prompts: str = "v1"
    """The version of amem's prompts that the template `answer` is taken from."""
    max_tokens: int = Field(default=150, ge=1)
    """Of one answer."""
    answers: Path | None = None
    """Of the reader `recorded`: the answers.jsonl of another run, or one in its form."""
    concurrency: int = Field(default=1, ge=1)
    """Questions asked at once."""

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> Reader:
        if (self.kind == "llm") != (self.model is not None):
            raise ValueError("the reader `llm` needs a model, and no other has one")
        if (self.kind == "recorded") != (self.answers is not None):
            raise ValueError("the reader `recorded` needs `answers`, and no other has them")
        return self


class SystemConfig(Frozen):
    """One system under test."""

    kind: SystemKind
    name: str = ""
    """What it is called in the report; default: its kind, and what sets it apart."""
    strategy: Literal["atomic", "fused", "paper", "raw"] | None = None
    """Of amem."""
    without: tuple[Part, ...] = ()
    """Of amem: what is ablated."""
    settings: dict[str, JsonValue] = {}
    """Of amem: any other setting."""
    model: Model | None = None
    """Who writes, where a system asks a language model."""
    k: Annotated[int, Field(ge=1)] | None = None
    """Of `recent`: turns at most. Of `hybrid`: the constant of the fusion. Of other people's: memories looked up."""
    window: Annotated[int, Field(ge=1)] | None = None
    """Of `full_context`: tokens that the reader can take."""
    python: Path | None = None
    """Of other people's: the interpreter of the environment it is installed in."""

    @property
    def label(self) -> str:
        """What the system is called."""
        if self.name:
            return self.name
        parts = [self.kind, self.strategy or "", *(f"no_{part}" for part in self.without)]
        return "_".join(part for part in parts if part)


class Config(Frozen):
    """The whole file."""

    name: str = ""
    """For people."""
    budget: int = Field(default=1000, ge=1)
    """Tokens of context that a system may give the reader."""
    compat: Compat = "fair"
    """`official` and `amem` show the reader the category, in those authors' ways; reports say so."""
    embedding: str = "minilm"
    """Of every system that embeds."""
    tokenizer: str = "wordpiece"
    """What the budget is counted with."""
    seed: int = 0
    similarity: bool = True
    """Whether answers are compared with right ones by their embeddings as well."""
    data: Data
    reader: Reader
    systems: Annotated[tuple[SystemConfig, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _names_differ(self) -> Config:
        names = [system.label for system in self.systems]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two systems are called {twice[0]!r}; give them names")
        return self

    @property
    def hash(self) -> str:
        """What the run means, whichever systems are in it: others may join later."""
        return digest({name: value for name, value in meaning(self).items() if name != "systems"})


def digest(value: Any) -> str:
    """Return twelve hex digits of what a value means."""
    return hashlib.sha256(canonical_json(meaning(value)).encode()).hexdigest()[:12]


def meaning(value: Any) -> Any:
    """Return what decides results, as JSON: without what only says how things are called and reached.

    Nor is what is as it is by default in it, so that a key that is new in a later version changes no hash.
    """
    if isinstance(value, dict):
        return {name: meaning(item) for name, item in value.items()}
    if isinstance(value, Frozen):
        left_out = NOT_IN_HASH.get(type(value).__name__, set())
        fields = {name: field.default for name, field in type(value).model_fields.items() if name not in left_out}
        return {
            name: meaning(getattr(value, name)) for name, default in fields.items() if getattr(value, name) != default
        }
    if isinstance(value, (tuple, list)):
        return [meaning(item) for item in value]
    return value


def load(path: Path, *, data: Path | None = None, compat: str | None = None, api_base: str | None = None) -> Config:
    """Read a configuration; paths in it are relative to its own folder, or begin with `~`.

    Args:
        path: the file, or the name of one that ships, without `.toml`.
        data: where the data lies, instead of the place in the file.
        compat: instead of the file's.
        api_base: where the models are that the file gives an address, instead of that.

    Raises:
        InputError: it cannot be read, or a key is unknown or has a bad value, with its place.
    """
    path = _shipped().get(str(path), path)
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        names = ", ".join(sorted(_shipped()))
        raise InputError(f"{path} cannot be read: {error.strerror or error}. These ship: {names}.") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path} is not TOML: {error}") from error
    if data is not None:
        values["data"] = {**values.get("data", {}), "path": data.absolute()}
    if compat is not None:
        values["compat"] = compat
    try:
        config = Config.model_validate(values)
    except ValidationError as error:
        raise InputError(f"{path}: {'; '.join(map(_problem, error.errors()))}. Nothing was done.") from error
    return _placed(config if api_base is None else _reached(config, api_base), path.parent)


def _shipped() -> dict[str, Path]:
    """Return the configurations that ship, by name."""
    return {path.stem: path for path in (Path(__file__).parents[1] / "configs").glob("*.toml")}


def _problem(found: ErrorDetails) -> str:
    place = ".".join(map(str, found["loc"]))
    if place == "data.path" and found["type"] == "missing":
        return "it does not say where the data is; give --data PATH"
    return f"{place or 'the file'}: {found['msg']}"


def _reached(config: Config, api_base: str) -> Config:
    """Return the configuration with the models of a server of one's own found at another address."""

    def moved(part: P) -> P:
        model = getattr(part, "model", None)
        if model is None or model.api_base is None:
            return part
        return part.model_copy(update={"model": model.model_copy(update={"api_base": api_base})})

    return config.model_copy(
        update={"reader": moved(config.reader), "systems": tuple(moved(system) for system in config.systems)}
    )


def _placed(config: Config, folder: Path) -> Config:
    """Return the configuration with its paths made absolute."""
    return config.model_copy(
        update={
            "data": _from(folder, config.data),
            "reader": _from(folder, config.reader),
            "systems": tuple(_from(folder, system) for system in config.systems),
        }
    )


def _from(folder: Path, part: P) -> P:
    """Return a part with its relative paths taken from a folder; no link is resolved: an interpreter may be one."""
    given = {name: getattr(part, name) for name in type(part).model_fields}
    paths = {name: (folder / value.expanduser()).absolute() for name, value in given.items() if isinstance(value, Path)}
    return part.model_copy(update=paths)
