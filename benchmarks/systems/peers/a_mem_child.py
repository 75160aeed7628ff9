"""Runs in the environment that the package a-mem is installed in, and in a folder of its own; it knows nothing of amem.

Its parent sends a line of JSON and gets one back. Embeddings are the parent's, for the package's own would pull torch
in: while it works, the child may send `{"embed": [texts]}` and be answered `{"vectors": [...]}`. The language model is
whatever OPENAI_BASE_URL says.
"""

from __future__ import annotations

import sys
from importlib.metadata import version
from types import ModuleType
from typing import Any

from child_pipe import Pipe  # type: ignore[import-not-found] # the file beside this one, where scripts are started


def without_torch() -> None:
    """Put empty modules where the package imports what it needs torch for, and never uses."""
    for name, words in (
        ("sentence_transformers", ("SentenceTransformer",)),
        ("transformers", ("AutoModel", "AutoTokenizer")),
    ):
        module = ModuleType(name)
        for word in words:
            setattr(module, word, type(word, (), {}))
        sys.modules[name] = module


def embedding(pipe: Pipe) -> type:
    """Return an embedding function for Chroma that asks the parent."""
    from chromadb import Documents, EmbeddingFunction, Embeddings

    class FromParent(EmbeddingFunction[Documents]):  # type: ignore[misc] # the library is not followed
        def __init__(self, model_name: str = "all-MiniLM-L6-v2") -> None:
            self._name = model_name

        def __call__(self, input: Documents) -> Embeddings:
            pipe.send({"embed": list(input)})
            vectors: Embeddings = pipe.take()["vectors"]
            return vectors

        @staticmethod
        def name() -> str:
            return "from-parent"

        def get_config(self) -> dict[str, Any]:
            return {"model_name": self._name}

        @staticmethod
        def build_from_config(config: dict[str, Any]) -> EmbeddingFunction[Documents]:
            return FromParent(**config)

    return FromParent


def memory(pipe: Pipe, model: str) -> Any:
    """Open the package's memory in the working folder."""
    without_torch()
    from chromadb.utils import embedding_functions

    embedding_functions.SentenceTransformerEmbeddingFunction = embedding(pipe)
    from agentic_memory.memory_system import AgenticMemorySystem  # type: ignore[import-not-found] # in that environment

    return AgenticMemorySystem(llm_backend="openai", llm_model=model, api_key="none", storage_path="chroma_db")


def found(system: Any, query: str, k: int) -> list[dict[str, Any]]:
    """Return the memories near a question, each followed by those it is linked with, as the package's own text is."""
    if not system.retriever.count():
        return []
    results = system.retriever.search(query, min(k, system.retriever.count()))
    notes = []
    for place, metadata in enumerate(results["metadatas"][0]):
        notes.append({"id": results["ids"][0][place], "linked": False, **shown(metadata)})
        linked = [note for name in (metadata.get("links") or [])[:k] if (note := system.read(str(name)))]
        notes += [{"id": note.id, "linked": True, **shown(vars(note))} for note in linked]
    return notes


def shown(note: dict[str, Any]) -> dict[str, Any]:
    """Return what the package writes of a memory."""
    return {name: note.get(name) or "" for name in ("content", "context", "keywords", "tags")}


def main() -> None:
    """Do what the parent says until it ends."""
    pipe = Pipe()
    system = memory(pipe, sys.argv[1])
    pipe.send({"ready": version("a-mem")})
    while True:
        order = pipe.take()
        if order["do"] == "add":
            system.add_note(order["content"], time=order["time"], id=order["id"])
            pipe.send({"notes": system.retriever.count()})
        else:
            pipe.send({"found": found(system, order["query"], order["k"])})


if __name__ == "__main__":
    main()
