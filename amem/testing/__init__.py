"""The public doubles: they replace the transport only, and everything above it is the real thing."""

from __future__ import annotations

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
