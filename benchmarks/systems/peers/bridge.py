"""A door on loopback through which another process asks a run's language model and its embedder, as OpenAI's are asked.

So its calls are counted and kept like all others, whatever client it has.
"""

from __future__ import annotations

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Self

from pydantic import ValidationError

from amem.errors import AmemError
from amem.llm.protocol import Message, PromptRef, Reply, Request

if TYPE_CHECKING:
    from amem.embedding import Embedder
    from amem.llm.protocol import LLM

_PARAMS = ("temperature", "max_tokens")


class Bridge:
    """Serves one model on a free port of 127.0.0.1, while it is entered.

    Args:
        llm: the model; it is asked in the event loop that entered.
        prompt: what stands for the prompt's name in the run's calls.
        embedder: of texts; it is asked there too.
    """

    def __init__(self, llm: LLM, prompt: PromptRef, embedder: Embedder) -> None:
        self._llm = llm
        self._prompt = prompt
        self._embedder = embedder
        self._loop = asyncio.get_running_loop()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.bridge = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """Where a client finds it."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        """Open the door."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, path: str, body: bytes) -> tuple[int, dict[str, Any]]:
        """Return status and document for one request; a failure is status 400, which no client tries again."""
        try:
            if path.endswith("/embeddings"):
                return 200, self._embedded(json.loads(body))
            request = _request(json.loads(body), self._prompt)
            reply = asyncio.run_coroutine_threadsafe(self._llm.complete(request), self._loop).result()
        except (ValueError, ValidationError, KeyError, TypeError) as error:
            return 400, _refusal(f"the request is none of chat completions: {error}")
        except AmemError as error:
            return 400, _refusal(str(error))
        return 200, _document(reply)

    def _embedded(self, body: dict[str, Any]) -> dict[str, Any]:
        texts = [body["input"]] if isinstance(body["input"], str) else list(body["input"])
        rows = asyncio.run_coroutine_threadsafe(self._embedder.embed(texts), self._loop).result()
        data = [{"object": "embedding", "index": n, "embedding": row} for n, row in enumerate(rows.tolist())]
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        return {"object": "list", "data": data, "model": self._embedder.name, "usage": usage}


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    bridge: Bridge


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        """Answer one request."""
        status, document = self.server.bridge.answer(
            self.path, self.rfile.read(int(self.headers.get("Content-Length", 0)))
        )
        data = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the base class would write to stderr."""


def _request(body: dict[str, Any], prompt: PromptRef) -> Request:
    form = body.get("response_format") or {}
    schema = form.get("json_schema", {}).get("schema")
    return Request(
        prompt=prompt,
        variables={},
        messages=tuple(Message(role=one["role"], content=one["content"]) for one in body["messages"]),
        reply_schema={"type": "object"} if form.get("type") == "json_object" else schema,
        params={name: body[name] for name in _PARAMS if body.get(name) is not None},
    )


def _document(reply: Reply) -> dict[str, Any]:
    prompt, completion = reply.usage.prompt_tokens or 0, reply.usage.completion_tokens or 0
    message = {"role": "assistant", "content": reply.text}
    return {
        "id": "chatcmpl-0",
        "object": "chat.completion",
        "created": 0,
        "model": reply.model,
        "choices": [{"index": 0, "message": message, "finish_reason": reply.finish_reason}],
        "usage": {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion},
    }


def _refusal(problem: str) -> dict[str, Any]:
    return {"error": {"message": problem, "type": "refused", "code": None}}
