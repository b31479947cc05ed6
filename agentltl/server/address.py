"""Where a server listens: a socket that is bound before the server starts, so that what fails, fails at once."""

from __future__ import annotations

import errno
import ipaddress
import os
import socket
from typing import cast

from agentltl.errors import ConstraintError, DeployError


def bound(host: str, port: int, *, guarded: bool) -> socket.socket:
    """A socket that is bound to the address; port 0 finds a free one.

    A host that others can reach needs `guarded`, a token: otherwise it is a `ConstraintError`, and nothing is bound. An
    address that cannot be had is a `DeployError`.
    """
    if not isinstance(cast(object, port), int) or isinstance(port, bool) or not 0 <= port <= 65535:
        raise ConstraintError(f"`port={port!r}` is no port\ngive a whole number from 1 to 65535, or 0 for a free one")
    family, address = _resolved(host, port)
    if not guarded and not is_loopback(address[0]):
        raise ConstraintError(
            f"`host={host!r}` can be reached from other machines, and there is no token\n"
            "give a `token`, or a host of this machine alone: 127.0.0.1"
        )
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # elsewhere it would let two servers share a port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise DeployError(_why(host, port, error)) from error
    listening.setblocking(False)
    return listening


def is_loopback(host: str) -> bool:
    """Whether a host's name or address is that of this machine to itself."""
    name = host.strip("[]").rstrip(".").lower()
    try:
        return ipaddress.ip_address(name.partition("%")[0]).is_loopback
    except ValueError:
        return name == "localhost" or name.endswith(".localhost")


def url_of(listening: socket.socket) -> str:
    """The address of a bound socket as this machine can use it."""
    host, port = listening.getsockname()[:2]
    if ipaddress.ip_address(host.partition("%")[0]).is_unspecified:
        host = "::1" if listening.family == socket.AF_INET6 else "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _resolved(host: str, port: int) -> tuple[int, tuple[str, int]]:
    """The family and the address of a host; IPv4 where it has both."""
    if not isinstance(cast(object, host), str) or not host:
        raise ConstraintError(f"`host={host!r}` is no host\ngive a name or an address: 127.0.0.1")
    host = host.removeprefix("[").removesuffix("]")
    try:
        version = ipaddress.ip_address(host).version
        return (socket.AF_INET if version == 4 else socket.AF_INET6), (host, port)
    except ValueError:
        pass  # a name
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise DeployError(f"the host `{host}` is not known\ngive a name or an address of this machine") from error
    family, _, _, _, address = min(found, key=lambda one: one[0] != socket.AF_INET)
    return family, address  # type: ignore[return-value]  # the longer ones of IPv6 are passed on as they are


def _why(host: str, port: int, error: OSError) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return f"port {port} of `{host}` is in use\ngive another one, or `port=0` for a free one"
        case errno.EADDRNOTAVAIL:
            return f"`{host}` is no address of this machine\ngive one of its own, or 0.0.0.0 for all of them"
        case errno.EACCES:
            return f"port {port} of `{host}` is not allowed to this process\ngive a port from 1024, or `port=0`"
    return f"`{host}` cannot be listened to at port {port}: {error.strerror or error}\ngive another host or port"
