"""Network that is refused while recordings are replayed: a test that would ask a live service fails instead.

An audit hook, not a patched `socket`: other plugins patch that one, and asyncio's connections pass it by.
"""

from __future__ import annotations

import ipaddress
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_CONNECTING = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg"})
_RESOLVING = frozenset({"socket.getaddrinfo", "socket.gethostbyname"})


class NetworkBlocked(RuntimeError):
    """A test wanted to reach another machine while recordings are replayed; nothing was sent."""

    def __init__(self, host: str) -> None:
        self.host = host
        super().__init__(
            f"{host} was not reached: while recorded replies are replayed, only this machine may be. "
            "Give the code under test the fixture's model, or set `amem_network = open` in the pytest settings."
        )


class Guard:
    """Refuses connections to other machines while it is up. An audit hook cannot be taken away, only told to rest."""

    def __init__(self) -> None:
        self._installed = False
        self._refused: list[str] | None = None

    @contextmanager
    def up(self) -> Iterator[list[str]]:
        """Refuse connections for a while; yields the hosts that were refused."""
        if not self._installed:
            sys.addaudithook(self._hear)
            self._installed = True
        before, self._refused = self._refused, []
        try:
            yield self._refused
        finally:
            self._refused = before

    def _hear(self, event: str, given: tuple[object, ...]) -> None:
        if self._refused is None:
            return
        if event in _CONNECTING:
            address = given[1]  # of a Unix socket, it is a path
            host = address[0] if isinstance(address, tuple) else None
        elif event in _RESOLVING:
            host = given[0]
        else:
            return
        if not _is_here(host):
            self._refused.append(str(host))
            raise NetworkBlocked(str(host))


def _is_here(host: object) -> bool:
    """Whether a host is this machine; an empty name means all of its own addresses."""
    if isinstance(host, bytes):
        host = host.decode("ascii", "replace")
    if not isinstance(host, str) or host in {"", "localhost"} or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False
