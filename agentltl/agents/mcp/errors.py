"""What goes wrong with an MCP server: it cannot be reached or has gone away, or one of its tools has failed."""

from __future__ import annotations

from agentltl.errors import AgentLTLError


class McpServerError(AgentLTLError):
    """An MCP server that cannot be reached, has gone away or does not answer; `server` is its name."""

    def __init__(self, server: str, problem: str, hint: str = "") -> None:
        super().__init__("\n".join(filter(None, (f"the MCP server `{server}` {problem}", hint))))
        self.server, self._problem, self._hint = server, problem, hint

    def again(self) -> McpServerError:
        """The same error to be raised once more."""
        return McpServerError(self.server, self._problem, self._hint)


class McpToolError(AgentLTLError):
    """A tool of an MCP server has answered with an error, whose text this is."""
