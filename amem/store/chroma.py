"""Chroma as a vector index, and the one place that loads `chromadb` (at first use, as it takes two seconds).

Chroma holds ids, vectors and filter fields, never text, and nothing it says is the truth: ids are candidates, and the
ledger decides. Whatever goes wrong inside is an `IndexUnavailable`, after which search goes on without it.
"""

from __future__ import annotations

import hashlib
import secrets
import sys
import threading
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import numpy as np

from amem.errors import IndexUnavailable
from amem.store.codec import condition, encoded
from amem.store.folder import FOLDER, Graphs, identity
from amem.store.guard import ChromaClosed, guarded
from amem.store.matrix import Match, similarity
from amem.store.server import SECONDS, knock, sessions_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from amem.store.codec import Value

PAGE = 5000
"""Rows read at once; Chroma fails above 32,766."""
_SERVER_BOXES = 10_000
_GRAPH = {"space": "cosine", "ef_construction": 40, "ef_search": 200}
"""Against Chroma's 100 and 100, over 10,000 notes of real dialogue: a changed note costs 1.4 ms of CPU, not 2.6, a new
one .6, not 1.0; the best five are found 99.5 % of the time, not 97.5 %; a query costs the same."""


def collection_name(box: str) -> str:
    """Return a name that Chroma takes for any box, and that no collection ever had.

    A box that gets a collection anew thus never meets what an older one left, and two memories may share a server.
    """
    return f"box-{hashlib.sha256(box.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}-{secrets.token_hex(4)}"


