"""A real HTTP server on loopback that speaks OpenAI's chat completions, and every way they go wrong.

    with FaultServer(fails(429, retry_after=0), says('{"tags": []}')) as server:
        llm = LiteLLM("openai/fake", api_base=server.url, api_key="none")

It answers in the order planned. When the plan runs out, `default` answers; without one that is status 418,
which no client retries: an unplanned request is a finding, never a repeat of the last answer.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Literal, Self

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from pydantic import JsonValue

Manner = Literal["whole", "reset", "cut", "drip"]


@dataclass(frozen=True)
class Answer:
    """One planned answer, and the manner in which it is sent."""

    body: bytes = b""
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("Content-Type", "application/json"),)
    manner: Manner = "whole"
    seconds: float = 0.0
    """How long a `drip` lasts, or how long any other answer is kept waiting for."""


@dataclass(frozen=True)
class Seen:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: dict[str, JsonValue]
    at: float = field(default_factory=time.monotonic)


def replies(content: JsonValue, *, status: int = 200, **headers: str) -> Answer:
    """Answer with any JSON document; a keyword such as `retry_after` becomes the header Retry-After."""
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Answer(json.dumps(content).encode(), status, (("Content-Type", "application/json"), *named))


def says(
    text: str | None,
    *,
    finish_reason: str = "stop",
    refusal: str | None = None,
    tokens: tuple[int, int] | None = (11, 7),
    seconds: float = 0.0,
) -> Answer:
    """Answer with a chat completion; `tokens` are those of the prompt and of the completion."""
    message: dict[str, JsonValue] = {"role": "assistant", "content": text}
    if refusal is not None:
        message["refusal"] = refusal
    content: dict[str, JsonValue] = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "fault-server",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason}],
    }
    if tokens is not None:
        prompt, completion = tokens
        usage = {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
        }
        content["usage"] = dict(usage)
    return Answer(json.dumps(content).encode(), seconds=seconds)


def fails(status: int, message: str = "planned failure", *, retry_after: str | float | None = None) -> Answer:
    """Answer with an error in the provider's JSON form."""
    named = {} if retry_after is None else {"Retry_After": str(retry_after)}
    return replies({"error": {"message": message, "type": "planned", "code": None}}, status=status, **named)


def html(status: int = 200) -> Answer:
    """Answer with a web page, as a proxy or a captive portal does."""
    page = b"<!doctype html><html><body><h1>Please sign in</h1></body></html>"
    return Answer(page, status, (("Content-Type", "text/html"),))


def resets() -> Answer:
    """Drop the connection with a TCP reset instead of answering."""
    return Answer(manner="reset")


def cuts_off() -> Answer:
    """Promise a whole answer, send half of it, and hang up."""
    return Answer(says('{"never": "complete"}').body, manner="cut")


def drips(seconds: float) -> Answer:
    """Send a byte now and then for `seconds`, so that no single read ever times out."""
    return Answer(says("{}").body, manner="drip", seconds=seconds)


class FaultServer:
    """Serves the planned answers on a free port of 127.0.0.1, one thread a connection."""

    def __init__(self, *answers: Answer, default: Answer | Callable[[Seen], Answer] | None = None) -> None:
        self.default = default
        """What answers once the plan is used up."""
        self.requests: list[Seen] = []
        """Every request so far, in order of arrival."""
        self.peak = 0
        """The most requests that were being answered at once."""
        self.connections = 0
        """How many connections were opened."""
        self.closing = threading.Event()
        self._plan = list(answers)
        self._now = 0
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.faults = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """Pass as `api_base`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def bodies(self) -> list[dict[str, JsonValue]]:
        """The JSON bodies of all requests so far."""
        return [request.body for request in self.requests]

    def plan(self, *answers: Answer) -> None:
        """Add answers to the end of the plan."""
        with self._lock:
            self._plan.extend(answers)

    def take(self, seen: Seen) -> Answer:
        """Note a request and choose its answer; `done` must follow."""
        with self._lock:
            self.requests.append(seen)
            self._now += 1
            self.peak = max(self.peak, self._now)
            if self._plan:
                return self._plan.pop(0)
        if self.default is None:
            return fails(418, f"unplanned request number {len(self.requests)}")
        return self.default(seen) if callable(self.default) else self.default

    def done(self) -> None:
        """Note that a request was answered."""
        with self._lock:
            self._now -= 1

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.hang_up()
        self._server.server_close()
        self._thread.join()


class _Server(ThreadingHTTPServer):
    """Joins its threads on closing, after hanging up on idle keep-alive connections."""

    daemon_threads = False
    request_queue_size = 128
    faults: FaultServer

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self._open: set[socket.socket] = set()
        super().__init__(address, handler)

    def process_request(self, request: socket.socket | tuple[bytes, socket.socket], client_address: object) -> None:
        """Remember the connection, then serve it in its own thread."""
        assert isinstance(request, socket.socket)
        self._open.add(request)
        self.faults.connections += 1
        super().process_request(request, client_address)

    def shutdown_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        """Forget the connection and close it."""
        assert isinstance(request, socket.socket)
        self._open.discard(request)
        super().shutdown_request(request)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients that give up are part of the tests."""

    def hang_up(self) -> None:
        """End all open connections."""
        for connection in list(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: _Server

    def do_POST(self) -> None:
        """Answer one request as planned."""
        faults = self.server.faults
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        answer = faults.take(Seen(self.path, dict(self.headers.items()), json.loads(raw)))
        try:
            if answer.manner != "drip" and answer.seconds:
                faults.closing.wait(answer.seconds)
            self._send(answer)
        finally:
            faults.done()

    def _send(self, answer: Answer) -> None:
        if answer.manner == "reset":
            self._reset()
            return
        self.send_response(answer.status)
        for name, value in answer.headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer.body)))
        self.end_headers()
        if answer.manner == "drip":
            self._drip(answer)
        elif answer.manner == "cut":
            self.wfile.write(answer.body[: len(answer.body) // 2])
            self.close_connection = True
        else:
            self.wfile.write(answer.body)

    def _drip(self, answer: Answer) -> None:
        pause = answer.seconds / len(answer.body)
        for at in range(len(answer.body)):
            if self.server.faults.closing.wait(pause):
                break
            self.wfile.write(answer.body[at : at + 1])

    def _reset(self) -> None:
        self.close_connection = True
        # Lingering for zero seconds turns the close into a reset; every file over the socket must go first.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.rfile.close()
        self.wfile.close()
        self.connection.close()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the base class would write to stderr."""
