"""Runs in the environment that the package mem0ai is installed in, in a folder of its own; it knows nothing of amem.

Its parent sends a line of JSON and gets one back. Its language model and its embeddings are whatever OPENAI_BASE_URL
says. The package takes the day of a conversation from the clock, so its clock is set to the turn's day: as if it had
been there.
"""

from __future__ import annotations

import os
import sys
from importlib.metadata import version
from typing import Any

from child_pipe import Pipe  # type: ignore[import-not-found] # the file beside this one, where scripts are started

OWNER = "conversation"
DIMENSIONS = 384


def memory(model: str) -> Any:
    """Open the package's memory in the working folder."""
    from mem0 import Memory  # type: ignore[import-not-found] # in that environment

    here = os.environ["OPENAI_BASE_URL"]
    return Memory.from_config(
        {
            "llm": {"provider": "openai", "config": {"model": model, "openai_base_url": here, "api_key": "none"}},
            "embedder": {"provider": "openai", "config": {
                "model": model, "openai_base_url": here, "api_key": "none", "embedding_dims": DIMENSIONS}},
            "vector_store": {"provider": "qdrant", "config": {
                "path": "qdrant", "on_disk": True, "embedding_model_dims": DIMENSIONS}},
            "history_db_path": "history.db",
        }
    )  # fmt: skip


def set_clock(day: str) -> None:
    """Let the package's prompts be of that day."""
    from mem0.configs import prompts  # type: ignore[import-not-found] # in that environment

    prompts._resolve_dates = lambda *_: (day, day)  # noqa: SLF001 - it offers no other way


def found(system: Any, query: str, k: int) -> list[dict[str, Any]]:
    """Return the facts near a question, best first."""
    results = system.search(query, top_k=k, filters={"user_id": OWNER})["results"]
    return [
        {"id": one["id"], "text": one["memory"], "turn": (one.get("metadata") or {}).get("turn")} for one in results
    ]


def main() -> None:
    """Do what the parent says until it ends."""
    from mem0.exceptions import LLMError  # type: ignore[import-not-found] # in that environment

    pipe = Pipe()
    system, facts = memory(sys.argv[1]), 0
    pipe.send({"ready": version("mem0ai")})
    while True:
        order = pipe.take()
        if order["do"] == "add":
            set_clock(order["day"])
            said = [{"role": "user", "content": order["content"]}]
            try:
                made = system.add(said, user_id=OWNER, metadata={"turn": order["id"], "created_at": order["at"]})
                facts += len(made["results"])
            except LLMError as error:  # the parent has counted it, and stops where the model cannot be had
                sys.stderr.write(f"{order['id']}: {error}\n")
            pipe.send({"notes": facts})
        else:
            pipe.send({"found": found(system, order["query"], order["k"])})


if __name__ == "__main__":
    main()