class ChromaIndex:
    """One Chroma database, embedded in this process or on a server."""

    def __init__(self, client: Any, folder: Path | None) -> None:
        self._client = client
        self._folder = folder
        self._identity = identity(folder)
        self._collections: dict[str, Any] = {}
        self._dropped: set[str] = set()
        self._graphs = Graphs(folder)
        self._changing = threading.RLock()
        self._closed = False
        self._sessions = sessions_of(client)
        for session in self._sessions:
            session.timeout = SECONDS
        with guarded("be asked for its limits"):
            self._batch = int(client.get_max_batch_size())

    @classmethod
    def embedded(cls, directory: Path) -> ChromaIndex:
        """Open the database in `directory`, creating it where there is none; the caller must hold its lock.

        Raises:
            IndexUnavailable: it cannot be opened.
        """
        folder = directory / FOLDER
        _chromadb()
        with ExitStack() as unless_opened, guarded("be opened"):
            unless_opened.callback(_give_up, folder)
            client = opened(folder)
            unless_opened.pop_all()
        return cls(client, folder)

    @classmethod
    def server(cls, url: str) -> ChromaIndex:
        """Connect to a Chroma server, such as `http://localhost:8000`.

        Raises:
            IndexUnavailable: it cannot be reached, or is no Chroma server.
        """
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise IndexUnavailable(f"chroma_url {url!r} is not an address such as http://localhost:8000")
        secure = parts.scheme == "https"
        port = parts.port or (443 if secure else 8000)
        with guarded(f"be reached at {url}"):
            knock(parts.hostname, port, secure=secure)
            client = _chromadb().HttpClient(parts.hostname, port, ssl=secure, settings=_settings())
        return cls(client, None)

    @property
    def shared(self) -> bool:
        """Whether other processes may write to it at the same time."""
        return self._folder is None

    @property
    def capacity(self) -> int:
        """How many collections it can serve: beyond that, an embedded Chroma fails queries of small ones."""
        if self.shared or sys.platform == "win32":
            return _SERVER_BOXES
        import resource

        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        return _SERVER_BOXES if files == resource.RLIM_INFINITY else max(files // 5 - 2, 0)

    def names(self) -> set[str]:
        """Return the names of all collections."""
        with self._using("list its collections"):
            return {collection.name for collection in self._client.list_collections()}

    def upsert(
        self,
        name: str,
        ids: Sequence[str],
        vectors: NDArray[np.float32],
        filters: Sequence[Mapping[str, Value]],
    ) -> int:
        """Store vectors with their filter fields, in place of what the ids had; ids must be distinct.

        What is there already is dropped first: its graph takes three times as long to move a point as to forget it and
        take in a new one. But a place in the graph is never used again.

        Returns:
            How many places have become useless.
        """
        collection = self._collection(name)
        dropped = 0
        for start in range(0, len(ids), self._batch):
            some = slice(start, start + self._batch)
            with self._changing, self._using("store vectors", name):
                dropped += _drop(collection, ids[some])
                collection.upsert(
                    ids=list(ids[some]),
                    embeddings=vectors[some],
                    metadatas=[encoded(fields) for fields in filters[some]],
                )
                self._graphs.blank()
        return dropped

    def delete(self, name: str, ids: Sequence[str]) -> int:
        """Drop ids, known to Chroma or not; return how many places in its graph have become useless."""
        collection = self._collection(name)
        with self._changing, self._using("drop vectors", name):
            return sum(_drop(collection, ids[start : start + self._batch]) for start in range(0, len(ids), self._batch))

    def query(
        self,
        name: str,
        queries: NDArray[np.float32],
        k: int,
        where: Mapping[str, Value] | None = None,
    ) -> list[list[Match]]:
        """Return the `k` nearest ids to each query, best first; `where` holds fields that must be equal."""
        if k < 1 or not len(queries):
            return [[] for _ in queries]
        asked = {"query_embeddings": queries, "n_results": k, "where": condition(where), "include": ["distances"]}
        found = self._steadily("be searched", name, partial(self._collection(name).query, **asked))
        pairs = zip(found["ids"], found["distances"], strict=True)
        return [[Match(i, similarity(d)) for i, d in zip(*pair, strict=True)] for pair in pairs]

    def count(self, name: str) -> int:
        """Return how many vectors a collection has."""
        collection = self._collection(name)
        with self._using("be counted", name):
            return int(collection.count())

    def ids(self, name: str) -> Iterator[str]:
        """Yield every id of a collection, read page by page."""
        for page in self._pages(name, []):
            yield from page["ids"]

    def rows(self, name: str) -> Iterator[tuple[list[str], NDArray[np.float32]]]:
        """Yield all ids with their vectors, a page at a time."""
        for page in self._pages(name, ["embeddings"]):
            yield page["ids"], np.array(page["embeddings"], dtype=np.float32)

    def _pages(self, name: str, include: list[str]) -> Iterator[Any]:
        collection = self._collection(name)
        for start in range(0, self.count(name), PAGE):
            page = partial(collection.get, include=include, limit=PAGE, offset=start)
            yield self._steadily("be read", name, page)

    def drop(self, name: str) -> None:
        """Remove a collection, if it is there; whoever searches it meanwhile is told that it is gone."""
        there = name in self.names()
        self._dropped.add(name)
        self._collections.pop(name, None)
        if there:
            with self._changing, guarded("drop a collection"):
                self._client.delete_collection(name)

    def close(self) -> None:
        """Close the client; an embedded database writes what it holds back."""
        self._closed = True
        self._collections.clear()
        with guarded("be closed"):
            self._client.close()
            for session in self._sessions:
                session.close()

    def create(self, name: str) -> None:
        """Make a collection, unless it is there."""
        with self._changing, self._using("make a collection", name):
            collection = self._client.get_or_create_collection(
                name,
                embedding_function=None,  # the default one downloads a model; vectors are always given
                configuration={"hnsw": _GRAPH},
            )
            self._take(name, collection)

    def _collection(self, name: str) -> Any:
        known = self._collections.get(name)
        if known is not None:
            return known
        with self._changing, self._using("open a collection", name):
            if name not in self._collections:
                self._take(name, self._client.get_collection(name, embedding_function=None))
            return self._collections[name]

    def _take(self, name: str, collection: Any) -> None:
        """Look into a collection for the first time, which has Chroma make the files of its graph."""
        _checked(collection).count()
        self._graphs.blank()
        self._collections[name] = collection

    def _steadily(self, what: str, name: str, ask: Callable[[], Any]) -> Any:
        """Ask Chroma, and ask again while nobody changes anything before a failure is believed.

        While a collection gets its first vectors, or loses some, Chroma fails whoever looks in between.
        """
        try:
            with self._using(what, name):
                return ask()
        except ChromaClosed:
            raise
        except IndexUnavailable:
            with self._changing, self._using(what, name):
                return ask()

    def _using(self, what: str, name: str | None = None) -> guarded:
        if self._folder is not None and identity(self._folder) != self._identity:
            raise IndexUnavailable("Chroma's folder was removed or replaced while it was open")
        return guarded(what, lambda: self._closed or name in self._dropped)


def _drop(collection: Any, ids: Sequence[str]) -> int:
    there = collection.get(ids=list(ids), include=[])["ids"]
    if there:
        collection.delete(ids=there)
    return len(there)


def _checked(collection: Any) -> Any:
    """Refuse a collection that keeps the wrong space: `get_or_create` says nothing and changes nothing."""
    space = collection.configuration_json["hnsw"]["space"]
    if space != "cosine":
        raise IndexUnavailable(f"Chroma's {collection.name} was made for {space} distances. Run `amem reindex`")
    return collection


def opened(folder: Path) -> Any:
    """Open the database in a folder, whoever made it."""
    return _chromadb().PersistentClient(str(folder), settings=_settings())


def _chromadb() -> Any:
    import chromadb

    return chromadb


def _give_up(folder: Path) -> None:
    """Have Chroma forget a database that did not start: it would give the same broken half to the next who opens it."""
    from chromadb.api.shared_system_client import SharedSystemClient

    SharedSystemClient._identifier_to_system.pop(str(folder), None)  # noqa: SLF001 - there is no other way


def _settings() -> Any:
    from chromadb.config import Settings

    # Without `_env_file=None` Chroma reads the `.env` of whatever directory the program was started in.
    return Settings(_env_file=None, anonymized_telemetry=False)
