"""From a configuration's entry to the system it names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from amem.errors import InputError
from amem.settings import Settings

from .ablated import Ablated
from .amem import Amem
from .peers import a_mem, mem0ai
from .plain import Everything, Nothing, Oracle, Recent
from .ranked import Dense, Hybrid, Lexical

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

    from amem.embedding import Embedder
    from amem.llm.protocol import LLM
    from amem.tokens import Tokenizer

    from ..datasets.conversation import Dataset  # noqa: TID252 - in a wheel, this package has another name
    from ..runs.config import Config, SystemConfig, SystemKind  # noqa: TID252 - likewise
    from .peers.process import Package
    from .protocol import System


class OwnSettings(Settings):
    """Settings that no environment variable changes: a run is what its configuration says."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003 - pydantic-settings' signature
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - likewise
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - likewise
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - likewise
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read arguments only."""
        return (init_settings,)


class Shop(NamedTuple):
    """What systems are made of."""

    config: Config
    data: Dataset
    embedder: Embedder
    tokenizer: Tokenizer
    folder: Path
    """Where systems keep their memories."""


def system(entry: SystemConfig, shop: Shop, llm: LLM | None) -> System:
    """Return the system that an entry names.

    Args:
        entry: of the configuration.
        shop: what systems are made of.
        llm: the entry's model, where it has one.

    Raises:
        InputError: the entry lacks something, or has what its kind does not take.
        SettingsError: a setting of amem is unknown or has a bad value.
    """
    _refuse_idle(entry)
    make: dict[SystemKind, Callable[[], System]] = {
        "none": lambda: Nothing(shop.tokenizer),
        "full_context": lambda: Everything(shop.tokenizer, entry.window),
        "recent": lambda: Recent(shop.tokenizer, entry.k),
        "bm25": lambda: Lexical(shop.tokenizer),
        "dense": lambda: Dense(shop.tokenizer, shop.embedder),
        "hybrid": lambda: Hybrid(shop.tokenizer, shop.embedder, entry.k or 60),
        "oracle": lambda: Oracle(shop.tokenizer, _evidence(shop.data, sessions=False)),
        "oracle_sessions": lambda: Oracle(shop.tokenizer, _evidence(shop.data, sessions=True)),
        "amem": lambda: _amem(entry, shop, llm),
        "a-mem": lambda: a_mem.AMem(a_mem.PACKAGE, **_apart(a_mem.PACKAGE, entry, shop, llm), k=entry.k or a_mem.K),
        "mem0": lambda: mem0ai.Mem0(mem0ai.PACKAGE, **_apart(mem0ai.PACKAGE, entry, shop, llm), k=entry.k or mem0ai.K),
    }
    return make[entry.kind]()


_TAKES = {
    "amem": {"strategy", "without", "settings", "model"},
    "a-mem": {"model", "k", "python"},
    "mem0": {"model", "k", "python"},
    "recent": {"k"},
    "hybrid": {"k"},
    "full_context": {"window"},
}
_ALWAYS = {"kind", "name"}


def _refuse_idle(entry: SystemConfig) -> None:
    """Refuse what would be without effect: it was meant to have one."""
    idle = entry.model_fields_set - _ALWAYS - _TAKES.get(entry.kind, set())
    if idle:
        raise InputError(f"{entry.label}: a system of the kind {entry.kind} takes no {', '.join(sorted(idle))}")


def _evidence(data: Dataset, *, sessions: bool) -> dict[str, tuple[str, ...]]:
    questions = [question for conversation in data.conversations for question in conversation.questions]
    return {q.key: q.evidence_sessions if sessions else q.evidence for q in questions}


def _apart(package: Package, entry: SystemConfig, shop: Shop, llm: LLM | None) -> dict[str, Any]:
    """Return what somebody else's package is made of."""
    if llm is None:
        raise InputError(f"{entry.label}: the package {package.name} needs a model")
    if entry.python is None:
        raise InputError(f"{entry.label}: the package {package.name} needs an environment of its own. {package.how}")
    return {
        "folder": shop.folder / entry.label, "python": entry.python, "llm": llm, "embedder": shop.embedder,
        "tokenizer": shop.tokenizer,
    }  # fmt: skip


def _amem(entry: SystemConfig, shop: Shop, llm: LLM | None) -> Amem:
    strategy = entry.strategy or ("raw" if entry.model is None else "fused")
    if (strategy == "raw") != (llm is None):
        raise InputError(f"{entry.label}: the strategy {strategy} {'asks no model' if llm else 'needs a model'}")
    own = {"strategy": strategy, "embedding": shop.config.embedding, "tokenizer": shop.config.tokenizer}
    taken = sorted(own.keys() & entry.settings.keys() | {"llm", "api_base", "api_key"} & entry.settings.keys())
    if taken:
        raise InputError(f"{entry.label}: {taken[0]} is no setting of one system; the configuration has a key for it")
    values: dict[str, Any] = own | entry.settings
    settings = OwnSettings.load(llm=None if llm is None else llm.model, **values)
    writer = Ablated(llm, entry.without) if llm is not None and entry.without else llm
    return Amem(shop.folder / entry.label, settings, shop.embedder, writer)
