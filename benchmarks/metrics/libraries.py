"""The libraries that define the published metrics; they come with the extra `bench` and are imported at first use."""

from __future__ import annotations

from functools import cache, lru_cache
from importlib import import_module
from typing import Any

from amem.errors import InputError


def library(name: str) -> Any:
    """Import a module of the extra `bench`.

    Raises:
        InputError: it is not installed.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise InputError(f"{error.name} is not installed. Nothing was scored; `pip install 'amem[bench]'`.") from error


class Stemmer:
    """NLTK's Porter stemmer, the one all published scores go through, with a memory: it is slow."""

    @staticmethod
    @lru_cache(maxsize=100_000)
    def stem(word: str) -> str:
        """Return the stem of a word, in lower case."""
        return str(_porter().stem(word))


@cache
def _porter() -> Any:
    return library("nltk.stem.porter").PorterStemmer()


@cache
def wordnet() -> Any | None:
    """Return NLTK's WordNet, or None where its data is not in any folder NLTK looks into."""
    reader = library("nltk.corpus").wordnet
    try:
        reader.ensure_loaded()
    except LookupError:
        return None
    return reader


def wordnet_version() -> str | None:
    """Return which WordNet is there; METEOR's published values are those of 3.0."""
    found = wordnet()
    return None if found is None else str(found.get_version())
