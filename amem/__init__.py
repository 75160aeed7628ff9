"""amem: agentic memory. Notes that an LLM annotates, links and lets evolve, on SQLite and Chroma.

The public names load at first use, so that `import amem` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amem.embedding import Embedder
    from amem.errors import AmemError
    from amem.intake import NewNote
    from amem.llm.protocol import LLM, Reply, Request
    from amem.memory import AsyncMemory
    from amem.model import AddResult, Context, Hit, Link, Note, Revision
    from amem.settings import Settings
    from amem.sync import Memory

__version__ = "0.1.0"

__all__ = [
    "LLM",
    "AddResult",
    "AmemError",
    "AsyncMemory",
    "Context",
    "Embedder",
    "Hit",
    "Link",
    "Memory",
    "NewNote",
    "Note",
    "Reply",
    "Request",
    "Revision",
    "Settings",
]

_HOMES = {
    "LLM": "amem.llm.protocol",
    "AddResult": "amem.model",
    "AmemError": "amem.errors",
    "AsyncMemory": "amem.memory",
    "Context": "amem.model",
    "Embedder": "amem.embedding",
    "Hit": "amem.model",
    "Link": "amem.model",
    "Memory": "amem.sync",
    "NewNote": "amem.intake",
    "Note": "amem.model",
    "Reply": "amem.llm.protocol",
    "Request": "amem.llm.protocol",
    "Revision": "amem.model",
    "Settings": "amem.settings",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'amem' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
