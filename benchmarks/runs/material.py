"""What a run works with: its data, its reader, its systems and their models, opened as the configuration says."""

from __future__ import annotations

import hashlib
import ipaddress
import os
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from amem.embedding import open_embedder
from amem.errors import InputError, SettingsError
from amem.tokens import open_tokenizer

from ..datasets.opening import open_dataset  # noqa: TID252 - in a wheel, this package has another name
from ..readers.extractive import ExtractiveReader  # noqa: TID252 - likewise
from ..readers.llm import ModelReader  # noqa: TID252 - likewise
from ..readers.recorded import RecordedReader  # noqa: TID252 - likewise
from ..systems.catalogue import OwnSettings, Shop  # noqa: TID252 - likewise
from .calls import Live
from .selecting import selected

if TYPE_CHECKING:
    from pathlib import Path

    from amem.embedding import Embedder
    from amem.llm.protocol import LLM
    from amem.tokens import Tokenizer

    from ..datasets.conversation import Conversation, Dataset, Question  # noqa: TID252 - likewise
    from ..readers.protocol import Reader  # noqa: TID252 - likewise
    from .config import Config, Data, Model


class Material(NamedTuple):
    """Everything but the systems and the models."""

    config: Config
    data: Dataset
    """What is asked, and what was said before."""
    hashes: dict[str, str]
    reader: Reader
    embedder: Embedder
    tokenizer: Tokenizer

    def shop(self, memories: Path) -> Shop:
        """Return what systems are made of."""
        return Shop(self.config, self.data, self.embedder, self.tokenizer, memories)

    def questions(self) -> list[tuple[Conversation, Question]]:
        """Return every question that is asked, in order."""
        return [
            (conversation, question) for conversation in self.data.conversations for question in conversation.questions
        ]


def material(config: Config) -> Material:
    """Open what a configuration names.

    Raises:
        InputError: data, or recorded answers, cannot be read.
        SettingsError: the embedding or the tokenizer is unknown.
    """
    settings = OwnSettings.load(embedding=config.embedding, tokenizer=config.tokenizer)
    data = opened(config.data)
    files = {"disputed": config.data.disputed, "plan": config.data.plan}
    hashes = {"data": data.sha256} | {name: file_hash(path) for name, path in files.items() if path is not None}
    return Material(
        config=config,
        data=selected(data, config.data),
        hashes=hashes,
        reader=reader(config),
        embedder=open_embedder(settings),
        tokenizer=open_tokenizer(settings),
    )


def opened(data: Data) -> Dataset:
    """Read the data set."""
    return open_dataset(
        data.path, captions=data.captions, shows=data.shows, plan=data.plan, seed=data.seed, episodes=data.episodes,
        answers=data.answers, names=data.names,
    )  # fmt: skip


def reader(config: Config) -> Reader:
    """Return who answers."""
    given = config.reader
    if given.kind == "extractive":
        return ExtractiveReader()
    if given.kind == "recorded":
        assert given.answers is not None
        return RecordedReader(given.answers)
    return ModelReader(compat=config.compat, version=given.prompts, max_tokens=given.max_tokens, seed=config.seed)


def model_of(model: Model, concurrency: int = 1) -> Live:
    """Return a model's client; it imports litellm at its first call, not here.

    Raises:
        SettingsError: the key's environment variable is not set.
    """
    key = _key(model)

    def opened() -> LLM:
        from amem.llm.litellm_client import LiteLLM
        from amem.llm.transport import load_litellm

        load_litellm()  # here, and not within the first call, whose seconds are measured
        return LiteLLM(
            model.name,
            api_base=model.api_base,
            api_key=key,
            timeout=model.timeout,
            deadline=model.deadline or 3 * model.timeout,
            retries=model.retries,
            concurrency=concurrency,
        )

    return Live(model.name, opened)


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file.

    Raises:
        InputError: it cannot be read.
    """
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}") from error


def _key(model: Model) -> str | None:
    """Return the key; a server on this machine needs none, but litellm wants one."""
    if model.api_key_env is not None:
        key = os.environ.get(model.api_key_env)
        if not key:
            raise SettingsError(f"{model.name}: the environment variable {model.api_key_env} is not set")
        return key
    return "none" if model.api_base is not None and _is_here(model.api_base) else None


def _is_here(address: str) -> bool:
    host = urlsplit(address).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
