"""The public doubles: they replace the transport only, and everything above it is the real thing.

The names load at first use: every pytest in an environment with amem loads the plugin, and with it this package.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from amem.embedding import HashEmbedder
    from amem.llm.recording import RecordedLLM, Recording, RecordingInvalid, RecordingMiss
    from amem.testing.doubles import FaultyLLM, ScriptedLLM, ScriptExhausted
    from amem.testing.embedders import RecordedEmbedder

__all__ = [
    "FaultyLLM",
    "HashEmbedder",
    "RecordedEmbedder",
    "RecordedLLM",
    "Recording",
    "RecordingInvalid",
    "RecordingMiss",
    "ScriptExhausted",
    "ScriptedLLM",
]

_HOMES = {
    "FaultyLLM": "amem.testing.doubles",
    "HashEmbedder": "amem.embedding",
    "RecordedEmbedder": "amem.testing.embedders",
    "RecordedLLM": "amem.llm.recording",
    "Recording": "amem.llm.recording",
    "RecordingInvalid": "amem.llm.recording",
    "RecordingMiss": "amem.llm.recording",
    "ScriptExhausted": "amem.testing.doubles",
    "ScriptedLLM": "amem.testing.doubles",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'amem.testing' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
