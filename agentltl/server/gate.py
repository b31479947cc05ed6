"""Who may come in: the token, the names by which the server is called, the size of what is sent, and free slots.

It stands before the application of the SDK, so what it refuses has not been read, or not been parsed.
"""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any
from urllib.parse import urlsplit

from agentltl.server.address import is_loopback
from agentltl.server.settings import Settings
from agentltl.server.slots import Slots

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

STREAMING = frozenset({"SendStreamingMessage", "message/stream"})
SENDING = STREAMING | {"SendMessage", "message/send"}
"""The methods that start a run, in both versions of the protocol."""
SLOT = "agentltl.slot"
"""Where the slot of a message is in the scope of its request."""
BUSY = "the agent is busy: all of its runs are taken, try again later"

_BODY_SECONDS = 30.0


class Refused(Exception):
    """A request that is not let in: the status, why, and further headers of the answer."""

    def __init__(self, status: int, why: str, **headers: str) -> None:
        super().__init__(why)
        self.status, self.headers = status, headers


class Gate:
    """The application behind its checks. `open` counts the requests that are in it; `closed` lets no more in.

    Without a token the server listens to this machine alone, and then a page in a browser must not reach it: neither by
    a name of its own that leads here (`Host`), nor across origins (`Origin`, and a content type that browsers ask for
    first).
    """

    def __init__(self, app: App, settings: Settings, slots: Slots, public_paths: frozenset[str]) -> None:
        self.closed = False
        self.open = 0
        self._app, self._settings, self._slots, self._public = app, settings, slots, public_paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        self.open += 1
        try:
            await self._enter(scope, receive, send)
        except Refused as refused:
            await _answer(send, refused)
        finally:
            self.open -= 1

    async def _enter(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        self._check_caller(scope, headers)
        if scope["method"] != "POST":
            return await self._app(scope, receive, send)
        body = await self._body(headers, receive)
        slot = None
        if _method(body) in SENDING and (slot := self._slots.reserve()) is None:
            raise Refused(429, BUSY, **{"retry-after": "1"})
        try:
            await self._app({**scope, SLOT: slot}, _replayed(body, receive), send)
        finally:
            if slot is not None and not slot.taken:
                slot.release()

    def _check_caller(self, scope: Scope, headers: Mapping[str, str]) -> None:
        if self.closed:
            raise Refused(503, "the server is being closed")
        token = self._settings.token
        if token is None:
            if not is_loopback(_named(f"http://{headers.get('host', '')}")[0]):
                raise Refused(421, "the server is called by a name that is not this machine's own: use 127.0.0.1")
            if "origin" in headers and not _is_own(headers["origin"], scope):
                raise Refused(403, "pages of other origins are not let in: this server has its own alone")
        elif not (scope["method"] in ("GET", "HEAD") and scope["path"] in self._public):
            scheme, _, given = headers.get("authorization", "").partition(" ")
            if not hmac.compare_digest(given.strip().encode(), token.encode()) or scheme.lower() != "bearer":
                raise Refused(401, "the token is missing or wrong", **{"www-authenticate": "Bearer"})

    async def _body(self, headers: Mapping[str, str], receive: Receive) -> bytes:
        """What is sent, if it is not too much; a length that is told is believed only when it is."""
        if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            raise Refused(415, "JSON is expected, as application/json")
        most = self._settings.max_body_bytes
        too_much = Refused(413, f"the body has more than {most} bytes")
        told = headers.get("content-length", "")
        if told.isdecimal() and (len(told) > 18 or int(told) > most):
            raise too_much
        pieces, size, more = [], 0, True
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Refused(400, "the body has not come to its end")
                    pieces.append(message.get("body", b""))
                    size, more = size + len(pieces[-1]), message.get("more_body", False)
                    if size > most:
                        raise too_much
        except TimeoutError:
            raise Refused(408, "the body has not come in time") from None
        return b"".join(pieces)


def _is_own(origin: str, scope: Scope) -> bool:
    """Whether an origin is the server's address as this machine calls it: its scheme, a name of it, its very port."""
    host, port = _named(origin, scope["scheme"])
    return is_loopback(host) and scope["server"] is not None and port == scope["server"][1]


def _named(url: str, scheme: str = "http") -> tuple[str, int]:
    """The host and the port of an address of this scheme with nothing before or after them; none of any other."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return "", 0
    more = "@" in parts.netloc or url.lower() != f"{parts.scheme}://{parts.netloc.lower()}"
    if more or parts.scheme != scheme:
        return "", 0
    return host, (443 if scheme == "https" else 80) if port is None else port


def _method(body: bytes) -> str:
    """The method of a request, empty for what is none: the application says what is wrong with it."""
    try:
        method = json.loads(body).get("method")
    except (ValueError, AttributeError, RecursionError):
        return ""
    return method if isinstance(method, str) else ""


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body once more; after it, what else comes."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replayed() -> Message:
        return left.pop() if left else await receive()

    return replayed


async def _answer(send: Send, refused: Refused) -> None:
    error = {"code": -32600, "message": str(refused)}
    body = json.dumps({"jsonrpc": "2.0", "id": None, "error": error}).encode()
    headers = {"content-type": "application/json", "content-length": str(len(body)), **refused.headers}
    # What has not been read of a body would be taken for the next request.
    headers["connection"] = "close"
    pairs = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": refused.status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
