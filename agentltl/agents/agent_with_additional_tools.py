"""`AgentWithAdditionalTools`: an agent that also has the tools of MCP servers, and ends the connections to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from smolagents.models import Model
from smolagents.tools import Tool

from agentltl.agents.agent import Agent
from agentltl.agents.mcp.servers import McpServers
from agentltl.agents.settings import AgentSettings, takes_settings_of
from agentltl.errors import ConstraintError
from agentltl.record.closing import Closing


@takes_settings_of(Agent)
class AgentWithAdditionalTools(Closing, Agent):
    """An agent that has the tools of MCP servers beside its own. Use it in a `with` block, which ends the connections.

    `mcp_servers` is what `McpServers` takes: a mapping from names to `{"command", "args", "env", "cwd"}` or
    `{"url", "headers"}`. It needs the extra `mcp`. Tools keep their names; where two are the same, those of servers are
    called `server__tool`. The attribute `mcp_servers` holds the connections.
    The connections end also with `close()`, when the agent is not used any more, and when the interpreter ends.
    All other parameters are those of `Agent`.
    """

    mcp_servers: McpServers

    def __init__(
        self,
        tools: Sequence[Tool] | None = None,
        model: str | Model | None = None,
        *,
        mcp_servers: Mapping[str, Mapping[str, Any]] | None = None,
        **settings: Unpack[AgentSettings],
    ) -> None:
        self.mcp_servers = McpServers({})
        self._wanted: Mapping[str, Mapping[str, Any]] = mcp_servers if mcp_servers is not None else {}
        try:
            super().__init__(tools, model, **settings)
        except BaseException:
            self.close()
            raise
        finally:
            del self._wanted  # it may hold secrets

    def close(self) -> None:
        """End the connections to the servers. A second time does nothing."""
        self.mcp_servers.close()

    def _require_usable(self) -> None:
        if self.mcp_servers.tools and self.mcp_servers.closed:
            raise ConstraintError("the connections to the MCP servers have been closed\nmake a new agent")

    def _all_tools(self, given: list[Tool]) -> list[Tool]:
        self.mcp_servers = McpServers(self._wanted, [tool.name for tool in given])
        return [*given, *self.mcp_servers.tools]
