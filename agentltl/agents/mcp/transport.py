"""The two ways to a server: the standard input and output of a process, and streamable HTTP."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections import deque
from collections.abc import AsyncIterator
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from agentltl.agents.mcp.settings import Http, Server, Stdio
from agentltl.errors import MissingExtraError

if TYPE_CHECKING:
    from mcp import ClientSession

log = logging.getLogger("agentltl")

_KEPT = 20
_LONGEST = 4096
_CONNECT_SECONDS = 30.0


def require_sdk() -> None:
    """Raises `MissingExtraError` without the extra `mcp`."""
    try:
        import mcp.client.streamable_http  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("tools of MCP servers", "mcp") from error


class LastWords:
    """What a process writes to its standard error: logged for debugging, and the last lines kept."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._lines: deque[str] = deque(maxlen=_KEPT)

    @property
    def last(self) -> str:
        """The last line that is not blank."""
        return next((line for line in reversed(self._lines.copy()) if line), "")

    @contextlib.contextmanager
    def listening(self) -> Any:
        """A file to write to. A thread reads from its other end, until nobody can write to it any more."""
        reading, writing = os.pipe()
        thread = threading.Thread(target=self._read, args=(reading,), name=f"mcp-{self._server.name}-err", daemon=True)
        thread.start()
        try:
            with os.fdopen(writing, "w") as file:
                yield file
        finally:
            # Not for ever: a process that the server has left behind may hold the pipe open.
            thread.join(timeout=1)

    def _read(self, reading: int) -> None:
        with os.fdopen(reading, encoding="utf-8", errors="replace") as lines:
            for line in iter(lambda: lines.readline(_LONGEST), ""):
                text = self._server.tell(line.strip())
                self._lines.append(text)
                log.debug("MCP server `%s`: %s", self._server.name, text)


class EndedError(Exception):
    """The other side has ended the connection."""


@contextlib.asynccontextmanager
async def session(server: Server, words: LastWords) -> AsyncIterator[ClientSession]:
    """A session with the server, whose transport is open and which has not been initialized.

    When the server ends, the body is cancelled and `EndedError` comes out, in a group. The SDK alone only fails the
    calls that it knows of, and leaves one that comes a moment later without an answer.
    """
    from mcp import ClientSession
    from mcp.types import Implementation

    transport = _stdio(server, words) if isinstance(server, Stdio) else _http(server)
    async with (
        transport as (incoming, writing),
        _watched(incoming) as reading,
        ClientSession(
            reading, writing, client_info=Implementation(name="agentltl", version=version("agentltl"))
        ) as opened,
    ):
        yield opened


@contextlib.asynccontextmanager
async def _watched(incoming: Any) -> AsyncIterator[Any]:
    """What comes in, passed on; raises `EndedError` when nothing can come any more."""
    import anyio

    sending, reading = anyio.create_memory_object_stream[Any](0)

    async def pass_on() -> None:
        async with sending:
            async for message in incoming:
                await sending.send(message)
            raise EndedError("it has ended the connection")

    async with incoming, reading, anyio.create_task_group() as group:
        group.start_soon(pass_on)
        yield reading
        group.cancel_scope.cancel()


@contextlib.asynccontextmanager
async def _stdio(server: Stdio, words: LastWords) -> AsyncIterator[Any]:
    from mcp import StdioServerParameters
    from mcp.client.stdio import stdio_client

    parameters = StdioServerParameters(
        command=server.command, args=list(server.args), env=dict(server.env) or None, cwd=server.cwd
    )
    with words.listening() as errors:
        async with stdio_client(parameters, errors) as streams:
            errors.close()  # the process has its own; ours would keep the pipe from ending with it
            yield streams


@contextlib.asynccontextmanager
async def _http(server: Server) -> AsyncIterator[Any]:
    import httpx
    from mcp.client.streamable_http import streamable_http_client

    assert isinstance(server, Http)
    # How long a call may take is `call_timeout`; an answer that comes as a stream may be silent until then.
    # A redirect is not followed: it could carry the headers to another host.
    limits = httpx.Timeout(_CONNECT_SECONDS, read=None)
    async with (
        httpx.AsyncClient(headers=dict(server.headers), timeout=limits, follow_redirects=False) as client,
        streamable_http_client(server.url, http_client=client) as (reading, writing, _),
    ):
        yield reading, writing
