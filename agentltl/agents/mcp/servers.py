"""Several MCP servers, connected at once, and their tools."""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import logging
import weakref
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from agentltl.agents.mcp.connection import Connection
from agentltl.agents.mcp.errors import McpServerError
from agentltl.agents.mcp.loop import Loop, LoopEndedError
from agentltl.agents.mcp.names import Offer, names_for, require_meant
from agentltl.agents.mcp.settings import read_servers
from agentltl.agents.mcp.tool import McpTool
from agentltl.agents.mcp.transport import require_sdk
from agentltl.constraints.constraint import Constraint
from agentltl.guard.approvals import APPROVED
from agentltl.guard.ending import FINAL_ANSWER
from agentltl.record.closing import Closing

if TYPE_CHECKING:
    from mcp.types import CallToolResult, Tool

log = logging.getLogger("agentltl")

RESERVED = (FINAL_ANSWER, APPROVED)
"""A tool that every agent has, and an event whose name no tool can have."""


class McpServers(Closing):
    """Connections to MCP servers, and `tools`, which any agent of smolagents can have.

    `servers` is a mapping from names to settings: `{"command", "args", "env", "cwd"}` for a process,
    `{"url", "headers"}` for streamable HTTP; both may have `start_timeout` (30) and `call_timeout` (300), in seconds.
    A tool keeps the name that its server gives it; where two servers, or a server and `taken`, have the same, those of
    servers are called `server__tool`.

    A server that cannot be reached is logged and in `errors`, and the others go on; when none can be reached
    `McpServerError` is raised. A call of a server that has gone away raises `McpServerError`, too.
    The connections end with `close()`, at the end of a `with` block, when nothing uses the tools any more, and when the
    interpreter ends.
    """

    def __init__(self, servers: Mapping[str, Mapping[str, Any]], taken: Iterable[str] = ()) -> None:
        settings = read_servers(servers)
        self.closed = False
        self.tools: list[McpTool] = []
        self._names: dict[Offer, str] = {}
        self._live: _Live | None = None
        if not settings:
            return
        require_sdk()
        self._live = _Live([Connection(server) for server in settings])
        weakref.finalize(self, self._live.close, wait=False).atexit = False
        try:
            self._offer(self._live.open(), {*taken, *RESERVED})
        except BaseException:
            self.close()
            raise

    @property
    def errors(self) -> dict[str, McpServerError]:
        """Why servers cannot be used now, by their names."""
        connections = () if self._live is None else self._live.connections.values()
        return {connection.server.name: error for connection in connections if (error := connection.error) is not None}

    def require_meant(self, constraints: Iterable[Constraint], known: Collection[str]) -> None:
        """Raises `ConstraintError` for a rule that names a tool by a name which it does not have now."""
        require_meant(constraints, self._names, known)

    def close(self) -> None:
        """End all connections. Calls that are running fail."""
        self.closed = True
        if self._live is not None:
            self._live.close()

    def _offer(self, found: dict[str, list[Tool] | McpServerError], taken: set[str]) -> None:
        """Make the tools of those servers that could be reached."""
        failed = [error for error in found.values() if isinstance(error, McpServerError)]
        if len(failed) == len(found):
            raise (
                failed[0]
                if len(failed) == 1
                else McpServerError(", ".join(found), "cannot be reached, and no other", "\n".join(map(str, failed)))
            )
        offered: dict[Offer, Tool] = {}
        for server, tools in found.items():
            for tool in () if isinstance(tools, McpServerError) else tools:
                if (server, tool.name) in offered:
                    log.warning("the MCP server `%s` offers `%s` twice, the first is taken", server, tool.name)
                offered.setdefault((server, tool.name), tool)
        self._names = names_for(list(offered), taken)
        for offer, name in self._names.items():
            if name != offer[1]:
                log.warning("`%s` of the MCP server `%s` is called `%s`: there is another", offer[1], offer[0], name)
            self.tools.append(McpTool(offer[0], offered[offer], name, self._call))

    def _call(self, server: str, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        # A method, so that a tool keeps this object, and with it the connection, alive.
        assert self._live is not None
        return self._live.call(server, tool, arguments)


class _Live:
    """The loop and the connections in it: what goes on living while nobody looks, and so must not hold `McpServers`."""

    def __init__(self, connections: Iterable[Connection]) -> None:
        self.connections = {connection.server.name: connection for connection in connections}
        self._loop = Loop("mcp-servers")
        atexit.register(self.close)

    def open(self) -> dict[str, list[Tool] | McpServerError]:
        """Connect to all servers at once."""

        async def opened() -> list[list[Tool] | McpServerError | BaseException]:
            return list(await asyncio.gather(*(c.open() for c in self.connections.values()), return_exceptions=True))

        found: dict[str, list[Tool] | McpServerError] = {}
        for name, tools in zip(self.connections, self._loop.run(opened()), strict=True):
            if isinstance(tools, BaseException) and not isinstance(tools, McpServerError):
                raise tools
            found[name] = tools
        return found

    def call(self, server: str, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        connection = self.connections[server]
        try:
            return self._loop.run(connection.call(tool, arguments))
        except (LoopEndedError, concurrent.futures.CancelledError):
            if connection.error is None:
                raise
        raise connection.error.again()

    def close(self, *, wait: bool = True) -> None:
        async def closed() -> None:
            await asyncio.gather(*(connection.close() for connection in self.connections.values()))

        self._loop.end(closed(), wait=wait)
        atexit.unregister(self.close)
