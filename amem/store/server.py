"""Never waiting for a Chroma server without limit, which chromadb's own client does."""

from __future__ import annotations

import http.client
from typing import Any

from amem.errors import IndexUnavailable

SECONDS = 30.0
"""For one request."""
_KNOCK_SECONDS = 5.0


def sessions_of(client: Any) -> list[Any]:
    """Return a client's connections to its server: it neither limits how long they wait, nor closes them."""
    owners = (client, getattr(client, "_admin_client", None))
    found = (getattr(getattr(owner, "_server", None), "_session", None) for owner in owners)
    return [session for session in found if session is not None]


def knock(host: str, port: int, *, secure: bool) -> None:
    """Ask a server for its heartbeat with a time limit, since Chroma's own client has none while it connects."""
    kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
    connection = kind(host, port, timeout=_KNOCK_SECONDS)
    try:
        connection.request("GET", "/api/v2/heartbeat")
        status = connection.getresponse().status
    finally:
        connection.close()
    if status != 200:
        raise IndexUnavailable(f"{host}:{port} answers {status}, not as a Chroma server does")
